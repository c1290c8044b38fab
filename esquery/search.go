package esquery

import (
	"strconv"
	"time"
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
	WholeSource    bool     // return all of _source
	DocValueFields []string
	// NoStored leaves out everything that is stored, _id too: reading it
	// unpacks the whole document, vectors included, for each hit (1,024 hits of
	// 384 dimensions: 58 ms with _id, 12 ms without).
	NoStored   bool
	Versions   bool // each hit's _version and _seq_no
	TrackTotal bool
	Timeout    time.Duration
	Aggs       Aggregations
	Highlight  *Highlight
}

func (s Search) writeBody(w *writer) {
	w.begin()
	w.optQuery("query", s.Query)
	if s.KNN != nil {
		s.KNN.write(w)
	}
	w.int("size", s.Size)
	w.optSorts(s.Sort)
	if len(s.SearchAfter) > 0 {
		w.anys("search_after", s.SearchAfter)
	}
	s.writeReturned(w)
	w.bool("track_total_hits", s.TrackTotal)
	if s.Timeout > 0 {
		var room [24]byte
		w.text("timeout", string(appendMillis(room[:0], s.Timeout)))
	}
	w.optAggs(s.Aggs)
	if s.Highlight != nil {
		s.Highlight.write(w)
	}
	w.end()
}

// writeReturned writes what comes back with each hit.
func (s *Search) writeReturned(w *writer) {
	if len(s.Source) > 0 {
		w.texts("_source", s.Source)
	} else {
		w.bool("_source", s.WholeSource)
	}
	if s.NoStored {
		w.text("stored_fields", "_none_")
	}
	w.optTexts("docvalue_fields", s.DocValueFields)
	if s.Versions {
		w.bool("version", true)
		w.bool("seq_no_primary_term", true)
	}
}

// Millis is a duration as Elasticsearch writes it, at least "1ms"; empty for 0.
func Millis(d time.Duration) string {
	if d <= 0 {
		return ""
	}
	return string(appendMillis(nil, d))
}

func appendMillis(to []byte, d time.Duration) []byte {
	return append(strconv.AppendInt(to, max(1, d.Milliseconds()), 10), "ms"...)
}
