package scoring

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// ledger records what every leg says of every candidate and adds for it. Its
// cells are one block of memory without pointers, [candidate][leg]. Contributions
// are made of them for the chunks that somebody asks about.
type ledger struct {
	legs       []Leg
	candidates []Candidate
	cells      []cell
}

// cell is one leg's record of one candidate. NaN: unknown.
type cell struct {
	Observation
	normalized, points float64
}

// place is what decides where a kept candidate stands in the ranking.
type place struct {
	sum       float64 // of the points, the same for every order of the legs
	best      int     // best single rank
	candidate int
}

// openLedger takes down the observations: nothing of a degraded leg.
func openLedger(legs []Leg, candidates []Candidate) *ledger {
	l := &ledger{legs: legs, candidates: candidates, cells: make([]cell, len(legs)*len(candidates))}
	for c := range candidates {
		seen, row := candidates[c].Observations, l.row(c)
		for leg := range row {
			row[leg].Raw = math.NaN()
			if leg < len(seen) && !legs[leg].Degraded {
				row[leg].Observation = seen[leg].within(legs[leg].Kind.bounds())
			}
		}
	}
	return l
}

// row is what all legs say of one candidate.
func (l *ledger) row(candidate int) []cell {
	return l.cells[candidate*len(l.legs) : (candidate+1)*len(l.legs)]
}

// window appends a leg's known raw scores to values: of the chunks it returned,
// or of all candidates.
func (l *ledger) window(values []float64, leg int, all bool) []float64 {
	for i := leg; i < len(l.cells); i += len(l.legs) {
		if c := &l.cells[i]; c.Known() && (all || c.Rank > 0) {
			values = append(values, c.Raw)
		}
	}
	return values
}

// book adds up the points of each candidate and gives the places of those that
// the scheme keeps, in order.
func (l *ledger) book(s scheme) []place {
	places := make([]place, 0, len(l.candidates))
	addends := make([]float64, len(l.legs))
	for c := range l.candidates {
		p := place{best: math.MaxInt, candidate: c}
		row := l.row(c)
		for leg := range row {
			row[leg].normalized, row[leg].points = math.NaN(), 0
			if !l.legs[leg].Degraded {
				row[leg].normalized, row[leg].points = s.points(leg, row[leg].Observation)
			}
			if row[leg].Rank > 0 {
				p.best = min(p.best, row[leg].Rank)
			}
			addends[leg] = row[leg].points
		}
		p.sum = addUp(addends)
		if s.keeps(p.best < math.MaxInt, p.sum) {
			places = append(places, p)
		}
	}
	slices.SortFunc(places, l.compare)
	return places
}

// compare is negative when a comes before b.
func (l *ledger) compare(a, b place) int {
	switch {
	case a.sum > b.sum:
		return -1
	case a.sum < b.sum:
		return 1
	case a.best != b.best:
		return cmp.Compare(a.best, b.best)
	default:
		return strings.Compare(l.candidates[a.candidate].ID, l.candidates[b.candidate].ID)
	}
}

// ranking writes out the places.
func (l *ledger) ranking(s scheme, places []place) []Fused {
	ranking := make([]Fused, len(places))
	for i, p := range places {
		f := &ranking[i]
		f.ledger, f.Index, f.ID = l, p.candidate, l.candidates[p.candidate].ID
		f.Score = clamp(s.score(p.sum, places[0].sum), 1)
		if i > 0 {
			f.Score = min(f.Score, ranking[i-1].Score) // rounding could lift it
		}
		for _, c := range l.row(p.candidate) {
			f.Raw += c.points
		}
	}
	return ranking
}

// explain writes the contribution that the cell recorded; it points into the cell.
func (c *cell) explain(to *Contribution, leg *Leg) {
	to.Leg, to.Weight, to.Contribution = leg.Name, leg.Weight, c.points
	to.Rank, to.Raw, to.Normalized = nil, known(&c.Raw), known(&c.normalized)
	if c.Rank > 0 {
		to.Rank = &c.Rank
	}
}

// known is nil for NaN.
func known(v *float64) *float64 {
	if math.IsNaN(*v) {
		return nil
	}
	return v
}

// bounds are those of the kind's scale.
func (k Kind) bounds() (low, high float64) {
	if k == Vector {
		return -1, 1
	}
	return 0, math.MaxFloat32
}

// within makes an observation fit for arithmetic: what is not finite is
// unknown, and float32 noise beyond a bound of the scale is cut.
func (o Observation) within(low, high float64) Observation {
	if math.IsInf(o.Raw, 0) {
		o.Raw = math.NaN()
	}
	// NaN stays NaN
	return Observation{Rank: max(o.Rank, 0), Raw: min(max(o.Raw, low), high)}
}
