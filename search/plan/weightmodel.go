package plan

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/hybridge-search/hybridge/fault"
)

// WeightModel makes the weight of words follow from what is known of one question before it is fused: that of each
// text leg is multiplied by
//
//	exp(intercept + Σ coefficient · feature), at least 1/8 and at most 8
//
// so a model of zeros changes nothing. It is immutable.
type WeightModel struct {
	Intercept    float64            `json:"intercept,omitempty" minimum:"-100" maximum:"100" yaml:"intercept" accept:"-100 to 100" doc:"What is added to the sum whatever the question."`
	Coefficients map[string]float64 `json:"coefficients" yaml:"coefficients" accept:"numbers from -100 to 100 by name of a feature" doc:"By feature: agreement, digits, known, terms, text_gap, text_in_vector, vector_gap, vector_in_text."`
}

var mostFactor = math.Log(8)

// Validate refuses what is no model; field is the name of the member.
func (m *WeightModel) Validate(field string) error {
	if m == nil {
		return nil
	}
	const accepted = "a number from -100 to 100"
	if !(math.Abs(m.Intercept) <= maxCoefficient) {
		return fault.Invalid(field+".intercept", m.Intercept, accepted)
	}
	if len(m.Coefficients) == 0 && m.Intercept == 0 {
		return fault.Invalid(field+".coefficients", "nothing", "at least one of "+strings.Join(Features(), ", "))
	}
	for _, name := range slices.Sorted(maps.Keys(m.Coefficients)) {
		if features[name] == nil {
			return fault.Invalid(field+".coefficients", name, "one of "+strings.Join(Features(), ", "))
		}
		if c := m.Coefficients[name]; !(math.Abs(c) <= maxCoefficient) {
			return fault.Invalid(field+".coefficients."+name, c, accepted)
		}
	}
	return nil
}

// Factor is what the weight of words is multiplied by where features have these values.
func (m *WeightModel) Factor(of map[string]float64) float64 {
	sum := m.Intercept
	for _, name := range featureNames { // in the same order each time
		sum += m.Coefficients[name] * of[name]
	}
	return math.Exp(min(max(sum, -mostFactor), mostFactor))
}

// ByQuestion is what a WeightModel made of one question.
type ByQuestion struct {
	Factor    float64          `json:"factor" doc:"What the weight was multiplied by: e to the power of the sum of intercept and additions, from 1/8 to 8."`
	Intercept float64          `json:"intercept"`
	Features  []WeighedFeature `json:"features"`
}

// WeighedFeature is one of the sum.
type WeighedFeature struct {
	Name        string  `json:"name"`
	Value       float64 `json:"value"`
	Coefficient float64 `json:"coefficient"`
	Addition    float64 `json:"addition" doc:"Value times coefficient."`
}

// Account tells how a factor came about.
func (m *WeightModel) Account(of map[string]float64) *ByQuestion {
	q := &ByQuestion{
		Factor: m.Factor(of), Intercept: m.Intercept, Features: make([]WeighedFeature, 0, len(m.Coefficients)),
	}
	for _, name := range featureNames {
		if c, is := m.Coefficients[name]; is {
			q.Features = append(q.Features, WeighedFeature{name, of[name], c, c * of[name]})
		}
	}
	return q
}
