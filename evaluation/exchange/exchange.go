// Package exchange reads and writes query sets and judgments as other programs have them: JSON Lines, BEIR's folders,
// TREC's qrels, Quepid's CSV.
package exchange

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/hybridge-search/hybridge/evaluation/library"
	"github.com/hybridge-search/hybridge/fault"
)

// Format is how a file is written.
type Format string

// The formats. Lines and CSV are of queries and of judgments, the others of judgments.
const (
	Lines Format = "jsonl" // a JSON object a line; of queries BEIR's too, whose id is _id
	CSV   Format = "csv"   // with a header; judgments as Quepid exports them: query, docid, rating
	BEIR  Format = "beir"  // query-id, corpus-id, score, separated by tabs, with a header
	TREC  Format = "trec"  // query, 0, document, grade
)

// maxLine is the most bytes of a line.
const maxLine = 4 << 20

// FormatOf guesses the format of a file by its name; of TSV files BEIR's have a header.
func FormatOf(name string) Format {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".jsonl", ".ndjson", ".json":
		return Lines
	case ".csv":
		return CSV
	case ".tsv":
		return BEIR
	default:
		return TREC
	}
}

// Folder is what BEIR's folder of a set has: its queries, and the judgments of one split, test where there is one.
func Folder(path string) (queries, judgments string, err error) {
	queries = filepath.Join(path, "queries.jsonl")
	if _, err := os.Stat(queries); err != nil {
		return "", "", fault.Wrap(fault.InvalidArgument, err, "look for queries.jsonl")
	}
	for _, name := range []string{"qrels.tsv", "qrels/test.tsv", "qrels/dev.tsv", "qrels/train.tsv"} {
		judgments = filepath.Join(path, filepath.FromSlash(name))
		if _, err := os.Stat(judgments); err == nil {
			return queries, judgments, nil
		}
	}
	return "", "", fault.Invalid("folder", path, "one with qrels.tsv, or qrels/test.tsv as BEIR's are downloaded")
}

// ReadQueries reads queries. Errors name the line.
func ReadQueries(r io.Reader, format Format) ([]library.Query, error) {
	switch format { //nolint:exhaustive // the others are of judgments
	case Lines:
		return readLines(r, func(line []byte) (library.Query, error) {
			q := struct {
				library.Query

				Beir string `json:"_id"`
			}{}
			err := strict(line, &q, "metadata")
			if q.ID == "" {
				q.ID = q.Beir
			}
			return q.Query, err
		})
	case CSV:
		return readTable(r, [][]string{{"query", "text"}}, func(row map[string]string, n int) (library.Query, error) {
			q := library.Query{ID: row["id"], Text: first(row, "query", "text")}
			if q.ID == "" {
				q.ID = idOf(q.Text)
			}
			return q, nil
		})
	default:
		return nil, fault.Invalid("format", format, "jsonl or csv")
	}
}

// idOf is the id of a query that has none, the same for the same text: the text itself, or its hash where that is long.
func idOf(text string) string {
	if len(text) <= library.MaxQueryID {
		return text
	}
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + hex.EncodeToString(sum[:16])
}

// Reading says what judgments are of where a file does not.
type Reading struct {
	// Chunks takes the documents of qrels and CSV files for chunks.
	Chunks bool
	// ByText is the id of a query by its text, which CSV files have in its place.
	ByText map[string]string
	// KnowledgeBase is that of all; empty: the query set's, which must have one.
	KnowledgeBase string
}

// ReadJudgments reads judgments. Errors name the line.
func ReadJudgments(r io.Reader, format Format, how Reading) ([]library.Judgment, error) {
	switch format {
	case Lines:
		return readLines(r, func(line []byte) (j library.Judgment, err error) {
			err = strict(line, &j)
			if j.KnowledgeBase == "" {
				j.KnowledgeBase = how.KnowledgeBase
			}
			return j, err
		})
	case CSV:
		needed := [][]string{{"query", "query_id"}, {"docid", "doc_id", "document_id"}, {"rating", "grade"}}
		return readTable(r, needed, func(row map[string]string, _ int) (library.Judgment, error) {
			query := first(row, "query_id", "query")
			if id, known := how.ByText[query]; known {
				query = id
			}
			return how.judgment(query, first(row, "docid", "doc_id", "document_id"), first(row, "rating", "grade"))
		})
	case BEIR, TREC:
		return how.readQrels(r, format)
	default:
		return nil, fault.Invalid("format", format, "jsonl, csv, beir or trec")
	}
}

func (how *Reading) judgment(query, document, grade string) (library.Judgment, error) {
	j := library.Judgment{QueryID: query, KnowledgeBase: how.KnowledgeBase}
	n, err := strconv.ParseFloat(grade, 64) // Quepid writes 3.0
	if err != nil || n != float64(int(n)) {
		return j, fault.Invalid("grade", grade, "a whole number")
	}
	j.Grade = max(0, int(n)) // -1 of some TREC tracks is not relevant either
	if how.Chunks {
		j.ChunkID = document
	} else {
		j.DocumentID = document
	}
	return j, nil
}

func (how *Reading) readQrels(r io.Reader, format Format) ([]library.Judgment, error) {
	columns, at := 4, []int{0, 2, 3}
	split := strings.Fields
	if format == BEIR {
		columns, at = 3, []int{0, 1, 2}
		split = func(line string) []string { return strings.Split(line, "\t") }
	}
	n := 0
	return readLines(r, func(line []byte) (library.Judgment, error) {
		n++
		row := split(string(line))
		if len(row) != columns {
			return library.Judgment{}, fault.New(fault.InvalidArgument,
				"it has %d columns; %s has %d", len(row), format, columns)
		}
		if n == 1 && format == BEIR {
			if _, err := strconv.Atoi(row[2]); err != nil {
				return library.Judgment{}, errHeader
			}
		}
		return how.judgment(row[at[0]], row[at[1]], row[at[2]])
	})
}

