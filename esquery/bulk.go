package esquery

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// BulkIndex is the two lines of a _bulk that add or replace a document:
//
//	{"index": {"_index": "manuals", "_id": "c1", "routing": "r"}}
//	{"id": "c1", …}
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/docs-bulk.html
type BulkIndex struct {
	BulkTarget
	Document any  // marshals to one JSON object
	Create   bool // it fails (409) where there is such a document
}

// BulkDelete is the line of a _bulk that removes a document:
//
//	{"delete": {"_index": "manuals", "_id": "c1"}}
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/docs-bulk.html
type BulkDelete struct{ BulkTarget }

// BulkTarget names the document of a bulk operation.
type BulkTarget struct {
	Index   string
	ID      string
	Routing string
	// Version with VersionType External makes the operation fail (409) unless it
	// is above the document's.
	Version     int64
	VersionType string
	// Unchanged, if not nil, makes the operation fail (409) unless the document still has this
	// sequence number and primary term.
	Unchanged *[2]int64
}

// External is the type of versions that the writer chooses.
const External = "external"

// NDJSON gives the operation's lines, each ended by a newline.
func (b BulkIndex) NDJSON() ([]byte, error) {
	document, err := json.Marshal(b.Document, documentStyle)
	if err != nil {
		return nil, err
	}
	operation := "index"
	if b.Create {
		operation = "create"
	}
	return append(append(b.line(operation), document...), '\n'), nil
}

// documentStyle writes documents as clauses are written. It saves looking for duplicate
// names, which no document has.
var documentStyle = json.JoinOptions(
	json.Deterministic(true), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true),
)

// NDJSON gives the operation's line, ended by a newline.
func (b BulkDelete) NDJSON() ([]byte, error) { return b.line("delete"), nil }

// line is the operation on the document.
func (t *BulkTarget) line(operation string) []byte {
	w := &writer{}
	w.begin(operation)
	w.text("_index", t.Index)
	w.text("_id", t.ID)
	w.optText("routing", t.Routing)
	if t.Version != 0 {
		w.member("version").integer(t.Version)
	}
	w.optText("version_type", t.VersionType)
	if t.Unchanged != nil {
		w.member("if_seq_no").integer(t.Unchanged[0])
		w.member("if_primary_term").integer(t.Unchanged[1])
	}
	w.end()
	w.endLine()
	return w.buf
}
