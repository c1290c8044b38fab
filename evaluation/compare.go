package evaluation

import (
	"cmp"
	"slices"

	"github.com/hybridge-search/hybridge/evaluation/metric"
	"github.com/hybridge-search/hybridge/fault"
)

// Comparison is a system beside another one, or beside itself as it was, on the queries of a set that both answered.
type Comparison struct {
	Set     string `json:"set"`
	System  string `json:"system"`
	Against string `json:"against"`
	Queries int    `json:"queries"`
	// Missing are queries that only one of them answered.
	Missing     int          `json:"missing,omitempty"`
	Differences []Difference `json:"differences"`
}

// Difference of a metric: System minus Against.
type Difference struct {
	Metric  string   `json:"metric"`
	System  float64  `json:"system"`
	Against float64  `json:"against"`
	Mean    Interval `json:"difference"`
	P       float64  `json:"p"`      // of such a difference by chance
	Holm    float64  `json:"p_holm"` // corrected for all that were tested together
	Effect  float64  `json:"effect"`
	More    int      `json:"more"` // queries where System has more
	Less    int      `json:"less"`
	// Queries are all of them, by their difference, the lowest first.
	Queries []QueryDifference `json:"queries"`

	lowerIsBetter bool
}

// QueryDifference is the difference on one query.
type QueryDifference struct {
	Query   string  `json:"query"`
	Text    string  `json:"text,omitempty"` // of the query, where it is known
	System  float64 `json:"system"`
	Against float64 `json:"against"`
}

func (q *QueryDifference) by() float64 { return q.System - q.Against }

// Compare measures two results on the same set. P-values are corrected for the metrics named here; CorrectAll does
// for several comparisons.
func Compare(set *Set, system, against *Result, metrics []metric.Metric) (*Comparison, error) {
	c := &Comparison{Set: set.Name, System: system.System, Against: against.System}
	before := make(map[string]*Row, len(against.Rows))
	for i := range against.Rows {
		before[against.Rows[i].Query] = &against.Rows[i]
	}
	var pairs [][2]*Row
	for i := range system.Rows {
		if row := before[system.Rows[i].Query]; row != nil {
			pairs = append(pairs, [2]*Row{&system.Rows[i], row})
		}
	}
	c.Queries, c.Missing = len(pairs), len(system.Rows)+len(against.Rows)-2*len(pairs)
	if len(pairs) == 0 {
		return nil, fault.New(fault.InvalidArgument, "%s and %s have no query of %s in common", c.System, c.Against, set.Name)
	}
	scale := set.Scale()
	for i := range metrics {
		c.Differences = append(c.Differences, differenceOf(&metrics[i], set, pairs, scale))
	}
	CorrectAll([]*Comparison{c})
	return c, nil
}

func differenceOf(m *metric.Metric, set *Set, pairs [][2]*Row, scale int) Difference {
	d := Difference{Metric: m.Name, lowerIsBetter: m.LowerIsBetter}
	var system, against, by []float64
	for _, pair := range pairs {
		judged := set.Judgments[pair[0].Query]
		query := pair[0].Query
		q := QueryDifference{
			Query:   query,
			System:  m.Of(set.counted(query, pair[0].Ranking), judged, scale),
			Against: m.Of(set.counted(query, pair[1].Ranking), judged, scale),
		}
		d.Queries = append(d.Queries, q)
		system, against, by = append(system, q.System), append(against, q.Against), append(by, q.by())
		switch {
		case q.by() > 0:
			d.More++
		case q.by() < 0:
			d.Less++
		}
	}
	d.System, d.Against = mean(system), mean(against)
	d.Mean, d.P, d.Effect = Bootstrap(by), PairedTest(system, against), Effect(by)
	slices.SortStableFunc(d.Queries, func(a, b QueryDifference) int {
		return cmp.Or(cmp.Compare(a.by(), b.by()), cmp.Compare(a.Query, b.Query))
	})
	return d
}

// CorrectAll corrects the p-values of all differences, which are looked at together.
func CorrectAll(all []*Comparison) {
	var differences []*Difference
	var p []float64
	for _, c := range all {
		for i := range c.Differences {
			differences = append(differences, &c.Differences[i])
			p = append(p, c.Differences[i].P)
		}
	}
	for i, corrected := range Holm(p) {
		differences[i].Holm = corrected
	}
}
