package scoring

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// ledger adds up what every leg says of every candidate, and explains the sum to
// whoever asks about a chunk: by the scheme that made it, from the same
// observation.
type ledger struct {
	legs      []Leg
	scales    []bounds // one per leg
	candidate func(i int) *Candidate
	scheme    scheme
}

// place is what decides where a kept candidate stands in the ranking.
type place struct {
	sum       float64 // of the points, the same for every order of the legs
	raw       float64 // the sum in the order of the legs
	best      int     // best single rank
	candidate int
}

// book adds up the points of each candidate and puts those that the scheme keeps
// in their order.
func (l *ledger) book(s *sheet) {
	places, addends, falling := resize(s.places, s.candidates)[:0], s.addends, true
	for c := range s.candidates {
		p := place{best: math.MaxInt, candidate: c}
		for leg, o := range s.row(c) {
			addends[leg] = l.points(leg, o)
			p.raw += addends[leg]
			if o.Rank > 0 {
				p.best = min(p.best, o.Rank)
			}
		}
		p.sum = p.raw
		if len(addends) > 2 { // the order of two makes no difference
			p.sum = addUp(addends)
		}
		if l.scheme.keeps(p.best < math.MaxInt, p.sum) {
			falling = falling && (len(places) == 0 || p.sum < places[len(places)-1].sum)
			places = append(places, p)
		}
	}
	if !falling { // an engine that adds up as we do has them in order
		slices.SortFunc(places, l.compare)
	}
	s.places = places
}

// compare is negative when a comes before b.
func (l *ledger) compare(a, b place) int {
	switch {
	case a.sum > b.sum:
		return -1
	case a.sum < b.sum:
		return 1
	default:
		return l.tie(a, b)
	}
}

// points is what a leg adds for an observation.
func (l *ledger) points(leg int, o Observation) float64 {
	if l.legs[leg].Degraded {
		return 0
	}
	return l.scheme.points(leg, o)
}

// tie is negative when a comes before b, whose sums are equal.
func (l *ledger) tie(a, b place) int {
	if a.best != b.best {
		return cmp.Compare(a.best, b.best)
	}
	return strings.Compare(l.candidate(a.candidate).ID, l.candidate(b.candidate).ID)
}

// ranking writes out the places.
func (l *ledger) ranking(s *sheet) []Fused {
	ranking := takeRanking(len(s.places))
	for i, p := range s.places {
		f := &ranking[i]
		f.ledger, f.Index, f.Source, f.ID, f.Raw = l, p.candidate, 0, l.candidate(p.candidate).ID, p.raw
		f.Score = clamp(l.scheme.score(p.sum, s.places[0].sum), 1)
		if i > 0 {
			f.Score = min(f.Score, ranking[i-1].Score) // rounding could lift it
		}
	}
	return ranking
}

// cell is one leg's record of one candidate. NaN: unknown.
type cell struct {
	Observation
	normalized float64
}

// explain appends what each leg adds for a candidate.
func (l *ledger) explain(contributions []Contribution, candidate *Candidate) []Contribution {
	n := len(contributions)
	contributions = slices.Grow(contributions, len(l.legs))[:n+len(l.legs)]
	for i := range l.legs {
		leg, to := &l.legs[i], &contributions[n+i]
		c := &to.cell
		c.Observation, c.normalized = l.scales[i].observation(candidate, i), math.NaN()
		to.Leg, to.Weight, to.Contribution = leg.Name, leg.Weight, 0
		if !leg.Degraded {
			c.normalized, to.Contribution = l.scheme.normalized(i, c.Observation), l.scheme.points(i, c.Observation)
		}
		to.Rank, to.Raw, to.Normalized = nil, known(&c.Raw), known(&c.normalized)
		if c.Rank > 0 {
			to.Rank = &c.Rank
		}
	}
	return contributions
}

// known is nil for NaN.
func known(v *float64) *float64 {
	if math.IsNaN(*v) {
		return nil
	}
	return v
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

// observation is what the leg, at its place among the legs, says of a candidate, made
// fit for arithmetic: what is not finite is unknown, and float32 noise beyond a bound
// of the scale is cut.
func (b bounds) observation(c *Candidate, place int) Observation {
	if place < len(c.Observations) && b.fits(c.Observations[place]) {
		return c.Observations[place]
	}
	return b.fit(c, place)
}

func (b bounds) fits(o Observation) bool { return o.Raw > b.low && o.Raw <= b.high && o.Rank >= 0 }

func (b bounds) fit(c *Candidate, place int) Observation {
	if place >= len(c.Observations) || math.IsNaN(b.low) {
		return Observation{Raw: math.NaN()}
	}
	o := c.Observations[place]
	o.Rank = max(o.Rank, 0)
	switch {
	case o.Raw > b.low && o.Raw <= b.high:
	case math.IsInf(o.Raw, 0):
		o.Raw = math.NaN()
	case o.Raw <= b.low: // NaN stays NaN
		o.Raw = b.low
	case o.Raw > b.high:
		o.Raw = b.high
	}
	return o
}
