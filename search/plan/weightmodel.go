package plan

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/scoring"
)

// WeightModel derives the weight of words from features of a question before the fusion: the weight of each
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

// Validate refuses invalid models; field is the name of the field.
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

// Factor is the factor for the weight of words, given the values of the features.
func (m *WeightModel) Factor(of map[string]float64) float64 {
	sum := m.Intercept
	for _, name := range featureNames { // in the same order each time
		sum += m.Coefficients[name] * of[name]
	}
	return math.Exp(min(max(sum, -mostFactor), mostFactor))
}

// ByQuestion is the result of a WeightModel for one question.
type ByQuestion struct {
	Factor    float64          `json:"factor" doc:"What the weight was multiplied by: e to the power of the sum of intercept and additions, from 1/8 to 8."`
	Intercept float64          `json:"intercept"`
	Features  []WeighedFeature `json:"features"`
}

// WeighedFeature is one term of the sum.
type WeighedFeature struct {
	Name        string  `json:"name"`
	Value       float64 `json:"value"`
	Coefficient float64 `json:"coefficient"`
	Addition    float64 `json:"addition" doc:"Value times coefficient."`
}

// Account explains a factor.
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

const (
	// FeatureDepth is how many hits of a leg features look at: legs return at least as many, so that features depend
	// on neither page nor top_k.
	FeatureDepth   = 10
	maxCoefficient = 100
)

// noFeature is the value of unknown features: it adds nothing.
const noFeature = 0.0

// features are the inputs of a model, by name. Scores are in standard deviations from the mean over the knowledge
// base; each is within a few units, so that coefficients compare.
var features = map[string]func(f *Facts) float64{
	// The share of the ten best by words that is among the ten best by vectors.
	"agreement": func(f *Facts) float64 { return f.agreement() },
	// Whether a word of the question has a digit, as codes and numbers do.
	"digits": func(f *Facts) float64 { return f.Digits },
	// The share of the question's idf mass that the text index knows.
	"known": func(f *Facts) float64 { return f.Known },
	// The logarithm of the number of words.
	"terms": func(f *Facts) float64 { return math.Log1p(f.Terms) },
	// The logarithm of how far the best chunk is ahead of the tenth.
	"text_gap":   func(f *Facts) float64 { return f.Text.gap() },
	"vector_gap": func(f *Facts) float64 { return f.Vector.gap() },
	// How far the best chunk of one leg is behind that of the other in the other's scores, as a logarithm.
	"text_in_vector": func(f *Facts) float64 { return f.Vector.behind(f.Text.best) },
	"vector_in_text": func(f *Facts) float64 { return f.Text.behind(f.Vector.best) },
}

var featureNames = slices.Sorted(maps.Keys(features))

// Features are the names of a WeightModel's inputs.
func Features() []string { return slices.Clone(featureNames) }

// Facts are the inputs of features: the question, and the scores of its first text leg and first vector leg.
type Facts struct {
	Terms, Digits, Known float64
	Text, Vector         ZScores
}

// Features gives the value of each feature by its name.
func (f *Facts) Features() map[string]float64 {
	all := make(map[string]float64, len(features))
	for name, of := range features {
		all[name] = of(f)
	}
	return all
}

// ZScores has the z-scores of a leg: of all candidates, and the places of its ten best.
type ZScores struct {
	z    []float64
	best []int
}

// NewZScores takes a leg's score of each candidate, NaN where it has none, and overwrites them. A leg without
// moments has no z-scores.
func NewZScores(values []float64, m *scoring.Moments) (s ZScores) {
	if m == nil || m.Deviation <= 0 {
		return s
	}
	s.z, s.best = values, make([]int, 0, FeatureDepth+1)
	for i, value := range values {
		if s.z[i] = (value - m.Mean) / m.Deviation; math.IsNaN(value) {
			s.z[i] = math.Inf(-1)
		}
		s.take(i)
	}
	return s
}

// take keeps the place of a candidate that is among the best so far, the larger z-score first.
func (s *ZScores) take(place int) {
	z := s.z[place]
	if math.IsInf(z, -1) || len(s.best) == FeatureDepth && !(z > s.z[s.best[FeatureDepth-1]]) {
		return
	}
	at := len(s.best)
	for at > 0 && z > s.z[s.best[at-1]] {
		at--
	}
	s.best = slices.Insert(s.best, at, place)
	s.best = s.best[:min(len(s.best), FeatureDepth)]
}

// gap is the logarithm of 1 + how far the best is ahead of the tenth, or of the last.
func (s *ZScores) gap() float64 {
	if len(s.best) < 2 {
		return noFeature
	}
	return math.Log1p(s.z[s.best[0]] - s.z[s.best[len(s.best)-1]])
}

// behind is the logarithm of 1 + how far the best of another leg is behind the best of this one.
func (s *ZScores) behind(others []int) float64 {
	if len(s.best) == 0 || len(others) == 0 || math.IsInf(s.z[others[0]], -1) {
		return noFeature
	}
	return math.Log1p(s.z[s.best[0]] - s.z[others[0]])
}

func (f *Facts) agreement() float64 {
	both := 0
	for _, place := range f.Text.best {
		if slices.Contains(f.Vector.best, place) {
			both++
		}
	}
	return float64(both) / float64(max(1, len(f.Text.best)))
}
