package scoring

import "sync"

// sheet is what a fusion works on: what every leg says of every candidate, and
// sums. The next fusion writes over it, so nothing of it may be in a ranking.
type sheet struct {
	legs         []Leg
	candidates   int
	observations []Observation // [candidate][leg]
	places       []place
	values       []float64
	addends      []float64 // one per leg
}

var sheets = sync.Pool{New: func() any { return new(sheet) }}

// open takes down what the legs say of n candidates.
func (l *ledger) open(n int) *sheet {
	s := sheets.Get().(*sheet)
	s.legs, s.candidates = l.legs, n
	s.observations = resize(s.observations, n*len(l.legs))
	s.addends = resize(s.addends, len(l.legs))
	for i := range n {
		c, row := l.candidate(i), s.row(i)
		copied := copy(row, c.Observations)
		for leg := range row {
			if leg >= copied || !l.scales[leg].fits(row[leg]) {
				row[leg] = l.scales[leg].fit(c, leg)
			}
		}
	}
	return s
}

// close gives the memory to the next fusion.
func (s *sheet) close() {
	s.legs = nil
	sheets.Put(s)
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
		if o := s.observations[i]; o.Known() && (all || o.Rank > 0) {
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

// Recycle gives the memory of a ranking to a next one, once nobody looks at it any
// more, nor at what was cut out of it.
func Recycle(ranking []Fused) {
	if len(ranking) > 0 {
		clear(ranking) // what explains it may go
		rankings.Put(&ranking)
	}
}
