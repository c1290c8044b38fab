package evaluation

import (
	"cmp"
	"math"
	"slices"

	"github.com/hybridge-search/hybridge/evaluation/exchange"
)

// Report holds the measurements of every system on every set.
type Report struct {
	Engine  string      `json:"engine"`
	Vectors string      `json:"vectors"` // where they are from
	Systems []string    `json:"systems"`
	Sets    []SetReport `json:"sets"`
	Means   []Mean      `json:"means"`
	// Diverse says that a system asks for unlike hits: how alike they are is shown then.
	Diverse bool `json:"-"`
}

// SetReport holds the measurements on one set.
type SetReport struct {
	Set       string   `json:"set"`
	Documents int      `json:"documents"`
	Queries   int      `json:"queries"`
	Figures   []Figure `json:"figures"` // in the order of the systems
	// Oddities are of the files of the set.
	Oddities []*exchange.Oddity `json:"oddities,omitempty"`
}

// Figure is one system on one set.
type Figure struct {
	System    string   `json:"system"`
	NDCG10    Interval `json:"ndcg@10"`
	Recall10  Interval `json:"recall@10"`
	Recall100 Interval `json:"recall@100"`
	MRR10     Interval `json:"mrr@10"`
	Unjudged  float64  `json:"unjudged@10"`
	Alike     float64  `json:"alike@10,omitempty"`
	// Against is the better one of the systems text and vector on this set, Gain is nDCG@10
	// minus that of Against, and P the probability of such a difference by chance. They are
	// unset for Against itself, and without these systems.
	Against string   `json:"against,omitempty"`
	Gain    *float64 `json:"gain,omitempty"`
	P       *float64 `json:"p,omitempty"`
}

// Mean is one system over all sets, which all count the same.
type Mean struct {
	System string  `json:"system"`
	NDCG10 float64 `json:"ndcg@10"`
	Alike  float64 `json:"alike@10,omitempty"`
	// Gain is the mean and WorstGain the lowest of the gains on the sets; nil if there are
	// none.
	Gain      *float64 `json:"gain,omitempty"`
	WorstGain *float64 `json:"worst_gain,omitempty"`
	WorstSet  string   `json:"worst_set,omitempty"`
}

// singleLegs are the systems that the others are compared with.
var singleLegs = []string{"text", "vector"}

// Add adds a set with the results of all systems on it, in order.
func (r *Report) Add(set *Set, results []*Result) {
	report := SetReport{Set: set.Name, Documents: len(set.Corpus)}
	if set.Report != nil {
		report.Oddities = set.Report.Oddities
	}
	base := betterLeg(results)
	for _, result := range results {
		report.Queries = len(result.Rows)
		figure := result.figure()
		if base != nil && result != base {
			a, b := result.values(ndcg10), base.values(ndcg10)
			gain, p := mean(a)-mean(b), PairedTest(a, b)
			figure.Against, figure.Gain, figure.P = base.System, &gain, &p
		}
		report.Figures = append(report.Figures, figure)
	}
	r.Sets = append(r.Sets, report)
	r.Means = make([]Mean, len(results))
	for i, result := range results {
		r.Means[i] = r.mean(i, result.System)
	}
}

func betterLeg(results []*Result) *Result {
	var legs []*Result
	for _, r := range results {
		if slices.Contains(singleLegs, r.System) {
			legs = append(legs, r)
		}
	}
	if len(legs) == 0 {
		return nil
	}
	return slices.MaxFunc(legs, func(a, b *Result) int {
		return cmp.Compare(mean(a.values(ndcg10)), mean(b.values(ndcg10)))
	})
}

func (r *Result) figure() Figure {
	return Figure{
		System:    r.System,
		NDCG10:    Bootstrap(r.values(ndcg10)),
		Recall10:  Bootstrap(r.values(func(m *Metrics) float64 { return m.Recall10 })),
		Recall100: Bootstrap(r.values(func(m *Metrics) float64 { return m.Recall100 })),
		MRR10:     Bootstrap(r.values(func(m *Metrics) float64 { return m.MRR10 })),
		Unjudged:  mean(r.values(func(m *Metrics) float64 { return m.Unjudged })),
		Alike:     mean(r.values(func(m *Metrics) float64 { return m.Alike })),
	}
}

// mean averages the system at an index over the sets added so far.
func (r *Report) mean(system int, name string) Mean {
	m := Mean{System: name}
	sum, worst := 0.0, math.Inf(1)
	compared := false
	for i := range r.Sets {
		f := &r.Sets[i].Figures[system]
		m.NDCG10 += f.NDCG10.Mean / float64(len(r.Sets))
		m.Alike += f.Alike / float64(len(r.Sets))
		gain := 0.0
		if f.Gain != nil {
			gain, compared = *f.Gain, true
		}
		sum += gain
		if gain < worst {
			worst, m.WorstSet = gain, r.Sets[i].Set
		}
	}
	if !compared {
		m.WorstSet = ""
		return m
	}
	sum /= float64(len(r.Sets))
	m.Gain, m.WorstGain = &sum, &worst
	return m
}
