package scoring

import (
	"math"
	"sync"
)

// sheet is what a fusion works on: what every leg says of every candidate, and
// sums. It explains the ranking too, so it is the next fusion's only once that is
// given back.
type sheet struct {
	legs         []Leg
	candidates   int
	observations []Observation // [candidate][leg], fit for arithmetic
	unranked     bool          // some of them are
	places       []place
	values       []float64
	addends      []float64 // one per leg
	ranks        []int32   // [candidate][leg], of those without one that were asked for; 0: not yet
	ranked       int       // how many candidates were
}

var sheets = sync.Pool{New: func() any { return new(sheet) }}

// open takes down what the legs say of n candidates.
func open(legs []Leg, n int, candidate func(i int) *Candidate) *sheet {
	s := sheets.Get().(*sheet)
	s.legs, s.candidates, s.ranks, s.ranked = legs, n, s.ranks[:0], 0
	s.observations = resize(s.observations, n*len(legs))
	s.addends = resize(s.addends, len(legs))
	scales, lowest := scalesOf(legs), 0
	for i := range n {
		said, row := candidate(i).Observations, s.row(i)
		copied := copy(row, said)
		for leg := range row {
			if leg >= copied || !scales[leg].fits(row[leg]) {
				row[leg] = scales[leg].fit(said, leg)
			}
			row[leg].Raw += 0 // of -0, which nobody wants to see, that makes 0
			lowest = min(lowest, row[leg].Rank)
		}
	}
	s.unranked = lowest == Unranked
	return s
}

// row is what all legs say of one candidate.
func (s *sheet) row(candidate int) []Observation {
	return s.observations[candidate*len(s.legs) : (candidate+1)*len(s.legs)]
}

// known gives a leg's known raw scores, of the chunks it returned or of all
// candidates, until the next call.
func (s *sheet) known(leg int, all bool) []float64 {
	s.values = s.values[:0]
	for i := leg; i < len(s.observations); i += len(s.legs) {
		if o := s.observations[i]; o.Known() && (all || o.returned()) {
			s.values = append(s.values, o.Raw)
		}
	}
	return s.values
}

// largest is a leg's largest raw score, of all candidates, and at least 0.
func (s *sheet) largest(leg int) float64 {
	largest := 0.0
	for i := leg; i < len(s.observations); i += len(s.legs) {
		if raw := s.observations[i].Raw; raw > largest { // not where it is unknown
			largest = raw
		}
	}
	return largest
}

// bounds are those of a leg's scale: nothing is within those of a degraded one.
type bounds struct{ low, high float64 }

// scalesOf gives the bounds of each leg.
func scalesOf(legs []Leg) []bounds {
	scales := make([]bounds, len(legs))
	for i := range legs {
		scales[i] = legs[i].bounds()
	}
	return scales
}

func (l *Leg) bounds() bounds {
	switch {
	case l.Degraded:
		return bounds{math.NaN(), math.NaN()}
	case l.Kind == Vector:
		return bounds{-1, 1}
	default:
		return bounds{0, math.MaxFloat32}
	}
}

// fits reports whether an observation is fit for arithmetic.
func (b bounds) fits(o Observation) bool {
	return o.Raw >= b.low && o.Raw <= b.high && o.Rank >= Unranked
}

// fit makes fit what is said of a candidate by the leg at that place: what is not finite
// is unknown, and float32 noise beyond a bound of the scale is cut.
func (b bounds) fit(said []Observation, leg int) Observation {
	if leg >= len(said) || math.IsNaN(b.low) {
		return Observation{Raw: math.NaN()}
	}
	o := said[leg]
	switch {
	case o.Raw > b.low && o.Raw <= b.high:
	case math.IsInf(o.Raw, 0):
		o.Raw = math.NaN()
	case o.Raw <= b.low: // NaN stays NaN
		o.Raw = b.low
	case o.Raw > b.high:
		o.Raw = b.high
	}
	if o.Rank < Unranked || o.Rank == Unranked && !o.Known() {
		o.Rank = 0
	}
	return o
}

// resize gives n values of any content.
func resize[T any](values []T, n int) []T {
	if cap(values) < n {
		return make([]T, n)
	}
	return values[:n]
}

var rankings sync.Pool

func takeRanking(n int) []Fused {
	if kept, ok := rankings.Get().(*[]Fused); ok {
		return resize(*kept, n)
	}
	return make([]Fused, n)
}

// Recycle gives the memory of a ranking by Fuse to a next one, once nobody looks at it any
// more, nor at what was cut out of it, nor asks for an explanation.
func Recycle(ranking []Fused) {
	if len(ranking) == 0 {
		return
	}
	s := ranking[0].ledger.sheet
	clear(ranking)
	rankings.Put(&ranking)
	s.legs = nil
	sheets.Put(s)
}
