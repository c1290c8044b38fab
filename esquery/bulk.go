package esquery

import (
	"encoding/json"
	"slices"
)

// BulkIndex is the two lines of a _bulk that add or replace a document:
//
//	{"index": {"_index": "manuals", "_id": "c1", "routing": "r"}}
//	{"id": "c1", …}
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/docs-bulk.html
type BulkIndex struct {
	BulkTarget
	Document any // marshals to one JSON object
}

// BulkDelete is the line of a _bulk that removes a document:
//
//	{"delete": {"_index": "manuals", "_id": "c1"}}
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/docs-bulk.html
type BulkDelete struct{ BulkTarget }

// BulkTarget names the document of a bulk operation.
type BulkTarget struct {
	Index   string `json:"_index"`
	ID      string `json:"_id"`
	Routing string `json:"routing,omitempty"`
}

// NDJSON gives the operation's lines, each ended by a newline.
func (b BulkIndex) NDJSON() ([]byte, error) {
	action, err := wrap("index", b.BulkTarget)
	if err != nil {
		return nil, err
	}
	document, err := json.Marshal(b.Document)
	if err != nil {
		return nil, err
	}
	return slices.Concat(action, newline, document, newline), nil
}

var newline = []byte("\n")

// NDJSON gives the operation's line, ended by a newline.
func (b BulkDelete) NDJSON() ([]byte, error) {
	action, err := wrap("delete", b.BulkTarget)
	if err != nil {
		return nil, err
	}
	return append(action, '\n'), nil
}
