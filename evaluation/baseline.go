package evaluation

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hybridge-search/hybridge/evaluation/exchange"
	"github.com/hybridge-search/hybridge/fault"
)

// headBytes of a run tell what it is.
const headBytes = 64 << 10

// ReadRun reads results of an earlier evaluation: rows as lines of JSON (--per-query), or a run of another program in
// any format of exchange, which names no set. What is odd about it goes into the report.
func ReadRun(path string, report *exchange.Report) ([]*Result, error) {
	file, err := os.Open(path) //nolint:gosec // the user names it
	if err != nil {
		return nil, fault.Wrap(fault.InvalidArgument, err, "read a run")
	}
	defer func() { _ = file.Close() }() // it was only read
	in := bufio.NewReaderSize(file, headBytes)
	head, err := in.Peek(headBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fault.Wrap(fault.InvalidArgument, err, "read a run")
	}
	name := filepath.Base(path)
	all := &runs{
		file:  &exchange.File{Name: name, Format: exchange.Detect(name, head), Report: report},
		named: strings.TrimSuffix(name, filepath.Ext(name)),
		rows:  map[[3]string]int{}, scores: map[[3]string]map[string]float32{},
	}
	if all.file.Format == exchange.Lines && bytes.Contains(head, []byte(`"ranking"`)) {
		err = all.file.Lines(in, all.row)
	} else {
		err = all.file.Hits(in, all.hit)
	}
	if err != nil {
		return nil, fault.Wrap(cmp.Or(fault.KindOf(err), fault.InvalidArgument), err, "%s", path)
	}
	if len(all.results) == 0 {
		return nil, fault.New(fault.InvalidArgument, "%s has no rows that can be read%s", path, report.Reasons())
	}
	all.order()
	return all.results, nil
}

// runs are results as they are read.
type runs struct {
	file    *exchange.File
	named   string // the system of a file that names none
	results []*Result
	rows    map[[3]string]int                // where a row is, by set, system and query
	scores  map[[3]string]map[string]float32 // of runs of other programs, by the same and the document
}

// result returns a system's result on a set.
func (all *runs) result(set, system string) *Result {
	i := slices.IndexFunc(all.results, func(r *Result) bool { return r.Set == set && r.System == system })
	if i < 0 {
		i = len(all.results)
		all.results = append(all.results, &Result{Set: set, System: system})
	}
	return all.results[i]
}

func (all *runs) row(n int, line string) error {
	var row Row
	f := all.file
	if err := json.Unmarshal([]byte(line), &row); err != nil {
		f.Report.Add(f.Name, exchange.Broken, n, "%v", err)
		return nil
	}
	if row.System == "" || row.Query == "" {
		f.Report.Add(f.Name, exchange.NoID, n, "no system or no query")
		return nil
	}
	row.Ranking = all.once(n, &row)
	key := [3]string{row.Set, row.System, row.Query}
	r := all.result(row.Set, row.System)
	if i, twice := all.rows[key]; twice {
		f.Report.Add(f.Name, exchange.QueryTwice, n, "query %q of %s", row.Query, row.System)
		r.Rows[i] = row
		return nil
	}
	all.rows[key] = len(r.Rows)
	r.Rows = append(r.Rows, row)
	return nil
}

// once is a ranking with each document where it is first: one that is there twice would count twice.
func (all *runs) once(n int, row *Row) []string {
	seen := make(map[string]bool, len(row.Ranking))
	return slices.DeleteFunc(row.Ranking, func(id string) bool {
		if seen[id] {
			all.file.Report.Add(all.file.Name, exchange.RankedTwice, n, "document %q of query %q", id, row.Query)
			return true
		}
		seen[id] = true
		return false
	})
}

// hit takes a hit of another program. trec_eval keeps scores as 32-bit numbers, and so ties more of them.
func (all *runs) hit(hit *exchange.Hit) {
	system := cmp.Or(hit.System, all.named)
	key := [3]string{"", system, hit.Query}
	r := all.result("", system)
	i, known := all.rows[key]
	if !known {
		i = len(r.Rows)
		all.rows[key], all.scores[key] = i, map[string]float32{}
		r.Rows = append(r.Rows, Row{System: system, Query: hit.Query})
	}
	if before, twice := all.scores[key][hit.Document]; twice {
		all.file.Report.Add(all.file.Name, exchange.HitTwice, hit.Line, "document %q of query %q: %v, then %v",
			hit.Document, hit.Query, before, hit.Score)
	} else {
		r.Rows[i].Ranking = append(r.Rows[i].Ranking, hit.Document)
	}
	all.scores[key][hit.Document] = float32(hit.Score)
}

// order ranks the runs of other programs as trec_eval does: by score, and those of the same score by their ids
// backwards.
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
