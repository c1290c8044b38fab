package scoring

import (
	"maps"
	"slices"
	"strings"
)

// Method is how the legs' scores become one ranking. Each is declared by newMethod in
// a file of its own, and nowhere else.
type Method string

// method is the behaviour of a Method. Nil functions do not apply.
type method struct {
	// alone: the first leg is the only one that counts.
	alone bool
	// weigh converts the weights to the ones in the formula.
	weigh func(weights []float64)
	// scheme prepares the formula for one list of candidates.
	scheme func(f Fusion, w *window) scheme
	// scorer prepares how a sum becomes a score in [0, 1], given the best sum of the list. A score never falls
	// where the sum rises.
	scorer func(f Fusion, kinds []Kind, weights []float64) scorer
	// curve is how points follow from a column, see Columns; nil: all are straight.
	curve func(f Fusion, kind Kind) curve
	// byRank: the formula looks at ranks, so those of a joint ranking are worked out.
	byRank bool
	// comparable reports whether the raw sums of several knowledge bases, searched by
	// these legs, are on one scale.
	comparable func(f Fusion, plans [][]Leg) bool
	// relative reports whether scores are relative to the best sum of the list.
	relative func(f Fusion) bool
}

// scheme is one method of fusion, prepared for one list of candidates.
type scheme interface {
	// points gives the contribution of a leg that took part to a chunk.
	points(leg int, o Observation) float64
	// normalized gives the score to show beside its points (NaN: unknown).
	normalized(leg int, o Observation) float64
	// keeps decides whether a chunk belongs in the ranking, by whether a leg
	// that took part returned it, and by its sum.
	keeps(returned bool, sum float64) bool
}

// scorer maps a sum into [0, 1].
type scorer func(sum, best float64) float64

var methods = map[Method]method{}

func newMethod(name Method, m method) Method {
	methods[name] = m
	return name
}

// Methods lists the methods of fusion by name.
func Methods() []Method { return slices.Sorted(maps.Keys(methods)) }

// method looks up the method of the fusion, RRF if unknown.
func (f Fusion) method() method {
	if m, ok := methods[f.Method]; ok {
		return m
	}
	return methods[RRF]
}

// inWords writes a list of names as "a, b or c".
func inWords[T ~string](names []T) string {
	var b strings.Builder
	for i, name := range names {
		switch {
		case i == 0:
		case i == len(names)-1:
			b.WriteString(" or ")
		default:
			b.WriteString(", ")
		}
		b.WriteString(string(name))
	}
	return b.String()
}
