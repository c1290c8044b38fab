package scoring

import (
	"math"
	"slices"
)

// Normalizer brings the raw scores of a leg to a scale that legs share.
type Normalizer string

// The normalisers of linear fusion. A chunk that the leg did not return counts
// as 0, except under z_score, which takes every known raw score.
const (
	// MinMax: a text score over the largest returned (its minimum is 0); a
	// cosine from the lowest returned (0) to the highest (1), 1 when all are equal.
	MinMax Normalizer = "min_max"
	// L2: raw/√Σraw² over the returned chunks; negative cosines count as 0, so
	// that a contrary chunk neither scores nor dilutes.
	L2 Normalizer = "l2"
	// ZScore: (raw − mean)/deviation, by the leg's moments over the knowledge
	// base where it has them. An unknown raw score counts as the lowest z known
	// in the window, no deviation as 0.
	ZScore Normalizer = "z_score"
	// Theoretical: a text score over the largest that the query can have,
	// (1 + cosine)/2.
	Theoretical Normalizer = "theoretical"
)

// flat is the deviation, relative to the mean, below which scores are equal but
// for rounding.
const flat = 1e-9

// scale maps the raw scores of one leg to (raw − offset)/span within [0, 1].
type scale struct {
	offset, span float64
	flat         float64 // the value of every known score where the span is 0
	absent       float64 // the value of an unknown score
	// standard marks a z-score: not bounded by [0, 1], and made also of scores
	// of chunks that the leg did not return.
	standard bool
}

func (s scale) of(o Observation) float64 {
	if !o.Known() || (!o.returned() && !s.standard) {
		return s.absent
	}
	v := s.flat
	if s.span > 0 {
		v = (o.Raw - s.offset) / s.span
	}
	if s.standard {
		return v
	}
	return clamp(v, 1)
}

// scales prepares one scale per leg from the window of candidates.
func (n Normalizer) scales(w *window) []scale {
	scales := make([]scale, len(w.legs))
	for leg := range w.legs {
		scales[leg] = n.scale(&w.legs[leg], w.known(leg, n == ZScore))
	}
	return scales
}

// scale prepares the scale of a leg from its known raw scores in the window, which
// it may overwrite.
func (n Normalizer) scale(leg *Leg, window []float64) scale {
	switch n {
	case L2:
		return scale{span: length(window)}
	case ZScore:
		return standardScale(leg.Moments, window)
	case Theoretical:
		return theoreticalScale(leg, window)
	case MinMax:
	}
	return minMaxScale(leg.Kind, window)
}

func minMaxScale(kind Kind, window []float64) scale {
	switch {
	case len(window) == 0:
		return scale{}
	case kind == Vector:
		last := slices.Min(window)
		return scale{offset: last, span: slices.Max(window) - last, flat: 1}
	default:
		return scale{span: slices.Max(window)}
	}
}

func theoreticalScale(leg *Leg, window []float64) scale {
	switch {
	case leg.Kind == Vector:
		return scale{offset: -1, span: 2}
	case leg.Bound > 0:
		return scale{span: leg.Bound}
	default:
		return minMaxScale(Text, window)
	}
}

func standardScale(m *Moments, window []float64) scale {
	lowest := math.NaN()
	if len(window) > 0 {
		lowest = slices.Min(window)
	}
	if m == nil {
		own := momentsOf(window)
		m = &own
	}
	s := scale{offset: m.Mean, span: m.Deviation, standard: true}
	if !(s.span > flat*max(1, math.Abs(s.offset))) {
		s.span = 0
	}
	if len(window) > 0 {
		s.absent = s.of(Observation{Raw: lowest})
	}
	return s
}

// length is the Euclidean norm of the non-negative values; it overwrites them.
func length(values []float64) float64 {
	for i, v := range values {
		values[i] = max(v, 0) * max(v, 0)
	}
	return math.Sqrt(addUpAll(values))
}
