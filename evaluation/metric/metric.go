// Package metric measures a ranking against judgments, at any depth: ndcg@10, map@100.
package metric

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/hybridge-search/hybridge/fault"
)

// Judgments are the grades of the documents of one query; above 0 means relevant.
type Judgments map[string]int

// Metric is one at one depth.
type Metric struct {
	Name string // as ndcg@10
	// LowerIsBetter is for those that count what should not be.
	LowerIsBetter bool

	depth int
	of    measure
}

// Unjudged is the grade of what nobody judged. It counts as not relevant.
const Unjudged = math.MinInt32

// Judged prepares the judgments of a query for metrics. It is immutable.
type Judged struct {
	grades   []int // the highest first
	relevant int
	scale    int
}

// NewJudged prepares judgments. Scale is the highest grade that judges may give, which only err needs; 0 takes the
// highest of the judgments.
func NewJudged(judgments Judgments, scale int) *Judged {
	j := &Judged{grades: slices.Sorted(maps.Values(judgments)), scale: scale}
	slices.Reverse(j.grades)
	for j.relevant < len(j.grades) && j.grades[j.relevant] > 0 {
		j.relevant++
	}
	if j.scale <= 0 && len(j.grades) > 0 {
		j.scale = max(j.grades[0], 0)
	}
	return j
}

// measure compares the grades of the first hits of a ranking, best first, with all that were judged.
type measure func(first []int, judged *Judged, depth int) float64

// Of measures a ranking, best first: a number in [0, 1], 0 for a query without relevant documents. For scale see
// NewJudged.
func (m *Metric) Of(ranking []string, judged Judgments, scale int) float64 {
	first := ranking[:min(m.depth, len(ranking))]
	grades := make([]int, len(first))
	for i, id := range first {
		grade, is := judged[id]
		if !is {
			grade = Unjudged
		}
		grades[i] = grade
	}
	return m.OfGrades(grades, NewJudged(judged, scale))
}

// OfGrades is Of for the grades of a ranking. It allocates nothing.
func (m *Metric) OfGrades(grades []int, judged *Judged) float64 {
	return m.of(grades[:min(m.depth, len(grades))], judged, m.depth)
}

// Depth is the number of leading hits that count.
func (m *Metric) Depth() int { return m.depth }

// families are the metrics of every depth. Each says in its comment whose definition it is.
var families = map[string]struct {
	of            measure
	lowerIsBetter bool
}{
	"ndcg":      {of: ndcg(linear)},
	"ndcg_exp":  {of: ndcg(exponential)},
	"mrr":       {of: reciprocalRank},
	"map":       {of: averagePrecision},
	"recall":    {of: recall},
	"precision": {of: precision},
	"hit":       {of: hit},
	"err":       {of: expectedReciprocalRank},
	"judged":    {of: judgedShare},
	"unjudged":  {of: unjudgedShare, lowerIsBetter: true},
}

// MaxDepth is the deepest that is measured.
const MaxDepth = 1000

// Families are the names of metrics before their depth, in alphabetical order.
func Families() []string { return slices.Sorted(maps.Keys(families)) }

// Parse reads a metric, such as ndcg@10.
func Parse(name string) (Metric, error) {
	family, depth, _ := strings.Cut(name, "@")
	k, err := strconv.Atoi(depth)
	f, known := families[family]
	if !known || err != nil || k < 1 || k > MaxDepth {
		return Metric{}, fault.Invalid("metric", name,
			"one of "+strings.Join(Families(), ", ")+", with @ and a depth of 1 to "+strconv.Itoa(MaxDepth)+", as ndcg@10")
	}
	return Metric{Name: family + "@" + strconv.Itoa(k), LowerIsBetter: f.lowerIsBetter, depth: k, of: f.of}, nil
}

