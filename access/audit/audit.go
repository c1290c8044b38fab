// Package audit reads the log of who did what, which the gateway writes as JSON lines: backwards from its end, a
// bounded part of the file at a time.
package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/fault"
)

// Outcomes are the values of Record.Outcome.
var Outcomes = []string{"done", "refused", "failed"}

// Record is a line of the log: a request that needed a key, or that was refused for lack of one.
type Record struct {
	Time    time.Time `json:"time"`
	Key     string    `json:"key,omitempty" doc:"Name of the key; absent: none was needed, or it was none."`
	Tenant  string    `json:"-"`
	Remote  string    `json:"remote" doc:"Address that it came from."`
	Method  string    `json:"method"`
	Route   string    `json:"route" doc:"Its path with {names}."`
	Path    string    `json:"path"`
	Base    string    `json:"knowledge_base,omitempty" doc:"That the path names; requests that name some in their body are logged without."`
	Outcome string    `json:"outcome" enum:"done,refused,failed"`
	Status  int       `json:"status" doc:"HTTP status of the answer."`
	Request string    `json:"request_id"`
}

// line is a record in the file.
type line struct {
	Record
	Message string `json:"msg"`
	Tenant  string `json:"tenant"`
}

// Query selects records; an empty field selects all.
type Query struct {
	Key     string // its name
	Action  string // part of method and route, as "DELETE /v1/keys", without regard to case
	Base    string // that the path names
	Outcome string // one of Outcomes
	From    time.Time
	Until   time.Time
	Only    func(method, route string) bool // a further condition on requests; nil: none
	Before  int64                           // only records before this byte of the file; below 0: from the end
	Limit   int                             // records at most
}

// Page is the result of a query, newest first.
type Page struct {
	Records []Record
	// Before continues; 0: there is nothing before. A page that is not full may have one: the part of the file
	// that is read for one page is bounded.
	Before int64
}

const (
	blockBytes = 256 << 10 // read at once; a longer line is no record
	pageBytes  = 16 << 20  // read for one page
)

// File is a log. It is safe for concurrent use, also while it is written.
type File struct {
	Path string
	// Nobody is the tenant of requests without one: those of a gateway without keys, and those that were refused
	// for lack of a key.
	Nobody string
}

// Read gives the records of the scope's tenant, without those that name a knowledge base which it may not see.
// fault.InvalidArgument for a place that is not in the file, as after it was begun anew.
func (f *File) Read(ctx context.Context, scope access.Scope, q Query) (*Page, error) {
	file, err := os.Open(filepath.Clean(f.Path))
	if errors.Is(err, os.ErrNotExist) {
		return &Page{Records: []Record{}}, nil // moved away, until the next start
	}
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "the audit log cannot be read")
	}
	defer file.Close() //nolint:errcheck // it was read
	info, err := file.Stat()
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "the audit log cannot be read")
	}
	if q.Before < 0 {
		q.Before = info.Size()
	}
	if q.Before > info.Size() {
		return nil, fault.Invalid("after", q.Before, "the next of the page before; the log was begun anew")
	}
	r := reader{file: file, log: f, scope: scope, query: &q, page: Page{Records: []Record{}, Before: q.Before}}
	for first := q.Before - pageBytes; !r.full && r.page.Before > max(first, 0); {
		if err := ctx.Err(); err != nil {
			return nil, fault.Wrap(fault.Canceled, err, "reading the audit log was canceled")
		}
		if err := r.block(); err != nil {
			return nil, fault.Wrap(fault.Unavailable, err, "the audit log cannot be read")
		}
	}
	return &r.page, nil
}

// reader is the state of one Read.
type reader struct {
	file  *os.File
	log   *File
	scope access.Scope
	query *Query
	page  Page
	full  bool
}

// block reads the lines of the part before page.Before, the last first.
func (r *reader) block() error {
	from := max(r.page.Before-blockBytes, 0)
	block := make([]byte, r.page.Before-from)
	if _, err := r.file.ReadAt(block, from); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	for !r.full && len(block) > 0 {
		text := bytes.TrimSuffix(block, []byte("\n"))
		start := bytes.LastIndexByte(text, '\n') + 1
		if start == 0 && from > 0 { // its beginning is in the part before
			if len(block) == blockBytes {
				r.page.Before = from
			}
			return nil
		}
		r.line(text[start:])
		block = block[:start]
		r.page.Before = from + int64(start)
	}
	return nil
}

// line takes a line, or not; invalid records are skipped.
func (r *reader) line(text []byte) {
	var l line
	if json.Unmarshal(text, &l) != nil || l.Message != "audit" {
		return
	}
	record := l.Record
	if record.Tenant = l.Tenant; record.Tenant == "" {
		record.Tenant = r.log.Nobody
	}
	record.Base = baseOf(record.Route, record.Path)
	if !r.query.From.IsZero() && record.Time.Before(r.query.From) {
		r.full, r.page.Before = true, 0
		return
	}
	if !r.wants(&record) {
		return
	}
	r.page.Records = append(r.page.Records, record)
	r.full = len(r.page.Records) == r.query.Limit
}

func (r *reader) wants(record *Record) bool {
	q := r.query
	action := strings.ToLower(record.Method + " " + record.Route)
	return record.Tenant == r.scope.Tenant &&
		(record.Base == "" || r.scope.Allows(record.Base)) &&
		(q.Key == "" || q.Key == record.Key) &&
		(q.Base == "" || q.Base == record.Base) &&
		(q.Outcome == "" || q.Outcome == record.Outcome) &&
		(q.Only == nil || q.Only(record.Method, record.Route)) &&
		(q.Until.IsZero() || !record.Time.After(q.Until)) &&
		strings.Contains(action, strings.ToLower(strings.TrimSpace(q.Action)))
}

// baseOf is the knowledge base that a path names where its route has {kb}.
func baseOf(route, path string) string {
	names, parts := strings.Split(route, "/"), strings.Split(path, "/")
	for i, name := range names {
		if name == "{kb}" && i < len(parts) {
			if id, err := url.PathUnescape(parts[i]); err == nil {
				return id
			}
		}
	}
	return ""
}
