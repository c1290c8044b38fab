package scoring

import "slices"

// MinMax divides a text score by the largest returned (its minimum is 0), and takes a
// cosine from the lowest returned, 0, to the highest, 1; equal cosines are all 1.
var MinMax = newNormalizer("min_max", normalization{
	scale: func(leg *Leg, window []float64) scale { return minMaxScale(leg.Kind, window) },
})

func minMaxScale(kind Kind, window []float64) scale {
	switch {
	case len(window) == 0:
		return scale{}
	case kind == Vector:
		lowest := slices.Min(window)
		return scale{offset: lowest, span: slices.Max(window) - lowest, flat: 1}
	default:
		return scale{span: slices.Max(window)}
	}
}