// ParseAll reads several; one named twice is an error.
func ParseAll(names []string) ([]Metric, error) {
	all := make([]Metric, 0, len(names))
	for _, name := range names {
		m, err := Parse(name)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(all, func(other Metric) bool { return other.Name == m.Name }) {
			return nil, fault.Invalid("metric", name, "named once")
		}
		all = append(all, m)
	}
	return all, nil
}

// linear is trec_eval's gain: the grade.
func linear(grade int) float64 { return float64(max(grade, 0)) }

// exponential is the gain of Burges et al., "Learning to Rank using Gradient Descent", ICML 2005: 2^grade - 1.
func exponential(grade int) float64 { return math.Exp2(float64(max(grade, 0))) - 1 }

// ndcg is the discounted cumulative gain, gain/log2(rank + 1), divided by that of the best possible ranking (Järvelin
// and Kekäläinen, "Cumulated gain-based evaluation of IR techniques", TOIS 2002).
func ndcg(gain func(grade int) float64) measure {
	discounted := func(grades []int) (sum float64) {
		for i, grade := range grades {
			if grade > 0 {
				sum += gain(grade) / math.Log2(float64(i)+2)
			}
		}
		return sum
	}
	return func(first []int, judged *Judged, depth int) float64 {
		ideal := discounted(judged.grades[:min(depth, judged.relevant)])
		if ideal == 0 {
			return 0
		}
		return discounted(first) / ideal
	}
}

// reciprocalRank is 1/rank of the first relevant document.
func reciprocalRank(first []int, _ *Judged, _ int) float64 {
	for i, grade := range first {
		if grade > 0 {
			return 1 / float64(i+1)
		}
	}
	return 0
}

// averagePrecision is the mean of the precision at each relevant document, those not found counting 0, as
// trec_eval's map_cut.
func averagePrecision(first []int, judged *Judged, _ int) float64 {
	found, sum := 0, 0.0
	for i, grade := range first {
		if grade > 0 {
			found++
			sum += float64(found) / float64(i+1)
		}
	}
	return share(sum, judged.relevant)
}

// recall is the share of the relevant documents that are found.
func recall(first []int, judged *Judged, _ int) float64 {
	return share(float64(relevantIn(first)), judged.relevant)
}

// precision is the share of relevant documents among as many as are asked for, so that an answer with fewer hits
// does not gain by that, as trec_eval's P.
func precision(first []int, _ *Judged, depth int) float64 {
	return share(float64(relevantIn(first)), depth)
}

// hit is 1 if anything relevant is found.
func hit(first []int, _ *Judged, _ int) float64 {
	return float64(min(relevantIn(first), 1))
}

// expectedReciprocalRank is the expected 1/rank of the document at which a user stops, satisfied by a grade with
// probability (2^grade - 1)/2^scale (Chapelle et al., "Expected Reciprocal Rank for Graded Relevance", CIKM 2009).
func expectedReciprocalRank(first []int, judged *Judged, _ int) float64 {
	goesOn, sum := 1.0, 0.0
	for i, grade := range first {
		satisfied := exponential(grade) / math.Exp2(float64(judged.scale))
		sum += goesOn * satisfied / float64(i+1)
		goesOn *= 1 - satisfied
	}
	return sum
}

// judgedShare is the share of hits that have a judgment: below 1 the other metrics take for granted what nobody
// looked at.
func judgedShare(first []int, _ *Judged, _ int) float64 {
	n := 0
	for _, grade := range first {
		if grade != Unjudged {
			n++
		}
	}
	return share(float64(n), len(first))
}

func unjudgedShare(first []int, judged *Judged, depth int) float64 {
	if len(first) == 0 {
		return 0
	}
	return 1 - judgedShare(first, judged, depth)
}

func relevantIn(first []int) (n int) {
	for _, grade := range first {
		if grade > 0 {
			n++
		}
	}
	return n
}

// share is a part of so many, 0 of none.
func share(part float64, of int) float64 {
	if of == 0 {
		return 0
	}
	return part / float64(of)
}
