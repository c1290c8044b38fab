package exchange

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"github.com/hybridge-search/hybridge/evaluation/library"
	"github.com/hybridge-search/hybridge/fault"
)

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
		rows = [][]string{{"query-id", "corpus-id", "score"}}
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
			rows = append(rows, []string{j.QueryID, of, strconv.Itoa(j.Grade)})
		case TREC:
			if HasSpace(j.QueryID) || HasSpace(of) {
				return fault.Invalid("query or chunk", j.QueryID+", "+of, "ids without spaces, which this format cannot hold")
			}
			_, _ = fmt.Fprintf(out, "%s 0 %s %d\n", j.QueryID, of, j.Grade)
		default:
			return fault.Invalid("format", format, "jsonl, csv, beir or trec")
		}
	}
	if format == TREC {
		return out.Flush()
	}
	table := csv.NewWriter(w)
	if format == BEIR {
		table.Comma = '\t'
	}
	return table.WriteAll(rows)
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
