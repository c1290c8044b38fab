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
	*window
	scheme scheme
	score  scorer // nil: all scores are 0
}

// place holds the sort keys of a candidate in the ranking.
type place struct {
	sum       float64 // of the points, the same for every order of the legs
	raw       float64 // the sum in the order of the legs
	candidate int32
}

// places adds up the points of each candidate and puts those that the scheme keeps
// in their order.
func (l *ledger) places() []place {
	places, addends, falling := make([]place, 0, len(l.candidates)), make([]float64, len(l.legs)), true
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
	return places
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

// ranking gives the chunks at their places, with their scores.
func (l *ledger) ranking() []Fused {
	places, last := l.places(), 1.0
	ranking := make([]Fused, len(places))
	for i, p := range places {
		last = min(last, clamp(l.score(p.sum, places[0].sum), 1)) // rounding could lift it
		ranking[i] = Fused{Index: p.candidate, Raw: p.raw, Score: last, ledger: l}
	}
	return ranking
}

// points gives a leg's points for an observation.
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

// explain writes the contribution of each leg for a candidate. The contributions point into
// the row of the candidate and into normalized.
func (l *ledger) explain(candidate int, contributions []Contribution, normalized []float64) {
	row := l.row(candidate)
	for i := range row {
		leg, o, c := &l.legs[i], &row[i], &contributions[i]
		c.Leg, c.Weight, c.Raw = leg.Name, leg.Weight, orNil(&o.Raw)
		if leg.Evidence != nil {
			raw := l.raw(candidate, i)
			c.Raw, c.Evidence = orNil(&raw), orNil(&o.Raw)
		}
		if !leg.Degraded {
			normalized[i] = l.scheme.normalized(i, *o)
			c.Normalized, c.Contribution = orNil(&normalized[i]), l.scheme.points(i, *o)
		}
		if o.returned() {
			l.rank(candidate, i)
			c.Rank = &o.Rank
		}
	}
}

// orNil is nil for NaN.
func orNil(v *float64) *float64 {
	if math.IsNaN(*v) {
		return nil
	}
	return v
}
