// Package exchange reads and writes query sets, judgments and runs as other programs have them: BEIR's folders, TREC's
// qrels and runs, Quepid's CSV, RRE's ratings, ranx's JSON, lines for learning to rank, JSON Lines. It is the one
// reader of all of them: what is odd about a file goes into a Report, row by row, and costs that row at most.
package exchange

import (
	"bufio"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/hybridge-search/hybridge/evaluation/library"
	"github.com/hybridge-search/hybridge/fault"
)

// Format names a file format.
type Format string

// The formats.
const (
	Lines Format = "jsonl" // a JSON object a line, or an array of them; of queries BEIR's too, whose id is _id
	CSV   Format = "csv"   // with a header; judgments as Quepid exports them: query, docid, rating
	BEIR  Format = "beir"  // query-id, corpus-id, score, separated by tabs, with a header
	TREC  Format = "trec"  // query, 0, document, grade; of runs query, Q0, document, rank, score, system
	Ranx  Format = "ranx"  // a JSON object of queries, of documents, with grades or scores
	RRE   Format = "rre"   // the ratings of Rated Ranking Evaluator, and what Quepid exports for it
	LTR   Format = "ltr"   // grade qid:query … # document
)

// Formats are all of them.
func Formats() []string {
	return []string{string(Lines), string(CSV), string(BEIR), string(TREC), string(Ranx), string(RRE), string(LTR)}
}

const (
	ofQueries   = "jsonl, csv or rre"
	ofJudgments = "jsonl, csv, beir, trec, ranx, rre or ltr"
	ofRuns      = "jsonl, csv, trec or ranx"

	// maxLine is the most bytes of a line.
	maxLine = 4 << 20
	// maxDocument is the most bytes of a file that is one JSON value.
	maxDocument = 256 << 20
	// highest is the largest grade and the largest loss: more is a mistake of the file.
	highest = 1_000_000
)

// File is a file that is read. What is odd about it goes into its report, which may be of several files.
type File struct {
	Name   string
	Format Format // empty: as Detect says
	Report *Report

	how Reading
}

// Reading says what judgments are of where a file does not.
type Reading struct {
	// Chunks takes the documents of other programs for chunks.
	Chunks bool
	// ByText is the id of a query by its text, which some files have in its place.
	ByText map[string]string
	// KnowledgeBase is the knowledge base of all rows; empty: the query set's, which must have one.
	KnowledgeBase string
}

// Judgment is a grade as a file has it, and where.
type Judgment struct {
	library.Judgment

	Line int
}

// Of returns the judged chunk, or else the document.
func (j *Judgment) Of() string {
	if j.ChunkID != "" {
		return j.ChunkID
	}
	return j.DocumentID
}

// Query is a query as a file has it, and where. Row is its place among the rows of the file, from 0, which rows of
// vectors are in step with.
type Query struct {
	library.Query

	Line, Row int
}

// Hit is a document that a run has for a query. A file that names no system leaves it empty.
type Hit struct {
	Line                    int
	Query, Document, System string
	Score                   float64
}

// Queries reads queries. Of those of one id the last counts, in the place of the first. It says how many rows the file
// has, good ones and bad ones.
func (f *File) Queries(r io.Reader) (kept []Query, rows int, err error) {
	r, err = f.detected(r)
	if err != nil {
		return nil, 0, err
	}
	all := &queries{file: f, at: map[string]int{}}
	switch f.Format { //nolint:exhaustive // the others are of judgments
	case Lines:
		err = f.objects(r, all.object)
	case CSV:
		err = f.queryTable(r, all)
	case RRE:
		err = f.rre(r, all.rated)
	default:
		return nil, 0, fault.Invalid("format", f.Format, ofQueries)
	}
	return all.kept, all.rows, err
}

