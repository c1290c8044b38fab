package evaluation

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/hybridge-search/hybridge/fault"
)

// maxRow is the most bytes of a row: a hundred ids of some length.
const maxRow = 1 << 20

// ReadRun reads results of an earlier evaluation: rows as lines of JSON (WriteRows), or a run file of trec_eval, which
// names no set.
func ReadRun(path string) ([]*Result, error) {
	file, err := os.Open(path) //nolint:gosec // the user names it
	if err != nil {
		return nil, fault.Wrap(fault.InvalidArgument, err, "read a run")
	}
	defer func() { _ = file.Close() }() // it was only read
	results, err := readRun(file)
	if err != nil {
		return nil, fault.Wrap(cmp.Or(fault.KindOf(err), fault.InvalidArgument), err, "%s", path)
	}
	return results, nil
}

func readRun(r io.Reader) ([]*Result, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxRow)
	all := &runs{rows: map[[3]string]int{}, scores: map[[3]string]map[string]float64{}}
	for n := 1; lines.Scan(); n++ {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		read := all.trec
		if line[0] == '{' {
			read = all.row
		}
		if err := read(line); err != nil {
			return nil, fault.Wrap(fault.InvalidArgument, err, "line %d", n)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fault.Wrap(fault.InvalidArgument, err, "read a line of at most %d bytes", maxRow)
	}
	if len(all.results) == 0 {
		return nil, fault.New(fault.InvalidArgument, "it has no rows")
	}
	all.order()
	return all.results, nil
}

// runs are results as they are read.
type runs struct {
	results []*Result
	rows    map[[3]string]int                // where a row is, by set, system and query
	scores  map[[3]string]map[string]float64 // of run files, by the same and the document
}

// result is that of a system on a set.
func (all *runs) result(set, system string) *Result {
	i := slices.IndexFunc(all.results, func(r *Result) bool { return r.Set == set && r.System == system })
	if i < 0 {
		i = len(all.results)
		all.results = append(all.results, &Result{Set: set, System: system})
	}
	return all.results[i]
}

func (all *runs) row(line []byte) error {
	var row Row
	if err := json.Unmarshal(line, &row); err != nil {
		return err
	}
	if row.System == "" || row.Query == "" {
		return errors.New("it has no system or no query")
	}
	key := [3]string{row.Set, row.System, row.Query}
	if _, twice := all.rows[key]; twice {
		return fault.New(fault.InvalidArgument, "query %q of %s is there twice", row.Query, row.System)
	}
	r := all.result(row.Set, row.System)
	all.rows[key] = len(r.Rows)
	r.Rows = append(r.Rows, row)
	return nil
}

// trec reads QUERY Q0 DOCUMENT RANK SCORE SYSTEM.
func (all *runs) trec(line []byte) error {
	const columns = 6
	parts := strings.Fields(string(line))
	if len(parts) != columns {
		return fault.New(fault.InvalidArgument, "it has %d columns; a run has %d: query, Q0, document, rank, score, system",
			len(parts), columns)
	}
	query, document, system := parts[0], parts[2], parts[5]
	score, err := strconv.ParseFloat(parts[4], 64)
	if err != nil {
		return fault.Invalid("score", parts[4], "a number")
	}
	key := [3]string{"", system, query}
	r := all.result("", system)
	i, known := all.rows[key]
	if !known {
		i = len(r.Rows)
		all.rows[key], all.scores[key] = i, map[string]float64{}
		r.Rows = append(r.Rows, Row{System: system, Query: query})
	}
	if _, twice := all.scores[key][document]; twice {
		return fault.New(fault.InvalidArgument, "document %q of query %q is there twice", document, query)
	}
	all.scores[key][document] = score
	r.Rows[i].Ranking = append(r.Rows[i].Ranking, document)
	return nil
}

// order ranks what run files had, as trec_eval does: by score, and those of the same score by their ids backwards.
func (all *runs) order() {
	for _, r := range all.results {
		for i := range r.Rows {
			scores := all.scores[[3]string{r.Set, r.System, r.Rows[i].Query}]
			if scores == nil {
				continue // rows of JSON are in order
			}
			slices.SortFunc(r.Rows[i].Ranking, func(a, b string) int {
				return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(b, a))
			})
		}
	}
}

// Baseline finds what a result is compared with: the same system on the same set, or the only one there is.
func Baseline(runs []*Result, now *Result) (*Result, error) {
	var same, others []*Result
	for _, r := range runs {
		switch {
		case r.Set != "" && r.Set != now.Set:
		case r.System == now.System:
			same = append(same, r)
		default:
			others = append(others, r)
		}
	}
	if len(same) == 1 {
		return same[0], nil
	}
	if len(same) == 0 && len(others) == 1 {
		return others[0], nil
	}
	return nil, fault.New(fault.InvalidArgument,
		"the baseline has %d systems for %s on %s; it must have one of that name, or one alone",
		len(same)+len(others), now.System, now.Set)
}
