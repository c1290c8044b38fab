package scoring

import (
	"maps"
	"slices"

	"github.com/hybridge-search/hybridge/fault"
)

// Normalizer brings the raw scores of a leg to a scale that legs share, for linear
// fusion. Each is declared by newNormalizer in a file of its own, and nowhere else.
type Normalizer string

// normalization is the behaviour of a Normalizer. Nil functions do not apply.
type normalization struct {
	// scale prepares a leg's scale from its raw scores in the window, which it may
	// overwrite.
	scale func(leg *Leg, window []float64) scale
	// everyKnown: every known raw score counts. Otherwise only those of chunks that
	// the leg returned do.
	everyKnown bool
	// score maps a normalised score, or a weighted mean of some, into [0, 1]; nil
	// where it is there already.
	score func(normalized float64) float64
	// comparable reports whether several knowledge bases, searched by these legs, have
	// the same scales.
	comparable func(plans [][]Leg) bool
}

var normalizers = map[Normalizer]normalization{}

func newNormalizer(name Normalizer, n normalization) Normalizer {
	normalizers[name] = n
	return name
}

// Normalizers lists the normalisers by name.
func Normalizers() []Normalizer { return slices.Sorted(maps.Keys(normalizers)) }

// AcceptedNormalizers lists the normalizers in words: "a, b or c".
func AcceptedNormalizers() string { return inWords(Normalizers()) }

// Validate refuses a name that no normaliser has.
func (n Normalizer) Validate() error {
	if _, ok := normalizers[n]; !ok {
		return fault.Invalid("normalizer", string(n), AcceptedNormalizers())
	}
	return nil
}

// normalization looks up the normalizer, MinMax if unknown.
func (n Normalizer) normalization() normalization {
	if found, ok := normalizers[n]; ok {
		return found
	}
	return normalizers[MinMax]
}

// scale maps the raw scores of one leg to (raw − offset)/span.
type scale struct {
	offset, span float64
	flat         float64 // the value of every score where the span is 0
	absent       float64 // the value of a chunk whose score does not count
	unbounded    bool    // by [0, 1], to which other values are cut
}

func (s scale) of(raw float64) float64 {
	v := s.flat
	if s.span > 0 {
		v = (raw - s.offset) / s.span
	}
	if s.unbounded {
		return v
	}
	return clamp(v, 1)
}

// flatDeviation is the deviation, relative to the mean, up to which scores are equal
// but for rounding.
const flatDeviation = 1e-9

// isFlat reports whether the scores of these moments are all the same.
func (m Moments) isFlat() bool { return !(m.Deviation > flatDeviation*max(1, m.Mean, -m.Mean)) }
