package analysis

import (
	"strconv"
	"strings"

	"github.com/hybridge-search/hybridge/fault"
)

// Minimum is the number of a query's distinct terms that a chunk must hold: a count, or a
// percentage, which is rounded down. The zero value means any one term. In text and
// JSON it is written "30%" or "2".
type Minimum struct {
	Value   int
	Percent bool
}

// ParseMinimum reads "30%" (0 to 100) or "2" (0 to 1024); empty is the zero
// value. field names the value in the error.
func ParseMinimum(field, s string) (Minimum, error) {
	number, percent := strings.CutSuffix(strings.TrimSpace(s), "%")
	if number == "" && !percent {
		return Minimum{}, nil
	}
	limit := 1024
	if percent {
		limit = 100
	}
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 || n > limit {
		return Minimum{}, fault.Invalid(field, s,
			`a percentage such as "30%" (0% to 100%) or a count such as "2" (0 to 1024)`)
	}
	return Minimum{Value: n, Percent: percent}, nil
}

// Of returns how many of n terms must match: at least one and at most n; 0 for n = 0.
func (m Minimum) Of(n int) int {
	need := m.Value
	if m.Percent {
		need = n * m.Value / 100
	}
	return min(max(need, 1), n)
}

// String implements fmt.Stringer.
func (m Minimum) String() string {
	if m.Percent {
		return strconv.Itoa(m.Value) + "%"
	}
	return strconv.Itoa(m.Value)
}

// MarshalText implements encoding.TextMarshaler.
func (m Minimum) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (m *Minimum) UnmarshalText(text []byte) (err error) {
	*m, err = ParseMinimum("minimum_should_match", string(text))
	return err
}
