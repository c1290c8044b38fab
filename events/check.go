package events

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/search"
)

// Limits of events; over them a batch is refused as a whole.
const (
	MaxBatch      = 1000    // events
	MaxBatchBytes = 1 << 20 // of a batch as JSON

	maxID          = 128 // bytes, of a query and of an event
	maxName        = 256 // of clients, sessions, applications, types and fields
	maxAction      = 64
	maxObject      = 1024 // of an id of a hit, or what it is called
	maxText        = 4 << 10
	maxDetail      = 16 << 10
	maxOrdinal     = math.MaxInt32
	maxDwell       = 24 * 60 * 60 * 1000 // ms
	clockSkew      = 5 * time.Minute     // by how much a clock of others may be fast
	maxEntryEvents = 10_000              // of one query that are read
)

// span are the times that events may have.
type span struct{ oldest, latest time.Time }

// check refuses what no log takes; fields are named as in an API's body, as events[3].timestamp.
func (e *Event) check(at string, during span) error {
	texts := []struct {
		field, value string
		least, most  int
		printable    bool
	}{
		{"event_id", e.EventID, 1, maxID, true},
		{"query_id", e.QueryID, 1, maxID, true},
		{"action_name", e.ActionName, 1, maxAction, true},
		{"client_id", e.ClientID, 0, maxName, true},
		{"application", e.Application, 0, maxName, true},
		{"message_type", e.MessageType, 0, maxName, true},
		{"message", e.Message, 0, maxText, false},
		{"user_query", e.UserQuery, 0, search.MaxQueryBytes, false},
		{"event_attributes.session_id", e.Attributes.SessionID, 0, maxName, true},
	}
	for _, t := range texts {
		if err := checkText(at+t.field, t.value, t.least, t.most, t.printable); err != nil {
			return err
		}
	}
	if t := e.Timestamp; t.IsZero() || t.Before(during.oldest) || t.After(during.latest) {
		return fault.Invalid(at+"timestamp", t.UTC().Format(time.RFC3339),
			fmt.Sprintf("from %s, before which nothing is kept, to %s, a little after now",
				during.oldest.UTC().Format(time.RFC3339), during.latest.UTC().Format(time.RFC3339)))
	}
	return e.Attributes.check(at + "event_attributes.")
}

func (a *EventAttributes) check(at string) error {
	if d := a.DwellMS; d != nil && (*d < 0 || *d > maxDwell) {
		return fault.Invalid(at+"dwell_ms", *d, fmt.Sprintf("0 to %d", maxDwell))
	}
	if p := a.Position; p != nil && (p.Ordinal < 1 || p.Ordinal > maxOrdinal) {
		return fault.Invalid(at+"position.ordinal", p.Ordinal, "a whole number from 1, the rank of the first hit")
	}
	if err := a.checkOther(at); err != nil {
		return err
	}
	if a.Object == nil {
		return nil
	}
	at += "object."
	for _, t := range []struct {
		field, value string
		least, most  int
	}{
		{"object_id", a.Object.ObjectID, 1, maxObject},
		{"object_id_field", a.Object.ObjectIDField, 0, maxName},
		{"name", a.Object.Name, 0, maxObject},
		{"description", a.Object.Description, 0, maxText},
	} {
		if err := checkText(at+t.field, t.value, t.least, t.most, false); err != nil {
			return err
		}
	}
	if detail := a.Object.ObjectDetail; len(detail) > maxDetail || len(detail) > 0 && !json.Valid(detail) {
		return fault.Invalid(at+"object_detail", fmt.Sprintf("%d bytes", len(detail)),
			fmt.Sprintf("a JSON value of at most %d bytes", maxDetail))
	}
	return nil
}

// checkOther refuses attributes that are too much; that they are JSON is known.
func (a *EventAttributes) checkOther(at string) error {
	texts := map[string]string{}
	if p := a.Position; p != nil {
		texts = map[string]string{
			"position.page_depth": p.PageDepth, "position.scroll_depth": p.ScrollDepth, "position.trail": p.Trail,
		}
	}
	for _, field := range slices.Sorted(maps.Keys(texts)) {
		if err := checkText(at+field, texts[field], 0, maxName, false); err != nil {
			return err
		}
	}
	bytes := 0
	for name, value := range a.Other {
		bytes += len(name) + len(value)
	}
	if bytes > maxDetail {
		return fault.Invalid(strings.TrimSuffix(at, "."), fmt.Sprintf("%d bytes", bytes),
			fmt.Sprintf("at most %d bytes of attributes that have no meaning here", maxDetail))
	}
	return nil
}

// checkText refuses a text that is too short, too long or no text; printable ones have no control characters.
func checkText(field, value string, least, most int, printable bool) error {
	if len(value) >= least && len(value) <= most && utf8.ValidString(value) &&
		(!printable || !strings.ContainsFunc(value, unicode.IsControl)) {
		return nil
	}
	accepted := fmt.Sprintf("%d to %d bytes of UTF-8", least, most)
	if printable {
		accepted = fmt.Sprintf("%d to %d bytes of UTF-8 without control characters", least, most)
	}
	return fault.Invalid(field, strings.ToValidUTF8(value, "\uFFFD"), accepted)
}