var errHeader = errors.New("the header")

// strict decodes an object without members that are not known, but those that are left out knowingly.
func strict(line []byte, into any, but ...string) error {
	decoder := json.NewDecoder(bytes.NewReader(line))
	if len(but) > 0 {
		var members map[string]json.RawMessage
		if err := json.Unmarshal(line, &members); err != nil {
			return err
		}
		for _, name := range but {
			delete(members, name)
		}
		rest, err := json.Marshal(members)
		if err != nil {
			return err
		}
		decoder = json.NewDecoder(bytes.NewReader(rest))
	}
	decoder.DisallowUnknownFields()
	return decoder.Decode(into)
}

func readLines[T any](r io.Reader, read func(line []byte) (T, error)) (all []T, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		line := bytes.TrimSpace(bytes.TrimPrefix(lines.Bytes(), []byte("\ufeff")))
		if len(line) == 0 {
			continue
		}
		item, err := read(line)
		if errors.Is(err, errHeader) {
			continue
		}
		if err != nil {
			return nil, fault.Wrap(fault.InvalidArgument, err, "line %d", n)
		}
		all = append(all, item)
	}
	if err := lines.Err(); err != nil {
		return nil, fault.Wrap(fault.InvalidArgument, err, "read lines of at most %d bytes", maxLine)
	}
	return all, nil
}

// readTable reads CSV with a header. Of each group of columns it must have one.
func readTable[T any](
	r io.Reader, needed [][]string, read func(row map[string]string, line int) (T, error),
) (all []T, err error) {
	table := csv.NewReader(r)
	header, err := table.Read()
	if err != nil {
		return nil, fault.Wrap(fault.InvalidArgument, err, "read the header")
	}
	for i := range header {
		header[i] = strings.ToLower(strings.TrimSpace(strings.TrimPrefix(header[i], "\ufeff")))
	}
	for _, group := range needed {
		if !slices.ContainsFunc(group, func(name string) bool { return slices.Contains(header, name) }) {
			return nil, fault.Invalid("header", strings.Join(header, ","), "one with a column "+strings.Join(group, " or "))
		}
	}
	for {
		cells, err := table.Read()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil { // it says which line
			return nil, fault.Wrap(fault.InvalidArgument, err, "read the table")
		}
		line, _ := table.FieldPos(0)
		row := make(map[string]string, len(header))
		for i := range header {
			row[header[i]] = cells[i]
		}
		item, err := read(row, line)
		if err != nil {
			return nil, fault.Wrap(fault.InvalidArgument, err, "line %d", line)
		}
		all = append(all, item)
	}
}

func first(row map[string]string, names ...string) string {
	for _, name := range names {
		if row[name] != "" {
			return row[name]
		}
	}
	return ""
}

// WriteQueries writes queries, which ReadQueries reads again; CSV has ids and texts alone.
func WriteQueries(w io.Writer, format Format, queries []library.Query) error {
	switch format { //nolint:exhaustive // the others are of judgments
	case Lines:
		return WriteLines(w, queries)
	case CSV:
		rows := [][]string{{"id", "query"}}
		for i := range queries {
			rows = append(rows, []string{queries[i].ID, queries[i].Text})
		}
		return csv.NewWriter(w).WriteAll(rows)
	default:
		return fault.Invalid("format", format, "jsonl or csv")
	}
}

// WriteJudgments writes judgments. All but JSON Lines have a chunk where one was judged, else a document; CSV has the
// texts of queries, by their ids.
func WriteJudgments(w io.Writer, format Format, judgments []library.Judgment, texts map[string]string) error {
	if format == Lines {
		return WriteLines(w, judgments)
	}
	out := bufio.NewWriter(w)
	rows := [][]string{{"query", "docid", "rating"}}
	if format == BEIR {
		_, _ = out.WriteString("query-id\tcorpus-id\tscore\n") // Flush tells
	}
	for i := range judgments {
		j := &judgments[i]
		of := j.ChunkID
		if of == "" {
			of = j.DocumentID
		}
		switch format { //nolint:exhaustive // Lines is above
		case CSV:
			query := j.QueryID
			if text, known := texts[query]; known {
				query = text
			}
			rows = append(rows, []string{query, of, strconv.Itoa(j.Grade)})
		case BEIR:
			_, _ = fmt.Fprintf(out, "%s\t%s\t%d\n", j.QueryID, of, j.Grade)
		case TREC:
			if strings.ContainsAny(j.QueryID+of, " \t") {
				return fault.Invalid("query or chunk", j.QueryID+", "+of, "ids without spaces, which this format cannot hold")
			}
			_, _ = fmt.Fprintf(out, "%s 0 %s %d\n", j.QueryID, of, j.Grade)
		default:
			return fault.Invalid("format", format, "jsonl, csv, beir or trec")
		}
	}
	if format == CSV {
		return csv.NewWriter(w).WriteAll(rows)
	}
	return out.Flush()
}

// WriteLines writes JSON, a line each.
func WriteLines[T any](w io.Writer, items []T) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	for i := range items {
		if err := encoder.Encode(&items[i]); err != nil {
			return err
		}
	}
	return nil
}
