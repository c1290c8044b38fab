package presets

import (
	stdjson "encoding/json"
	"fmt"
	"regexp"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"github.com/hybridge-search/hybridge/fault"
)

// Limits of a definition.
const (
	MaxDefinition = 64 << 10 // bytes of its text
	maxNote       = 1_000
	maxHash       = 256
	maxMetric     = 64
	maxQueries    = 1_000_000_000
)

// Definition is a preset that is saved while the gateway runs: what the configuration may say of
// one, and how it came about.
type Definition struct {
	Custom
	Provenance *Provenance `json:"provenance,omitempty" doc:"How it came about; kept for people and changes no answer."`
}

// Provenance is where a preset is from: on which data it was found, and how much better it was than
// the one before. Every field is optional.
type Provenance struct {
	DataHash string    `json:"data_hash,omitempty" doc:"Of the questions and judgments that it was measured on; at most 256 bytes."`
	Date     string    `json:"date,omitempty" doc:"Of the measurement, as 2026-11-28 or with a time as RFC 3339 has it."`
	Metric   string    `json:"metric,omitempty" doc:"Such as ndcg@10; at most 64 bytes."`
	Base     string    `json:"base,omitempty" doc:"Preset that it was compared with; at most 64 bytes."`
	Mean     *float64  `json:"mean,omitempty" minimum:"-1" maximum:"1" doc:"By how much the metric was above that of base, on the average of the questions."`
	Interval []float64 `json:"interval,omitzero" minItems:"2" maxItems:"2" doc:"Confidence interval of mean: the lower and the upper end."`
	Queries  *int      `json:"queries,omitempty" minimum:"0" maximum:"1000000000" doc:"Questions that were measured."`
	Note     string    `json:"note,omitempty" doc:"For people; at most 1000 bytes."`
}

// validName is the form of names, as in the configuration.
var validName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)

// check refuses invalid definitions. Its errors name members below at.
func (p *Provenance) check(at string) error {
	if p == nil {
		return nil
	}
	for _, text := range []struct {
		field, value string
		most         int
	}{
		{"data_hash", p.DataHash, maxHash},
		{"metric", p.Metric, maxMetric},
		{"base", p.Base, maxMetric},
		{"note", p.Note, maxNote},
	} {
		if len(text.value) > text.most || !utf8.ValidString(text.value) {
			return fault.Invalid(at+text.field, text.value, fmt.Sprintf("at most %d bytes of UTF-8", text.most))
		}
	}
	if p.Date != "" && !isDate(p.Date) {
		return fault.Invalid(at+"date", p.Date, "a date such as 2026-11-28 or 2026-11-28T09:30:00Z")
	}
	if m := p.Mean; m != nil && !isDifference(*m) {
		return fault.Invalid(at+"mean", *m, "-1 to 1")
	}
	if n := p.Queries; n != nil && (*n < 0 || *n > maxQueries) {
		return fault.Invalid(at+"queries", *n, "0 to 1000000000")
	}
	if i := p.Interval; i != nil && (len(i) != 2 || !isDifference(i[0]) || !isDifference(i[1]) || i[0] > i[1]) {
		return fault.Invalid(at+"interval", i, "two numbers from -1 to 1, the lower one first")
	}
	return nil
}

// isDifference reports whether two values of a metric, which are in [0, 1], may differ by x.
func isDifference(x float64) bool { return x >= -1 && x <= 1 }

func isDate(text string) bool {
	_, day := time.Parse(time.DateOnly, text)
	_, moment := time.Parse(time.RFC3339, text)
	return day == nil || moment == nil
}

// Text is how a definition is stored; ReadDefinition reads it.
func (d *Definition) Text() (string, error) {
	text, err := stdjson.Marshal(d) // the other one leaves out members that are set to be empty
	if err != nil {                 // a number that is not finite, which no JSON has
		return "", fault.Wrap(fault.InvalidArgument, err, "definition cannot be written as JSON")
	}
	return string(text), nil
}

// ReadDefinition reads what Text wrote without compiling it; unknown fields, of a later program, are skipped.
func ReadDefinition(text string) (*Definition, error) {
	d := &Definition{}
	if err := json.Unmarshal([]byte(text), d); err != nil {
		return nil, fault.Wrap(fault.Corrupt, err, "reading the definition of a preset")
	}
	return d, nil
}
