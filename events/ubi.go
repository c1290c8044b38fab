// Package events keeps what users asked and what they did with the answers, in the schema of User Behavior Insights 1.3
// (https://github.com/o19s/ubi): searches are its ubi_queries, clicks and the like its ubi_events.
package events

import (
	stdjson "encoding/json"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/search"
)

// The actions that reports know; others are kept and counted.
const (
	ActionImpression = "impression"
	ActionClick      = "click"
	ActionDwell      = "dwell"
	ActionConversion = "conversion"
)

// Query is one search that was answered, or failed.
type Query struct {
	Timestamp   time.Time       `json:"timestamp"`
	Application string          `json:"application,omitempty"`
	QueryID     string          `json:"query_id"`
	ResponseID  string          `json:"query_response_id,omitempty"`
	HitIDs      []string        `json:"query_response_hit_ids" nullable:"false" doc:"Of the hits that were sent, best first, each as HitID has it."`
	ClientID    string          `json:"client_id,omitempty"`
	UserQuery   string          `json:"user_query,omitempty" doc:"The text of the question, unless it is kept hashed or not at all."`
	Attributes  QueryAttributes `json:"query_attributes"`
}

// QueryAttributes are the attributes that UBI leaves to the search engine.
type QueryAttributes struct {
	SessionID      string   `json:"session_id,omitempty"`
	TextHash       string   `json:"text_hash,omitempty" doc:"Keyed hash of the question: equal for equal questions of a tenant."`
	KnowledgeBases []string `json:"knowledge_bases" nullable:"false"`
	Preset         string   `json:"preset,omitempty"`
	Engine         string   `json:"engine,omitempty"`
	Offset         int      `json:"offset,omitempty" doc:"Of the first hit that was sent, within the answer."`
	TookMS         float64  `json:"took_ms"`
	Cached         bool     `json:"cached,omitempty"`
	// Timings lists the duration of each step; nil if the answer was cached or failed.
	Timings *search.Timings `json:"timings_ms,omitempty"`
	// Empty is why there was no hit, as search.Response.Empty.
	Empty       string          `json:"empty,omitempty"`
	Error       fault.Kind      `json:"error,omitempty"`
	Degraded    []string        `json:"degraded,omitempty" doc:"Legs that took no part."`
	Experiments []Participation `json:"experiments,omitempty"`
	// Request is the caller's request without the question.
	Request stdjson.RawMessage `json:"request,omitempty"`
}

// Participation is the part of a search in an experiment.
type Participation struct {
	Experiment string `json:"experiment"`
	Variant    string `json:"variant,omitempty" doc:"Left out where both are in one list."`
	// Unit is the key that the variant was assigned by.
	Unit string `json:"unit"`
	// Teams say whose each hit of HitIDs is where lists are interleaved: 0 nobody's, 1 the first variant's, 2 the
	// second's.
	Teams []int8 `json:"teams,omitempty"`
}

// Event is one action of a user.
type Event struct {
	Timestamp   time.Time       `json:"timestamp"`
	Application string          `json:"application,omitempty"`
	EventID     string          `json:"event_id" doc:"1 to 128 bytes; makes a repeated event count once."`
	QueryID     string          `json:"query_id"`
	ClientID    string          `json:"client_id,omitempty"`
	ActionName  string          `json:"action_name"`
	MessageType string          `json:"message_type,omitempty"`
	Message     string          `json:"message,omitempty"`
	UserQuery   string          `json:"user_query,omitempty"`
	Attributes  EventAttributes `json:"event_attributes"`
}

// EventAttributes say what was acted on.
type EventAttributes struct {
	SessionID string    `json:"session_id,omitempty"`
	Object    *Object   `json:"object,omitempty"`
	Position  *Position `json:"position,omitempty"`
	DwellMS   *float64  `json:"dwell_ms,omitempty" minimum:"0" doc:"How long the object was looked at, in milliseconds."`
	// Other are attributes of other names, which User Behavior Insights leaves to programs.
	Other map[string]jsontext.Value `json:",embed" hidden:"true"`

	_ struct{} `additionalProperties:"true"`
}

// attributes are EventAttributes without their own way to JSON.
type attributes EventAttributes

// MarshalJSON implements json.Marshaler: Other are members beside the others.
func (a EventAttributes) MarshalJSON() ([]byte, error) { return json.Marshal(attributes(a)) }

// UnmarshalJSON implements json.Unmarshaler.
func (a *EventAttributes) UnmarshalJSON(text []byte) error {
	return json.Unmarshal(text, (*attributes)(a))
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom, by which errors know their place in the whole text.
func (a *EventAttributes) UnmarshalJSONFrom(from *jsontext.Decoder) error {
	return json.UnmarshalDecode(from, (*attributes)(a))
}

// Object is a hit that was acted on.
type Object struct {
	ObjectID      string             `json:"object_id" doc:"Id of the hit; with object_id_field left out, as query_response_hit_ids has it."`
	ObjectIDField string             `json:"object_id_field,omitempty"`
	Name          string             `json:"name,omitempty"`
	Description   string             `json:"description,omitempty"`
	ObjectDetail  stdjson.RawMessage `json:"object_detail,omitempty"`
}

// Position is where the object stood.
type Position struct {
	Ordinal     int    `json:"ordinal" minimum:"1" doc:"Rank of the hit in the answer, from 1."`
	XY          *Point `json:"xy,omitempty" doc:"On the page."`
	PageDepth   string `json:"page_depth,omitempty"`
	ScrollDepth string `json:"scroll_depth,omitempty"`
	Trail       string `json:"trail,omitempty" doc:"How the user came there."`
}

// Point is a place on a page, in pixels.
type Point struct {
	X float64 `json:"x" minimum:"-1e9" maximum:"1e9"`
	Y float64 `json:"y" minimum:"-1e9" maximum:"1e9"`
}

// HitID names a hit in the log: ids of chunks are unique within a knowledge base alone.
func HitID(knowledgeBase, chunk string) string { return knowledgeBase + "/" + chunk }

// Entry is a search with all that is known of what users did with its answer, in the order of the events' ids. Events
// of a search that is not in the log are an entry without a query: orphans.
type Entry struct {
	QueryID string
	Query   *Query
	Events  []Event
	// MoreEvents are beyond the first 10,000, which nobody has on one search, and are left out.
	MoreEvents int
}

// Refused reports whether there were hits, and thresholds left none.
func (q *Query) Refused() bool {
	return q.Attributes.Empty == "nothing_relevant" || q.Attributes.Empty == "threshold"
}
