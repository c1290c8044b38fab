package scoring

import (
	"math"
	"slices"
	"strings"
)

// Defaults of a Fusion's numbers, and limits, so that no sum overflows.
const (
	DefaultRRFK  = 60.0
	DefaultPivot = 10.0

	maxWeight = 1e9
	maxRRFK   = 1e6
)

// Leg is a planned leg for the fusion: its weight and the parameters of its scale.
type Leg struct {
	Name   string  `json:"name"`
	Kind   Kind    `json:"kind"`
	Weight float64 `json:"weight"` // finite, >= 0
	// K is how many candidates the leg was planned with. No formula uses it.
	K int `json:"k"`
	// Moments are, for z_score, the moments of the leg's raw scores over the whole
	// knowledge base; nil takes the moments of the known raw scores of the window.
	Moments *Moments `json:"moments,omitempty"`
	// Bound is, for theoretical, the largest text score that the query can have
	// (Σ weight·idf·BM25Factor); 0 takes the largest observed.
	Bound float64 `json:"bound,omitempty"`
	// Evidence replaces the raw scores in the formula: one value per candidate,
	// NaN where unknown; nil: raw scores count. Moments are then over evidence.
	Evidence []float64 `json:"-"`
	// Degraded marks a leg that was planned but took no part: it adds nothing
	// and stays in the denominators.
	Degraded bool `json:"degraded,omitempty"`
}

// Fusion turns legs into one ranking. It is a plain value; its methods are safe
// for concurrent use and never change their arguments.
type Fusion struct {
	Method     Method     `json:"method"`
	RRFK       float64    `json:"rrf_k,omitempty"`      // rrf only
	Normalizer Normalizer `json:"normalizer,omitempty"` // linear only
	// Pivot is the text score whose saturated value s/(s+pivot) is one half;
	// 0 means DefaultPivot.
	Pivot float64 `json:"pivot,omitempty"`
	// Saturated makes script_score use saturated text scores.
	Saturated bool `json:"saturated,omitempty"`
}

// Contribution is one leg's part in the score of one chunk, and why. Nil: unknown.
type Contribution struct {
	Leg        string   `json:"leg"`
	Rank       *int     `json:"rank"` // nil: the leg did not return the chunk
	Raw        *float64 `json:"raw"`  // on the leg's own scale
	Evidence   *float64 `json:"evidence,omitempty" doc:"What stands in place of raw where question and chunks are in different languages: the cosine without what texts of these languages have in common, 1 for what a question and its answer usually have."`
	Normalized *float64 `json:"normalized"` // in [0, 1]; unbounded under z_score and dbsf
	// Weight is the leg's weight as the formula used it: linear normalises
	// weights to the sum 1.
	Weight       float64 `json:"weight"`
	Contribution float64 `json:"contribution"`
}

// Fused is a chunk with its place in the fused ranking.
type Fused struct {
	Index  int32   // into the candidates
	Source int32   // in a merged ranking: the ranking it comes from
	Raw    float64 // the float64 sum of the contributions in leg order, exactly
	Score  float64 // in [0, 1]
	ledger *ledger
}

// ID is the candidate's.
func (f *Fused) ID() string { return f.ledger.id(int(f.Index)) }

// Legs explains the chunk: the contribution of each leg, in their order.
func (f *Fused) Legs() []Contribution { return Explain([]Fused{*f})[0] }

// Explain gives the result of Legs for each of several chunks, with less work.
func Explain(chunks []Fused) [][]Contribution {
	rankTogether(chunks)
	legs := 0
	for i := range chunks {
		legs += chunks[i].legs()
	}
	all, normalized := make([]Contribution, legs), make([]float64, legs)
	explained := make([][]Contribution, len(chunks))
	for i := range chunks {
		if n := chunks[i].legs(); n > 0 {
			explained[i] = all[:n:n]
			chunks[i].ledger.explain(int(chunks[i].Index), explained[i], normalized)
			all, normalized = all[n:], normalized[n:]
		}
	}
	return explained
}

// legs is how many legs explain the chunk.
func (f *Fused) legs() int {
	if f.ledger == nil {
		return 0
	}
	return len(f.ledger.legs)
}

// rankTogether finds the ranks of chunks that are next to each other in one ranking.
func rankTogether(chunks []Fused) {
	var those []int
	for i := range chunks {
		l := chunks[i].ledger
		if l == nil || !l.unranked {
			continue
		}
		those = append(those, int(chunks[i].Index))
		if last := i == len(chunks)-1; last || chunks[i+1].ledger != l {
			l.rankThese(those)
			those = those[:0]
		}
	}
}

// bestRank is the best rank that a single leg gave the chunk, MaxInt when no
// leg returned it. It decides ties.
func (f *Fused) bestRank() int {
	if f.ledger == nil {
		return math.MaxInt
	}
	return f.ledger.best(int(f.Index))
}

// Fuse ranks the candidates, best first; equal sums are ordered by the best
// single rank, then by id. It accepts anything: what has no meaning
// counts as the default or as 0, unknown scores never spread. Without legs all have 0.
// The ids of the candidates must not change while the ranking is in use.
func (f Fusion) Fuse(legs []Leg, candidates []Candidate) []Fused {
	if len(candidates) == 0 {
		return nil
	}
	if len(legs) == 0 {
		return listed(candidates)
	}
	f, legs = f.usable(legs)
	w, m := newWindow(legs, candidates), f.method()
	if m.byRank && w.unranked {
		w.rankAll()
	}
	kinds, weights := columnsOf(legs)
	l := &ledger{window: w, scheme: m.scheme(f, w), score: m.scorer(f, kinds, weights)}
	return l.ranking()
}

// listed is the ranking of candidates that no leg was asked about.
func listed(candidates []Candidate) []Fused {
	l := &ledger{window: newWindow(nil, candidates)}
	ranking := make([]Fused, len(candidates))
	for i := range ranking {
		ranking[i] = Fused{Index: int32(i), ledger: l} //nolint:gosec // an engine gives at most 10000
	}
	slices.SortStableFunc(ranking, func(a, b Fused) int { return strings.Compare(a.ID(), b.ID()) })
	return ranking
}

// withDefaults fills in the numbers that are not given.
func (f Fusion) withDefaults() Fusion {
	if !(f.RRFK >= 1 && f.RRFK <= maxRRFK) {
		f.RRFK = DefaultRRFK
	}
	if !(f.Pivot > 0 && f.Pivot <= math.MaxFloat32) {
		f.Pivot = DefaultPivot
	}
	return f
}

// usable fills in defaults and gives legs of its own with weights as the
// formula uses them.
func (f Fusion) usable(legs []Leg) (Fusion, []Leg) {
	f, m := f.withDefaults(), f.method()
	legs = slices.Clone(legs)
	for i := range legs {
		legs[i].Weight = clamp(legs[i].Weight, maxWeight)
		legs[i].Bound = clamp(legs[i].Bound, math.MaxFloat32)
	}
	if m.alone {
		legs = legs[:1]
	}
	if m.weigh != nil {
		_, weights := columnsOf(legs)
		m.weigh(weights)
		for i := range legs {
			legs[i].Weight = weights[i]
		}
	}
	return f, legs
}

// columnsOf are the kinds and the weights of legs.
func columnsOf(legs []Leg) (kinds []Kind, weights []float64) {
	kinds, weights = make([]Kind, len(legs)), make([]float64, len(legs))
	for i := range legs {
		kinds[i], weights[i] = legs[i].Kind, legs[i].Weight
	}
	return kinds, weights
}
