package evaluation

import (
	"io"
	"os"
	"path/filepath"

	"github.com/hybridge-search/hybridge/evaluation/exchange"
	"github.com/hybridge-search/hybridge/fault"
)

// reading is a set as its files are read.
type reading struct {
	set    *Set
	folder *exchange.Folder

	passages        []exchange.Passage
	queries         []exchange.Query
	rows, queryRows int // of the files, good ones and bad ones
	judgments       []exchange.Judgment
	lines           map[string]int // of documents
}

// all reads the three files and compares them.
func (r *reading) all() error {
	err := r.open(r.folder.Corpus, func(f *exchange.File, in io.Reader) (err error) {
		r.passages, r.rows, err = f.Passages(in)
		return err
	})
	if err != nil {
		return err
	}
	err = r.open(r.folder.Queries, func(f *exchange.File, in io.Reader) (err error) {
		f.Format = exchange.Lines
		r.queries, r.queryRows, err = f.Queries(in)
		return err
	})
	if err != nil {
		return err
	}
	texts := make(map[string]string, len(r.queries))
	for i := range r.queries {
		texts[r.queries[i].Text] = r.queries[i].ID
	}
	err = r.open(r.folder.Judgments, func(f *exchange.File, in io.Reader) (err error) {
		r.judgments, err = f.Judgments(in, exchange.Reading{ByText: texts})
		return err
	})
	if err != nil {
		return err
	}
	r.compare()
	r.fill()
	if report := r.set.Report; len(r.set.Judgments) == 0 && report.LeftOut() > 0 {
		return fault.New(fault.InvalidArgument, "set %s has no query with judgments%s", r.set.Name, report.Reasons())
	}
	return nil
}

func (r *reading) open(path string, read func(*exchange.File, io.Reader) error) error {
	file, err := os.Open(path) //nolint:gosec // the user names the folder
	if err != nil {
		return fault.Wrap(fault.InvalidArgument, err, "read the retrieval set")
	}
	defer func() { _ = file.Close() }() // it was only read
	return read(&exchange.File{Name: r.folder.Name(path), Report: r.set.Report}, file)
}

func (r *reading) compare() {
	r.lines = make(map[string]int, len(r.passages))
	for i := range r.passages {
		r.lines[r.passages[i].ID] = r.passages[i].Line
	}
	r.set.Report.Check(&exchange.Compared{
		Corpus: r.lines, Queries: r.queries, Judgments: r.judgments,
		CorpusFile: r.folder.Name(r.folder.Corpus), QueriesFile: r.folder.Name(r.folder.Queries),
		JudgmentsFile: r.folder.Name(r.folder.Judgments),
	})
}

// fill makes the set of what was read.
func (r *reading) fill() {
	set := r.set
	set.Corpus = make([]Passage, len(r.passages))
	for i := range r.passages {
		p := &r.passages[i]
		set.Corpus[i] = Passage{ID: p.ID, Title: p.Title, Text: p.Text, Metadata: p.Metadata}
	}
	known := make(map[string]bool, len(r.queries))
	set.Queries = make([]Query, len(r.queries))
	for i := range r.queries {
		q := &r.queries[i]
		set.Queries[i], known[q.ID] = Query{ID: q.ID, Text: q.Text, Queries: q.Queries}, true
	}
	set.Judgments = map[string]Judgments{}
	for i := range r.judgments {
		j := &r.judgments[i]
		if !known[j.QueryID] {
			continue
		}
		if set.Judgments[j.QueryID] == nil {
			set.Judgments[j.QueryID] = Judgments{}
		}
		set.Judgments[j.QueryID][j.Of()] = j.Grade
	}
	set.own = map[string]bool{}
	for id, judged := range set.Judgments {
		if _, is := r.lines[id]; is && judged[id] <= 0 {
			set.own[id] = true
		}
	}
}

// vectors reads those of passages and queries, which have one for every row of their file.
func (r *reading) vectors(dir, name string) error {
	all, err := ReadVectors(filepath.Join(dir, "corpus."+name+".f32"), r.rows)
	if err != nil {
		return err
	}
	ofQueries, err := ReadVectors(filepath.Join(dir, "queries."+name+".f32"), r.queryRows)
	if err != nil {
		return err
	}
	passages := make([][]float32, len(r.passages))
	for i := range r.passages {
		passages[i] = all[r.passages[i].Row]
	}
	queries := make([][]float32, len(r.queries))
	for i := range r.queries {
		queries[i] = ofQueries[r.queries[i].Row]
	}
	return r.set.attach(passages, queries)
}

// counted is a ranking without the query itself, where that is a document of the corpus which nobody judged relevant:
// BEIR's evaluation drops it (ignore_identical_ids).
func (s *Set) counted(query string, ranking []string) []string {
	if !s.own[query] {
		return ranking
	}
	kept := make([]string, 0, len(ranking))
	for _, id := range ranking {
		if id != query {
			kept = append(kept, id)
		}
	}
	return kept
}

// Drops gives the id of the hit that does not count for a query; empty: all do.
func (s *Set) Drops(query string) string {
	if s.own[query] {
		return query
	}
	return ""
}
