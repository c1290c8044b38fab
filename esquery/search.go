package esquery

import (
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Search is the body of a _search:
//
//	{"query": …, "size": 10, "sort": […], "_source": false, "docvalue_fields": ["id"],
//	 "track_total_hits": false, "timeout": "2000ms"}
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/search-search.html
type Search struct {
	Query          Query
	KNN            *KNN // beside or instead of Query: their scores add up
	Size           int
	Sort           []Sort
	SearchAfter    []any    // the sort values of the last hit before, string or number
	Source         []string // members of _source to return; none of them when empty
	DocValueFields []string
	// NoStored leaves out everything that is stored, _id too: reading it
	// unpacks the whole document, vectors included, for each hit (1,024 hits of
	// 384 dimensions: 58 ms with _id, 12 ms without).
	NoStored   bool
	TrackTotal bool
	Timeout    time.Duration
	Aggs       Aggregations
	Highlight  *Highlight
}

// MarshalJSONTo implements json.MarshalerTo.
func (s Search) MarshalJSONTo(enc *jsontext.Encoder) error {
	var neighbours *knnBody
	if s.KNN != nil {
		neighbours = new(s.KNN.body())
	}
	stored := ""
	if s.NoStored {
		stored = "_none_"
	}
	return json.MarshalEncode(enc, struct {
		Query          Query        `json:"query,omitzero"`
		KNN            *knnBody     `json:"knn,omitempty"`
		Size           int          `json:"size"`
		Sort           []Sort       `json:"sort,omitempty"`
		SearchAfter    []any        `json:"search_after,omitempty"`
		Source         sourceFilter `json:"_source"`
		StoredFields   string       `json:"stored_fields,omitzero"`
		DocValueFields []string     `json:"docvalue_fields,omitempty"`
		TrackTotal     bool         `json:"track_total_hits"`
		Timeout        string       `json:"timeout,omitzero"`
		Aggs           Aggregations `json:"aggs,omitempty"`
		Highlight      *Highlight   `json:"highlight,omitempty"`
	}{
		s.Query, neighbours, s.Size, s.Sort, s.SearchAfter, s.Source, stored, s.DocValueFields,
		s.TrackTotal, Millis(s.Timeout), s.Aggs, s.Highlight,
	})
}

// sourceFilter is false when it names nothing.
type sourceFilter []string

// MarshalJSONTo implements json.MarshalerTo.
func (f sourceFilter) MarshalJSONTo(enc *jsontext.Encoder) error {
	if len(f) == 0 {
		return enc.WriteToken(jsontext.False)
	}
	return json.MarshalEncode(enc, []string(f))
}

// Millis is a duration as Elasticsearch writes it, at least "1ms"; empty for 0.
func Millis(d time.Duration) string {
	if d <= 0 {
		return ""
	}
	return strconv.FormatInt(max(1, d.Milliseconds()), 10) + "ms"
}
