package esquery

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

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

// MarshalJSONTo implements json.MarshalerTo.
func (h Highlight) MarshalJSONTo(enc *jsontext.Encoder) error {
	fields := named[struct{}]{}
	for _, f := range h.Fields {
		fields[f] = struct{}{}
	}
	body := struct {
		Type              string          `json:"type"`
		Query             Query           `json:"highlight_query,omitzero"`
		Encoder           string          `json:"encoder,omitzero"`
		FragmentSize      int             `json:"fragment_size,omitzero"`
		Fragments         int             `json:"number_of_fragments,omitzero"`
		PreTags           []string        `json:"pre_tags,omitempty"`
		PostTags          []string        `json:"post_tags,omitempty"`
		RequireFieldMatch *bool           `json:"require_field_match,omitzero"`
		Fields            named[struct{}] `json:"fields"`
	}{
		Type: "unified", Query: h.Query, FragmentSize: h.FragmentSize, Fragments: h.Fragments, Fields: fields,
	}
	if !h.NoEscape {
		body.Encoder = "html"
	}
	if h.PreTag != "" || h.PostTag != "" {
		body.PreTags, body.PostTags = []string{h.PreTag}, []string{h.PostTag}
	}
	if h.AnyField {
		body.RequireFieldMatch = new(false)
	}
	return json.MarshalEncode(enc, body)
}
