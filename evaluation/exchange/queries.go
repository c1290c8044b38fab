package exchange

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"slices"
	"strings"

	"github.com/hybridge-search/hybridge/evaluation/library"
)

// queries collects those of a file.
type queries struct {
	file *File
	kept []Query
	at   map[string]int // in kept, by id
	rows int
	// once: a file of judgments names its queries many times.
	once bool
}

// queryLine is a query of JSON Lines. The id comes before that of library.Query.
type queryLine struct {
	library.Query

	ID       id              `json:"id"`
	Beir     id              `json:"_id"`
	QueryID  id              `json:"query_id"`
	Asked    string          `json:"query"`
	Metadata json.RawMessage `json:"metadata"`
}

func (q *queries) object(line int, object []byte) {
	q.rows++
	var read queryLine
	if !q.file.decode(line, object, &read) {
		return
	}
	read.Query.ID = q.file.firstID(line, read.ID, read.Beir, read.QueryID)
	if read.Text == "" {
		read.Text = read.Asked
	}
	if read.Query.ID == "" {
		q.file.Report.Add(q.file.Name, NoID, line, "%s", short(read.Text))
		return
	}
	q.add(line, read.Query)
}

// rated takes a query of RRE's ratings, which has a text alone.
func (q *queries) rated(r *rated) {
	q.rows++
	q.add(r.line, library.Query{ID: idOf(r.text), Text: r.text})
}

// add keeps a query, of one id the last one in the place of the first.
func (q *queries) add(line int, query library.Query) {
	report, name := q.file.Report, q.file.Name
	if strings.TrimSpace(query.Text) == "" {
		report.Add(name, NoText, line, "query %s", short(query.ID))
		return
	}
	read := Query{Query: query, Line: line, Row: q.rows - 1}
	i, twice := q.at[query.ID]
	if !twice {
		q.at[query.ID] = len(q.kept)
		q.kept = append(q.kept, read)
		return
	}
	before := &q.kept[i]
	switch {
	case before.Text != query.Text:
		report.Add(name, QueryTwice, line, "query %s: %s in line %d, then %s",
			short(query.ID), short(before.Text), before.Line, short(query.Text))
	case !q.once:
		report.Add(name, QueryTwice, line, "query %s: line %d has the same text", short(query.ID), before.Line)
	}
	*before = read
}

// idOf is the id of a query that has none, the same for the same text: the text itself, or its hash where that is long.
func idOf(text string) string {
	if len(text) <= library.MaxQueryID {
		return text
	}
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + hex.EncodeToString(sum[:16])
}

// Passage is a document of a corpus, and where. Row is its place among the rows of the file, from 0.
type Passage struct {
	ID, Title, Text string
	Metadata        map[string]any
	Line, Row       int
}

// passageLine is a document of BEIR's corpus.jsonl.
type passageLine struct {
	ID       id             `json:"_id"`
	Other    id             `json:"id"`
	Title    string         `json:"title"`
	Text     string         `json:"text"`
	Metadata map[string]any `json:"metadata"`
}

// passages collects those of a file.
type passages struct {
	file *File
	kept []Passage
	at   map[string]int
	rows int
	bare bool // ids and lines are enough
}

// Passages reads a corpus. Of documents of one id the last counts, in the place of the first. It says how many rows
// the file has, good ones and bad ones.
func (f *File) Passages(r io.Reader) (kept []Passage, rows int, err error) {
	all := &passages{file: f, at: map[string]int{}}
	err = f.readPassages(r, all)
	return all.kept, all.rows, err
}

// Documents reads the ids of a corpus, and the line of each.
func (f *File) Documents(r io.Reader) (map[string]int, error) {
	all := &passages{file: f, at: map[string]int{}, bare: true}
	err := f.readPassages(r, all)
	for id, i := range all.at {
		all.at[id] = all.kept[i].Line
	}
	return all.at, err
}

func (f *File) readPassages(r io.Reader, all *passages) error {
	f.Format = Lines
	r, err := f.detected(r)
	if err != nil {
		return err
	}
	return f.objects(r, all.object)
}

func (p *passages) object(line int, object []byte) {
	p.rows++
	var read passageLine
	if !p.file.decode(line, object, &read) {
		return
	}
	id := p.file.firstID(line, read.ID, read.Other)
	if id == "" {
		p.file.Report.Add(p.file.Name, NoID, line, "%s", short(string(bytes.TrimSpace(object))))
		return
	}
	passage := Passage{ID: id, Line: line, Row: p.rows - 1}
	if !p.bare {
		passage.Title, passage.Text, passage.Metadata = read.Title, read.Text, read.Metadata
	}
	i, twice := p.at[id]
	if !twice {
		p.at[id] = len(p.kept)
		p.kept = append(p.kept, passage)
		return
	}
	p.file.Report.Add(p.file.Name, DocumentTwice, line, "document %s was in line %d", short(id), p.kept[i].Line)
	p.kept[i] = passage
}

// queryColumns are the names that columns of queries have.
var (
	textColumns = []string{"query", "text", "query_text"}
	idColumns   = []string{"query_id", "q_id", "qid", "id", "_id"}
)

// queryTable reads queries of CSV.
func (f *File) queryTable(r io.Reader, all *queries) error {
	return f.table(r, [][]string{textColumns}, nil, func(line int, row map[string]string) {
		all.rows++
		all.once = slices.ContainsFunc(documentColumns, func(name string) bool { _, is := row[name]; return is })
		text := first(row, textColumns...)
		id := first(row, idColumns...)
		if id == "" {
			id = idOf(text)
		}
		all.add(line, library.Query{ID: id, Text: text})
	})
}
