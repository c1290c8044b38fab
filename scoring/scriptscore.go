package scoring

import "math"

// scriptScore is the weighted sum of points as they are: a text leg's raw
// score, or s/(s+pivot) when saturated, and a vector leg's cosine + 1, 0 where
// unknown. A raw score counts whether or not its leg returned the chunk.
// Weights are not normalised. The score is relative to the best chunk of the
// list; saturated sums have a bound, and are relative to that.
type scriptScore struct {
	legs      []Leg
	pivot     float64
	saturated bool
	bound     float64
	largest   []float64 // raw score of each text leg, to show shares of it
}

func newScriptScore(f Fusion, on *sheet) *scriptScore {
	s := &scriptScore{legs: on.legs, pivot: f.Pivot, saturated: f.Saturated, largest: make([]float64, len(on.legs))}
	bounds := on.addends
	for i, leg := range on.legs {
		bounds[i] = leg.Weight
		if leg.Kind == Vector {
			bounds[i] = 2 * leg.Weight
			continue
		}
		s.largest[i] = on.largest(i)
	}
	s.bound = addUp(bounds)
	return s
}

func (s *scriptScore) points(leg int, o Observation) float64 {
	l := &s.legs[leg]
	switch {
	case !o.Known():
		return 0
	case l.Kind == Vector:
		return l.Weight * (o.Raw + 1)
	case s.saturated:
		return l.Weight * saturate(o.Raw, s.pivot)
	default:
		return l.Weight * o.Raw
	}
}

func (s *scriptScore) normalized(leg int, o Observation) float64 {
	switch {
	case !o.Known():
		return math.NaN()
	case s.legs[leg].Kind == Vector:
		return (1 + o.Raw) / 2
	case s.saturated:
		return saturate(o.Raw, s.pivot)
	default:
		return ratio(o.Raw, s.largest[leg])
	}
}

func (s *scriptScore) keeps(returned bool, sum float64) bool { return returned || sum > 0 }

func (s *scriptScore) score(sum, best float64) float64 {
	if s.saturated {
		return ratio(sum, s.bound)
	}
	return ratio(sum, best)
}

// saturate maps a text score >= 0 into [0, 1), one half at the pivot.
func saturate(score, pivot float64) float64 { return score / (score + pivot) }
