package events

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/search"
)

// TextRule says how the text of questions is stored.
type TextRule string

// The rules.
const (
	Keep TextRule = "keep"
	Hash TextRule = "hash" // a keyed hash, by which equal questions are known
	Drop TextRule = "drop"
)

func (r TextRule) check() error {
	if !slices.Contains([]TextRule{Keep, Hash, Drop}, r) {
		return fault.Invalid("events.text", string(r), "keep, hash or drop")
	}
	return nil
}

// Search is one as it was asked and answered.
type Search struct {
	Tenant              string
	ClientID, SessionID string
	Request             search.Request
	Response            *search.Response // nil where it failed
	Err                 error
	Started             time.Time
	Took                time.Duration
	Experiments         []Participation
}

// Limits of what is kept of a search.
const (
	maxLoggedHits    = 1000
	maxLoggedRequest = 16 << 10 // bytes
)

// Query makes what is kept of a search, by the rule about texts. A search that failed gets an id of its own.
func (l *Log) Query(s *Search) *Query {
	req := &s.Request
	q := &Query{
		Timestamp: s.Started.UTC(), Application: l.options.Application, HitIDs: []string{},
		ClientID: cut(s.ClientID, maxName),
		Attributes: QueryAttributes{
			SessionID: cut(s.SessionID, maxName), Preset: cut(req.Preset, maxName), Engine: cut(req.Engine, maxName),
			KnowledgeBases: slices.Clone(req.KnowledgeBases[:min(len(req.KnowledgeBases), search.MaxKnowledgeBases)]),
			TookMS:         float64(s.Took.Nanoseconds()) / 1e6, Experiments: s.Experiments, Request: l.asked(req),
		},
	}
	for i, kb := range q.Attributes.KnowledgeBases {
		q.Attributes.KnowledgeBases[i] = cut(kb, maxName)
	}
	if req.Offset != nil {
		q.Attributes.Offset = *req.Offset
	}
	switch text := cut(req.Query, search.MaxQueryBytes); l.options.Text {
	case Keep:
		q.UserQuery = text
	case Hash:
		q.Attributes.TextHash = l.hash(s.Tenant, text)
	case Drop:
	}
	if s.Response == nil {
		q.QueryID, q.Attributes.Error = search.NewQueryID(), fault.KindOf(s.Err)
		return q
	}
	q.answered(s.Response)
	return q
}

// answered adds what the answer says.
func (q *Query) answered(r *search.Response) {
	q.QueryID, q.ResponseID = r.QueryID, r.QueryID
	a := &q.Attributes
	a.Preset, a.Cached, a.Empty = r.Preset, r.Cached, r.Empty
	if !r.Cached {
		a.Timings = new(r.Timings) // and not the answer with it
	}
	if r.Engine != "" { // an answer that was kept does not tell
		a.Engine = r.Engine
	}
	for _, d := range r.Degraded {
		if !slices.Contains(a.Degraded, d.Leg) {
			a.Degraded = append(a.Degraded, d.Leg)
		}
	}
	for _, hit := range r.HitNames() {
		if len(q.HitIDs) == maxLoggedHits {
			return
		}
		q.HitIDs = append(q.HitIDs, HitID(hit.KnowledgeBase, hit.ID))
	}
}

// asked is the request beside its question and its knowledge bases; nil where it is too much.
func (l *Log) asked(req *search.Request) json.RawMessage {
	type rest struct {
		search.Request

		Query          string    `json:"query,omitempty"`           // it has its own place
		KnowledgeBases []string  `json:"knowledge_bases,omitempty"` // they too
		ClientID       string    `json:"client_id,omitempty"`
		SessionID      string    `json:"session_id,omitempty"`
		Vector         []float32 `json:"vector,omitempty"` // nobody reads it
	}
	other := rest{Request: *req}
	if l.options.Text != Keep {
		other.Queries = nil
	}
	text, err := encode(&other)
	if err != nil || len(text) > maxLoggedRequest || string(text) == "{}" {
		return nil
	}
	return text
}

// hash is the keyed hash of a question, HMAC-SHA-256 by a key of the tenant, in 32 hexadecimal digits.
func (l *Log) hash(tenant, text string) string {
	if text == "" {
		return ""
	}
	mac := func(key []byte, text string) []byte {
		h := hmac.New(sha256.New, key)
		h.Write([]byte(text))
		return h.Sum(nil)
	}
	return hex.EncodeToString(mac(mac(l.secret, tenant), Normalized(text))[:16])
}

// Normalized is a question as reports tell questions apart: without regard to case and white space.
func Normalized(text string) string { return strings.ToLower(strings.Join(strings.Fields(text), " ")) }

// cut shortens a text, at the border of a character.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "")
}
