package scoring

import (
	"cmp"
	"math"
	"slices"
)

// ledger records the contributions to every kept candidate in one block of
// memory, [kept][leg].
type ledger struct {
	legs       []Leg
	candidates []Candidate
	entries    []Contribution
	figures    []figures // of the entries, at the same index
	places     []place
	addends    []float64
}

// figures are what an entry points to.
type figures struct {
	rank            int
	raw, normalized float64
}

// place is what decides where a kept candidate stands in the ranking.
type place struct {
	sum       float64 // of the contributions, the same for every order of the legs
	raw       float64 // of the contributions in the order of the legs
	best      int     // best single rank
	row       int     // in the ledger
	candidate int
}

func newLedger(legs []Leg, candidates []Candidate) *ledger {
	cells := len(legs) * len(candidates)
	return &ledger{
		legs:       legs,
		candidates: candidates,
		entries:    make([]Contribution, cells),
		figures:    make([]figures, cells),
		places:     make([]place, 0, len(candidates)),
		addends:    make([]float64, len(legs)),
	}
}

// enter books a candidate in the next free row, and leaves that row free when
// the scheme does not keep the candidate.
func (l *ledger) enter(s scheme, candidate int) {
	p := place{best: math.MaxInt, row: len(l.places), candidate: candidate}
	for leg := range l.legs {
		o := observe(&l.candidates[candidate], leg, l.legs[leg].Kind)
		if o.Rank > 0 && !l.legs[leg].Degraded {
			p.best = min(p.best, o.Rank)
		}
		points := l.book(s, p.row*len(l.legs)+leg, leg, o)
		p.raw += points
		l.addends[leg] = points
	}
	p.sum = addUp(l.addends)
	if s.keeps(p.best < math.MaxInt, p.sum) {
		l.places = append(l.places, p)
	}
}

// book adds a leg's points and records why, in one step.
func (l *ledger) book(s scheme, cell, leg int, o Observation) float64 {
	entry, fig := &l.entries[cell], &l.figures[cell]
	*entry = Contribution{Leg: l.legs[leg].Name, Weight: l.legs[leg].Weight}
	if l.legs[leg].Degraded {
		return 0
	}
	fig.rank, fig.raw = o.Rank, o.Raw
	fig.normalized, entry.Contribution = s.points(leg, o)
	if fig.rank > 0 {
		entry.Rank = &fig.rank
	}
	if !math.IsNaN(fig.raw) {
		entry.Raw = &fig.raw
	}
	if !math.IsNaN(fig.normalized) {
		entry.Normalized = &fig.normalized
	}
	return entry.Contribution
}

// ranking closes the ledger: best first.
func (l *ledger) ranking(s scheme) []Fused {
	slices.SortFunc(l.places, func(a, b place) int {
		if order := cmp.Or(cmp.Compare(b.sum, a.sum), cmp.Compare(a.best, b.best)); order != 0 {
			return order
		}
		return cmp.Compare(l.candidates[a.candidate].ID, l.candidates[b.candidate].ID)
	})
	ranking := make([]Fused, len(l.places))
	for i, p := range l.places {
		from, to := p.row*len(l.legs), (p.row+1)*len(l.legs)
		ranking[i] = Fused{
			Index: p.candidate,
			ID:    l.candidates[p.candidate].ID,
			Raw:   p.raw,
			Score: clamp(s.score(p.sum, l.places[0].sum), 0, 1),
			Legs:  l.entries[from:to:to],
		}
	}
	return ranking
}

// observe gives what a leg says of a candidate, within the leg's scale: what is
// missing or not a number is unknown, and float32 noise beyond a bound is cut.
func observe(c *Candidate, leg int, kind Kind) Observation {
	if leg >= len(c.Observations) {
		return Observation{Raw: math.NaN()}
	}
	o := c.Observations[leg]
	o.Rank = max(o.Rank, 0)
	switch {
	case math.IsNaN(o.Raw) || math.IsInf(o.Raw, 0):
		o.Raw = math.NaN()
	case kind == Vector:
		o.Raw = clamp(o.Raw, -1, 1)
	default:
		o.Raw = clamp(o.Raw, 0, math.MaxFloat32)
	}
	return o
}