// Judgments reads judgments. Of those of one pair the last counts.
func (f *File) Judgments(r io.Reader, how Reading) ([]Judgment, error) {
	r, err := f.detected(r)
	if err != nil {
		return nil, err
	}
	f.how = how
	all := &judgments{file: f, at: map[pair]int{}}
	switch f.Format {
	case Lines:
		err = f.objects(r, all.object)
	case CSV:
		err = f.judgmentTable(r, all)
	case BEIR:
		err = f.beir(r, all)
	case TREC:
		err = f.trec(r, all)
	case Ranx:
		err = f.ranx(r, func(line int, query, document, value string) { all.add(line, query, document, value) })
	case RRE:
		err = f.rre(r, all.rated)
	case LTR:
		err = f.ltr(r, all)
	default:
		return nil, fault.Invalid("format", f.Format, ofJudgments)
	}
	return all.kept, err
}

// Hits reads a run and gives each of its hits to each, in the order of the file.
func (f *File) Hits(r io.Reader, each func(*Hit)) error {
	r, err := f.detected(r)
	if err != nil {
		return err
	}
	all := &hits{file: f, each: each}
	switch f.Format { //nolint:exhaustive // the others are of judgments
	case Lines:
		return f.objects(r, all.object)
	case CSV:
		return f.hitTable(r, all)
	case TREC:
		return f.run(r, all)
	case Ranx:
		return f.ranx(r, func(line int, query, document, value string) { all.add(line, "", query, document, value) })
	default:
		return fault.Invalid("format", f.Format, ofRuns)
	}
}

// detected looks at how a file begins where nobody has said its format.
func (f *File) detected(r io.Reader) (io.Reader, error) {
	if f.Report == nil {
		f.Report = &Report{}
	}
	if f.Format != "" {
		return r, nil
	}
	in := bufio.NewReaderSize(r, headBytes)
	head, err := in.Peek(headBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fault.Wrap(fault.InvalidArgument, err, "read %s", f.Name)
	}
	f.Format = Detect(f.Name, head)
	return in, nil
}

// Folder lists the files of BEIR's folder of a set: corpus, queries, and the judgments of one split, test if there is
// one. The corpus may be missing.
type Folder struct{ Path, Corpus, Queries, Judgments string }

// OpenFolder finds the files of a folder. Judgments, if it is not empty, is the file of judgments.
func OpenFolder(path string, report *Report, judgments string) (*Folder, error) {
	f := &Folder{Path: path, Corpus: filepath.Join(path, "corpus.jsonl"), Queries: filepath.Join(path, "queries.jsonl")}
	if _, err := os.Stat(f.Queries); err != nil {
		return nil, fault.Wrap(fault.InvalidArgument, err, "look for queries.jsonl")
	}
	if f.Judgments = judgments; judgments != "" {
		return f, nil
	}
	for _, name := range []string{"qrels.tsv", "qrels/test.tsv", "qrels/dev.tsv", "qrels/train.tsv"} {
		f.Judgments = filepath.Join(path, filepath.FromSlash(name))
		if _, err := os.Stat(f.Judgments); err != nil {
			continue
		}
		if strings.HasSuffix(name, "dev.tsv") || strings.HasSuffix(name, "train.tsv") {
			report.Add(name, OtherSplit, 0, "")
		}
		return f, nil
	}
	return nil, fault.Invalid("folder", path, "one with qrels.tsv, or qrels/test.tsv as BEIR's are downloaded")
}

// Name is the name of a file within the folder, as in reports.
func (f *Folder) Name(path string) string {
	if name, err := filepath.Rel(f.Path, path); err == nil && filepath.IsLocal(name) {
		return filepath.ToSlash(name)
	}
	return path
}

// grade reads a grade: a whole number, which may be written as 1.0.
func (f *File) grade(line int, text, of string) (int, bool) {
	text = strings.TrimSpace(text)
	n, ok := number(text)
	switch {
	case text == "":
		f.Report.Add(f.Name, NoGrade, line, "%s", of)
	case !ok || math.Abs(n) > highest:
		f.Report.Add(f.Name, BadGrade, line, "%s: %s", of, short(text))
	case n != math.Trunc(n):
		f.Report.Add(f.Name, FractionalGrade, line, "%s: %s", of, short(text))
	default:
		if n < 0 {
			f.Report.Add(f.Name, NegativeGrade, line, "%s: %s", of, text)
		}
		return int(n), true
	}
	return 0, false
}
