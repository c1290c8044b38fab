package scoring

import "math"

// L2 is raw/√Σraw² over the returned chunks. A negative cosine counts as 0, so that a
// contrary chunk neither scores nor dilutes.
var L2 = newNormalizer("l2", normalization{
	scale: func(_ *Leg, window []float64) scale { return scale{span: length(window)} },
})

// length is the Euclidean norm of the non-negative values; it overwrites them.
func length(values []float64) float64 {
	for i, v := range values {
		values[i] = max(v, 0) * max(v, 0)
	}
	return math.Sqrt(addUpAll(values))
}
