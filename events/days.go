package events

import (
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/hybridge-search/hybridge/engine"
)

const (
	recordsKind = "events"
	dayLayout   = time.DateOnly
	// ofTenants is the collection that has the names of all tenants with a log. No tenant is called so.
	ofTenants = "_events"

	queryPart, eventPart = "q", "e"
)

func dayOf(t time.Time) string { return t.UTC().Format(dayLayout) }

// startOf is the beginning of the day of a time.
func startOf(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }

func dayRef(tenant, day string) engine.RecordRef {
	return engine.RecordRef{Tenant: tenant, Kind: recordsKind, ID: day}
}

// madeAt is when an id was made, where it is a UUIDv7 (RFC 9562, 5.7), as those of this gateway's answers are.
func madeAt(id string) (t time.Time, ok bool) {
	const length, version = 36, 14 // of the text
	if len(id) != length || id[version] != '7' {
		return t, false
	}
	parsed, err := uuid.Parse(id)
	if err != nil {
		return t, false
	}
	ms := int64(0)
	for _, b := range parsed[:6] {
		ms = ms<<8 | int64(b)
	}
	return time.UnixMilli(ms).UTC(), true
}

// keptUnder is the day under which something of a query is kept: that of the query, as its id tells it, so that a
// query and its events are together, or else that of the thing itself. A time that cannot be that of the query, as it
// is later or its day is over for good, tells nothing.
func keptUnder(queryID string, own, oldest time.Time) string {
	if made, ok := madeAt(queryID); ok && !made.Before(oldest) && !made.After(own.Add(clockSkew)) {
		return dayOf(made)
	}
	return dayOf(own)
}

// keyOf names an item of a day: the query, or what was done with its answer.
func keyOf(queryID, event string) string {
	if event == "" {
		return engine.RecordKey(queryID, queryPart)
	}
	return engine.RecordKey(queryID, eventPart, event)
}

// readKey is the query that an item is of, and whether it is an event.
func readKey(key string) (queryID string, isEvent bool) {
	separator := engine.RecordKey("", "")
	queryID, rest, _ := strings.Cut(key, separator)
	return queryID, strings.HasPrefix(rest, eventPart+separator)
}
