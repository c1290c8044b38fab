package search

import (
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/scoring"
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

const (
	// FeatureDepth is how many hits of a leg features look at: legs return at least as many, so that features depend
	// on neither page nor top_k.
	FeatureDepth   = 10
	maxCoefficient = 100
)

var mostFactor = math.Log(8)

// noFeature is of what is unknown: it adds nothing.
const noFeature = 0.0

// features are what a model may look at, by name. Scores are in standard deviations from the mean over the knowledge
// base; each is within a few units, so that coefficients compare.
var features = map[string]func(f *facts) float64{
	// The share of the ten best by words that is among the ten best by vectors.
	"agreement": func(f *facts) float64 { return f.agreement() },
	// Whether a word of the question has a digit, as codes and numbers do.
	"digits": func(f *facts) float64 { return f.digits },
	// The share of the question's idf mass that the text index knows.
	"known": func(f *facts) float64 { return f.known },
	// The logarithm of the number of words.
	"terms": func(f *facts) float64 { return math.Log1p(f.terms) },
	// The logarithm of how far the best chunk is ahead of the tenth.
	"text_gap":   func(f *facts) float64 { return f.text.gap() },
	"vector_gap": func(f *facts) float64 { return f.vector.gap() },
	// How far the best chunk of one leg is behind that of the other in the other's scores, as a logarithm.
	"text_in_vector": func(f *facts) float64 { return f.vector.behind(f.text.best) },
	"vector_in_text": func(f *facts) float64 { return f.text.behind(f.vector.best) },
}

var featureNames = slices.Sorted(maps.Keys(features))

// Features are the names of what a WeightModel may look at.
func Features() []string { return slices.Clone(featureNames) }

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

// WeighBy lets a model decide the weight of words for each question. The plan must fuse z-scores of text and vectors
// (fault.InvalidArgument); it asks the legs apart then, for what they say of each other's best. A plan of one kind of
// legs stays as it is.
func (p *Plan) WeighBy(m *WeightModel) error {
	has := func(kind scoring.Kind) bool {
		return slices.ContainsFunc(p.Legs, func(l Leg) bool { return l.Kind == kind })
	}
	if m == nil || has(scoring.Text) != has(scoring.Vector) {
		return nil
	}
	if p.Fusion.Method != scoring.Linear || p.Fusion.Normalizer != scoring.ZScore {
		return &fault.Error{
			Kind: fault.InvalidArgument, Field: "weights_by",
			Detail: "weights_by needs a preset that fuses z-scores: balanced, or linear with normalizer z_score",
		}
	}
	const least = 100 // what a joint ranking has beyond is behind in both legs
	for i := range p.Legs {
		p.Legs[i].K = max(p.Legs[i].K, least)
	}
	p.WeightsBy, p.Joint = m, false
	return nil
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

// account tells how a factor came about.
func (m *WeightModel) account(of map[string]float64) *ByQuestion {
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

// weighByQuestion changes the weights of text legs by the plan's model. Members are fused together.
func weighByQuestion(members []*retrieval) {
	m := members[0].Plan.WeightsBy
	if m == nil {
		return
	}
	by := m.account(featuresOf(members))
	for _, rt := range members {
		for i := range rt.legs {
			if l := &rt.legs[i]; l.Kind == scoring.Text && l.byQuestion == nil {
				l.byQuestion, l.Weight = by, l.Weight*by.Factor
			}
		}
	}
}

// facts are what features are made of.
type facts struct {
	terms, digits, known float64
	text, vector         scored
}

// scored are the z-scores of a leg: of all candidates, and the places of its ten best.
type scored struct {
	z    []float64
	best []int
}

// featuresOf are all features of a question, by name: of what the first text leg and the first vector leg say.
// A leg without moments says nothing.
func featuresOf(members []*retrieval) map[string]float64 {
	f, first := facts{}, members[max(0, slices.IndexFunc(members, func(rt *retrieval) bool { return rt.err == nil }))]
	for _, term := range first.question.parsed.Terms {
		f.terms++
		if strings.ContainsFunc(term.Text, unicode.IsDigit) {
			f.digits = 1
		}
	}
	for _, rt := range members {
		if rt.known != nil {
			f.known = max(f.known, *rt.known)
		}
	}
	for i := len(first.legs) - 1; i >= 0; i-- { // the first of a kind stays
		switch first.legs[i].Kind {
		case scoring.Text:
			f.text = scoredBy(members, i, first.legs[i].moments)
		case scoring.Vector:
			f.vector = scoredBy(members, i, first.legs[i].moments)
		case scoring.Signal:
		}
	}
	all := make(map[string]float64, len(features))
	for name, of := range features {
		all[name] = of(&f)
	}
	return all
}

// scoredBy are the z-scores of a leg, nothing where it has none.
func scoredBy(members []*retrieval, leg int, m *scoring.Moments) (s scored) {
	if m == nil || m.Deviation <= 0 {
		return s
	}
	n := 0
	for _, rt := range members {
		n += len(rt.hits)
	}
	s.z, s.best = make([]float64, 0, n), make([]int, 0, FeatureDepth+1)
	for _, rt := range members {
		for hit := range rt.hits {
			z := math.Inf(-1)
			if value := rt.fusedBy(hit, leg); !math.IsNaN(value) {
				z = (value - m.Mean) / m.Deviation
			}
			s.z = append(s.z, z)
			s.take(len(s.z) - 1)
		}
	}
	return s
}

// take keeps the place of a candidate that is among the best so far, the larger z-score first.
func (s *scored) take(place int) {
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
func (s *scored) gap() float64 {
	if len(s.best) < 2 {
		return noFeature
	}
	return math.Log1p(s.z[s.best[0]] - s.z[s.best[len(s.best)-1]])
}

// behind is the logarithm of 1 + how far the best of another leg is behind the best of this one.
func (s *scored) behind(others []int) float64 {
	if len(s.best) == 0 || len(others) == 0 || math.IsInf(s.z[others[0]], -1) {
		return noFeature
	}
	return math.Log1p(s.z[s.best[0]] - s.z[others[0]])
}

func (f *facts) agreement() float64 {
	both := 0
	for _, place := range f.text.best {
		if slices.Contains(f.vector.best, place) {
			both++
		}
	}
	return float64(both) / float64(max(1, len(f.text.best)))
}
