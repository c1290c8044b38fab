package esquery

import (
	"bytes"

	"github.com/go-json-experiment/json"
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
	Routing string `json:"routing,omitzero"`
	// Version with VersionType "external" makes the operation fail (409) unless it
	// is above the document's.
	Version     int64  `json:"version,omitzero"`
	VersionType string `json:"version_type,omitzero"`
}

// NDJSON gives the operation's lines, each ended by a newline.
func (b BulkIndex) NDJSON() ([]byte, error) {
	return lines(named[BulkTarget]{"index": b.BulkTarget}, b.Document)
}

// NDJSON gives the operation's line, ended by a newline.
func (b BulkDelete) NDJSON() ([]byte, error) {
	return lines(named[BulkTarget]{"delete": b.BulkTarget})
}

// lines gives each value on a line of its own.
func lines(values ...any) ([]byte, error) {
	var all bytes.Buffer
	for _, v := range values {
		if err := json.MarshalWrite(&all, v, style); err != nil {
			return nil, err
		}
		all.WriteByte('\n')
	}
	return all.Bytes(), nil
}
