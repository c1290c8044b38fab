package engine

import (
	"math"
	"time"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/filter"
)

// Signal scores a chunk by one of its fields, independently of the question: a number in
// [0, 1]. Exactly one of Recency, Number and Match is set.
type Signal struct {
	Field   string
	Recency *Recency
	Number  *Number
	Match   []filter.Value // 1 where the field has one of these
}

// Recency halves with each HalfLife of a date's age, after Offset; the future has age 0:
//
//	2^(-max(0, age - offset)/half-life)
//
// A date is a string as ParseMoment takes it, or a number of seconds since 1970.
type Recency struct {
	Now              time.Time
	HalfLife, Offset time.Duration
}

// Number maps a number v > 0 into [0, 1]; others give 0.
type Number struct {
	Shape Shape
	Pivot float64 // > 0
}

// Shape is the curve that maps a number into [0, 1].
type Shape string

// The shapes of a number.
const (
	Saturation Shape = "saturation" // v/(v + pivot): half at the pivot
	Log        Shape = "log"        // ln(1 + v)/ln(1 + pivot), 1 from the pivot on
	Linear     Shape = "linear"     // v/pivot, 1 from the pivot on
)

// Validate refuses unknown shapes; the error names field.
func (s Shape) Validate(field string) error {
	switch s {
	case Saturation, Log, Linear:
		return nil
	default:
		return fault.Invalid(field, string(s), "saturation, log or linear")
	}
}

// Best returns the largest signal of the values, 0 if there are none.
func (s *Signal) Best(values []filter.Value) float64 {
	best := 0.0
	for _, v := range values {
		best = max(best, s.Of(v))
	}
	return best
}

// Of returns the signal of one value.
func (s *Signal) Of(v filter.Value) float64 {
	switch {
	case s.Recency != nil:
		return s.Recency.of(v)
	case s.Number != nil:
		x, ok := v.V.(float64)
		if !ok {
			return 0
		}
		return s.Number.of(x)
	}
	for _, wanted := range s.Match {
		if v == wanted {
			return 1
		}
	}
	return 0
}

func (r *Recency) of(v filter.Value) float64 {
	var at int64 // ms
	switch x := v.V.(type) {
	case string:
		moment, ok := filter.ParseMoment(x)
		if !ok {
			return 0
		}
		at = time.UnixMicro(moment.From).UnixMilli()
	case float64:
		if !(math.Abs(x) < 1e12) {
			return 0
		}
		at = int64(math.Floor(x * 1000))
	default:
		return 0
	}
	age := float64(r.Now.UnixMilli()-at) - float64(r.Offset.Milliseconds())
	return math.Exp2(-max(0, age) / float64(r.HalfLife.Milliseconds()))
}

func (n *Number) of(x float64) float64 {
	if !(x > 0) {
		return 0
	}
	switch n.Shape {
	case Log:
		return min(1, math.Log1p(x)/math.Log1p(n.Pivot))
	case Linear:
		return min(1, x/n.Pivot)
	case Saturation:
	}
	if math.IsInf(x, 1) {
		return 1
	}
	return x / (x + n.Pivot)
}
