package esquery

import "slices"

// Highlight asks for marked fragments by the unified highlighter, over a query
// of its own (the plain highlighter fails on script_score):
//
//	{"type": "unified", "highlight_query": {"match": …}, "encoder": "html",
//	 "fragment_size": 120, "number_of_fragments": 5, "fields": {"text": {}}}
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/highlighting.html
type Highlight struct {
	Fields       []string
	Query        Query
	FragmentSize int
	Fragments    int
	PreTag       string
	PostTag      string
	NoEscape     bool // leave HTML in the text as it is
	AnyField     bool // highlight fields that the query does not name
}

func (h *Highlight) write(w *writer) {
	w.member("highlight").begin()
	w.text("type", "unified")
	w.optQuery("highlight_query", h.Query)
	if !h.NoEscape {
		w.text("encoder", "html")
	}
	w.optInt("fragment_size", h.FragmentSize)
	w.optInt("number_of_fragments", h.Fragments)
	if h.PreTag != "" || h.PostTag != "" {
		w.texts("pre_tags", []string{h.PreTag})
		w.texts("post_tags", []string{h.PostTag})
	}
	if h.AnyField {
		w.bool("require_field_match", false)
	}
	w.member("fields").begin()
	for _, field := range slices.Compact(slices.Sorted(slices.Values(h.Fields))) {
		w.member(field).begin()
		w.end()
	}
	w.end()
	w.end()
}
