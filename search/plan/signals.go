package plan

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/filter"
)

// Limits on signals.
const (
	MaxSignals      = 8
	MaxSignalWeight = 1_000
	MaxPivot        = 1e15
)

// Signal adds a value of a field of the chunk to the score, whatever the question. Exactly
// one of Recency, Number and Match is set.
type Signal struct {
	Recency *RecencySignal `json:"recency,omitempty" yaml:"recency" doc:"2^(-age/half_life) of a date, after offset; 1 for the future."`
	Number  *NumberSignal  `json:"number,omitempty" yaml:"number" doc:"A number over 0, such as a rank or a popularity, in [0, 1] by its shape."`
	Match   *MatchSignal   `json:"match,omitempty" yaml:"match" doc:"1 for chunks whose field has one of the values."`
	Weight  float64        `json:"weight" exclusiveMinimum:"0" maximum:"1000" yaml:"weight" accept:"more than 0, at most 1000" doc:"Beside those of text and vector."`
}

// RecencySignal halves with each half-life of a date's age.
type RecencySignal struct {
	Field    string `json:"field" yaml:"field" doc:"Field with a date: ISO 8601, or seconds since 1970."`
	HalfLife string `json:"half_life" yaml:"half_life" accept:"1s to 36500d" doc:"A number and s, m, h, d or w, such as 30d."`
	Offset   string `json:"offset,omitempty" yaml:"offset" accept:"0s to 36500d" doc:"Age that costs nothing."`
}

// NumberSignal brings a number into [0, 1].
type NumberSignal struct {
	Field string  `json:"field" yaml:"field" doc:"Field with a number; up to 0 it says nothing."`
	Shape string  `json:"shape,omitempty" yaml:"shape" accept:"saturation, log or linear" enum:"saturation,log,linear" doc:"saturation: v/(v+pivot); log: ln(1+v)/ln(1+pivot); linear: v/pivot; at most 1. The default is saturation."`
	Pivot float64 `json:"pivot" exclusiveMinimum:"0" yaml:"pivot" accept:"more than 0" doc:"The number that counts half by saturation, in full by the others."`
}

// MatchSignal favours chunks with some values.
type MatchSignal struct {
	Field  string `json:"field" yaml:"field" doc:"Field to look into."`
	Values []any  `json:"values" yaml:"values" accept:"strings, numbers or booleans" doc:"Any of them counts."`
}

// age is the form of a duration.
var age = regexp.MustCompile(`^(\d{1,9})([smhdw])$`)

var ages = map[string]time.Duration{
	"s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour,
}

const maxAge = 36_500 * 24 * time.Hour

func parseAge(field, text string, least time.Duration) (time.Duration, error) {
	parts := age.FindStringSubmatch(text)
	if parts != nil {
		n, unit := 0, ages[parts[2]]
		n, _ = strconv.Atoi(parts[1]) // nine digits
		if d := time.Duration(n) * unit; n <= int(maxAge/unit) && d >= least {
			return d, nil
		}
	}
	return 0, fault.Invalid(field, text, "a number and s, m, h, d or w from "+least.String()+" to 36500d, such as 30d")
}

// name is the name of the signal's leg.
func (s *Signal) name() string {
	switch {
	case s.Recency != nil:
		return "recency:" + s.Recency.Field
	case s.Number != nil:
		return "number:" + s.Number.Field
	default:
		return "match:" + s.Match.Field
	}
}

// validateSignals refuses invalid signals, and two of one kind over a field.
func validateSignals(signals []Signal) error {
	if len(signals) > MaxSignals {
		return fault.Invalid("signals", fault.Length(len(signals)), "at most 8 signals")
	}
	seen := map[string]bool{}
	for i := range signals {
		field, s := "signals["+strconv.Itoa(i)+"]", &signals[i]
		if _, err := s.of(field); err != nil {
			return err
		}
		if !(s.Weight > 0 && s.Weight <= MaxSignalWeight) {
			return fault.Invalid(field+".weight", s.Weight, "a number > 0 and <= 1000")
		}
		if seen[s.name()] {
			return fault.Invalid(field, s.name(), "one signal of a kind over each field")
		}
		seen[s.name()] = true
	}
	return nil
}

// of converts the signal for engines, without the time of a recency. Errors name it by at.
func (s *Signal) of(at string) (signal engine.Signal, err error) {
	given := 0
	for _, there := range []bool{s.Recency != nil, s.Number != nil, s.Match != nil} {
		if there {
			given++
		}
	}
	if given != 1 {
		return signal, fault.Invalid(at, given, "exactly one of recency, number and match")
	}
	switch {
	case s.Recency != nil:
		signal.Field = s.Recency.Field
		signal.Recency, err = s.Recency.of(at)
	case s.Number != nil:
		signal.Field = s.Number.Field
		signal.Number, err = s.Number.of(at)
	default:
		signal.Field = s.Match.Field
		signal.Match, err = s.Match.of(at)
	}
	if err != nil {
		return signal, err
	}
	var ok bool
	if signal.Field, ok = filter.FieldName(signal.Field); !ok {
		kind, _, _ := strings.Cut(s.name(), ":")
		return signal, fault.Invalid(at+"."+kind+".field", signal.Field, "a field name of 1 to 256 bytes")
	}
	return signal, nil
}

func (r *RecencySignal) of(at string) (*engine.Recency, error) {
	half, err := parseAge(at+".recency.half_life", r.HalfLife, time.Second)
	if err != nil {
		return nil, err
	}
	recency := &engine.Recency{HalfLife: half}
	if r.Offset != "" {
		recency.Offset, err = parseAge(at+".recency.offset", r.Offset, 0)
	}
	return recency, err
}

func (n *NumberSignal) of(at string) (*engine.Number, error) {
	number := &engine.Number{Shape: engine.Shape(n.Shape), Pivot: n.Pivot}
	if n.Shape == "" {
		number.Shape = engine.Saturation
	}
	if err := number.Shape.Validate(at + ".number.shape"); err != nil {
		return nil, err
	}
	if !(n.Pivot > 0 && n.Pivot <= MaxPivot) {
		return nil, fault.Invalid(at+".number.pivot", n.Pivot, "a number > 0 and <= 1e15")
	}
	return number, nil
}

func (m *MatchSignal) of(at string) ([]filter.Value, error) {
	if len(m.Values) == 0 || len(m.Values) > filter.MaxValues {
		return nil, fault.Invalid(at+".match.values", fault.Length(len(m.Values)), "1 to 1000 values")
	}
	values := make([]filter.Value, len(m.Values))
	for i, v := range m.Values {
		switch x := v.(type) {
		case string, bool:
		case int: // from a configuration
			v = float64(x)
		case float64:
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return nil, fault.Invalid(at+".match.values", x, "finite numbers")
			}
		default:
			return nil, fault.Invalid(at+".match.values", v, "strings, numbers or booleans")
		}
		values[i] = filter.Value{V: v}
	}
	return values, nil
}
