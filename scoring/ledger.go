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
	*sheet
	candidate func(i int) *Candidate
	scheme    scheme
}

// place is what decides where a kept candidate stands in the ranking.
type place struct {
	sum       float64 // of the points, the same for every order of the legs
	raw       float64 // the sum in the order of the legs
	candidate int32
}

// book adds up the points of each candidate and puts those that the scheme keeps
// in their order.
func (l *ledger) book() {
	places, addends, falling := resize(l.places, l.candidates)[:0], l.addends, true
	for c := range l.candidates {
		p, returned := place{candidate: int32(c)}, false
		for leg, o := range l.row(c) {
			addends[leg] = l.points(leg, o)
			p.raw += addends[leg]
			returned = returned || o.returned()
		}
		p.sum = p.raw
		if len(addends) > 2 { // the order of two makes no difference
			p.sum = addUp(addends)
		}
		if l.scheme.keeps(returned, p.sum) {
			falling = falling && (len(places) == 0 || p.sum < places[len(places)-1].sum)
			places = append(places, p)
		}
	}
	if !falling { // an engine that adds up as we do has them in order
		slices.SortFunc(places, l.compare)
	}
	l.places = places
}

// compare is negative when a comes before b.
func (l *ledger) compare(a, b place) int {
	switch {
	case a.sum > b.sum:
		return -1
	case a.sum < b.sum:
		return 1
	default:
		return l.tie(int(a.candidate), int(b.candidate))
	}
}

// ranking writes out the places.
func (l *ledger) ranking() []Fused {
	ranking, last := takeRanking(len(l.places)), 1.0
	for i, p := range l.places {
		last = min(last, clamp(l.scheme.score(p.sum, l.places[0].sum), 1)) // rounding could lift it
		ranking[i] = Fused{Index: p.candidate, Raw: p.raw, Score: last, ledger: l}
	}
	return ranking
}

// points is what a leg adds for an observation.
func (l *ledger) points(leg int, o Observation) float64 {
	if l.legs[leg].Degraded {
		return 0
	}
	return l.scheme.points(leg, o)
}

// tie is negative when a comes before b, whose sums are equal.
func (l *ledger) tie(a, b int) int {
	if slices.Equal(l.row(a), l.row(b)) { // each leg ranks these two by their ids
		return strings.Compare(l.id(a), l.id(b))
	}
	return cmp.Or(cmp.Compare(l.best(a), l.best(b)), strings.Compare(l.id(a), l.id(b)))
}

func (l *ledger) id(candidate int) string { return l.candidate(candidate).ID }

// cell is one leg's record of one candidate. NaN: unknown.
type cell struct {
	Observation
	normalized float64
}

// explain appends what each leg adds for a candidate.
func (l *ledger) explain(contributions []Contribution, candidate int) []Contribution {
	n := len(contributions)
	contributions = slices.Grow(contributions, len(l.legs))[:n+len(l.legs)]
	for i, o := range l.row(candidate) {
		leg, to := &l.legs[i], &contributions[n+i]
		c := &to.cell
		c.Observation, c.normalized = o, math.NaN()
		to.Leg, to.Weight, to.Contribution = leg.Name, leg.Weight, 0
		if !leg.Degraded {
			c.normalized, to.Contribution = l.scheme.normalized(i, o), l.scheme.points(i, o)
		}
		to.Rank, to.Raw, to.Normalized = nil, known(&c.Raw), known(&c.normalized)
		if o.returned() {
			c.Rank = l.rank(candidate, i)
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
