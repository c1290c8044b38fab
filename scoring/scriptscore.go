package scoring

import (
	"math"
	"slices"
)

// ScriptScore is the weighted sum of points as they are: a text leg's raw
// score, or s/(s+pivot) when saturated, and a vector leg's cosine + 1, 0 where
// unknown. A raw score counts whether or not its leg returned the chunk.
// A signal's points are itself. Weights are not normalised. The score is relative to the best chunk of the
// list; saturated sums have a bound, and are relative to that.
var ScriptScore = newMethod("script_score", method{
	scheme: newScriptScore,
	scorer: shareOfBest,
	curve: func(f Fusion, kind Kind) curve {
		if f.Saturated && kind == Text {
			return saturating
		}
		return straight
	},
	comparable: func(_ Fusion, plans [][]Leg) bool { return sameWeights(plans) },
	relative:   func(f Fusion) bool { return !f.Saturated },
})

type scriptScore struct {
	legs      []scored
	pivot     float64
	saturated bool
}

// scored holds the parameters of a leg in the sum.
type scored struct {
	weight  float64
	kind    Kind
	largest float64 // raw score of a text leg, to show shares of it
}

func newScriptScore(f Fusion, w *window) scheme {
	s := &scriptScore{legs: make([]scored, len(w.legs)), pivot: f.Pivot, saturated: f.Saturated}
	for i := range w.legs {
		l := scored{weight: w.legs[i].Weight, kind: w.legs[i].Kind}
		if l.kind != Vector {
			l.largest = w.largest(i)
		}
		s.legs[i] = l
	}
	return s
}

// shareOfBest divides by the best sum, or by the largest that saturated sums can have.
func shareOfBest(f Fusion, kinds []Kind, weights []float64) scorer {
	if !f.Saturated {
		return ratio
	}
	bounds := slices.Clone(weights)
	for i := range bounds {
		if kinds[i] == Vector {
			bounds[i] *= 2
		}
	}
	bound := addUp(bounds)
	return func(sum, _ float64) float64 { return ratio(sum, bound) }
}

func (s *scriptScore) points(leg int, o Observation) float64 {
	l := &s.legs[leg]
	switch {
	case !o.Known():
		return 0
	case l.kind == Vector:
		return l.weight * (o.Raw + 1)
	case s.saturated && l.kind == Text:
		return l.weight * saturate(o.Raw, s.pivot)
	default:
		return l.weight * o.Raw
	}
}

func (s *scriptScore) normalized(leg int, o Observation) float64 {
	l := &s.legs[leg]
	switch {
	case !o.Known():
		return math.NaN()
	case l.kind == Vector:
		return (1 + o.Raw) / 2
	case l.kind == Signal:
		return o.Raw
	case s.saturated:
		return saturate(o.Raw, s.pivot)
	default:
		return ratio(o.Raw, l.largest)
	}
}

func (s *scriptScore) keeps(returned bool, sum float64) bool { return returned || sum > 0 }

// saturate maps a text score >= 0 into [0, 1), one half at the pivot.
func saturate(score, pivot float64) float64 { return score / (score + pivot) }
