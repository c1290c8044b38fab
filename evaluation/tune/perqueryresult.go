package tune

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/hybridge-search/hybridge/evaluation"
	"github.com/hybridge-search/hybridge/search"
)

// PerQueryResult is the result of a fit, and its validation on unseen questions.
type PerQueryResult struct {
	Result
	// Model is fitted to all questions, nil if none helps; Seen is its score on these.
	Model *search.WeightModel `json:"model,omitempty"`
	// Fixed is the preset with the one weight that the other folds choose, on questions that it was not chosen by;
	// OverFixed is Unseen minus Fixed, with FixedP of such a difference by chance. Recommended asks for both.
	Fixed     float64             `json:"fixed"`
	OverFixed evaluation.Interval `json:"over_fixed"`
	FixedP    float64             `json:"fixed_p"`
	// Features say what the questions are like.
	Features []FeatureAccount `json:"features"`
	// Factors are the factors of the weight of words by Model: the smallest, the middle and the largest of the questions.
	Factors [3]float64 `json:"factors"`
	// Oracle is the metric of whoever chose the weight of each question after looking at its judgments. Most of what
	// it has more is luck, see docs/decisions/0016-weights-per-query.md.
	Oracle float64 `json:"oracle"`
}

// FeatureAccount is a feature over all questions, each set counting the same.
type FeatureAccount struct {
	Name        string  `json:"name"`
	Mean        float64 `json:"mean"`
	Deviation   float64 `json:"deviation"`
	Coefficient float64 `json:"coefficient"` // of Model
}

// describe adds what questions and model are like.
func (r *PerQueryResult) describe(p *PerQuery) {
	for i, name := range p.names {
		values := make([]float64, len(p.examples))
		for q := range p.examples {
			values[q] = p.examples[q].features[i]
		}
		a := FeatureAccount{Name: name, Mean: mean(values), Deviation: deviation(values)}
		if r.Model != nil {
			a.Coefficient = r.Model.Coefficients[name]
		}
		r.Features = append(r.Features, a)
	}
	factors, best := make([]float64, len(p.examples)), make([]float64, len(p.examples)) // by question
	for q := range p.examples {
		factors[q], best[q] = 1, slices.Max(p.examples[q].curve)
		if r.Model != nil {
			factors[q] = r.Model.Factor(p.tuner.rows[0].of[q].known)
		}
	}
	slices.Sort(factors)
	r.Factors = [3]float64{factors[0], factors[len(factors)/2], factors[len(factors)-1]}
	r.Oracle = math.Abs(mean(p.tuner.balanced(best, p.tuner.evaluator.every())))
	for fold, part := range p.tuner.parts {
		r.Folds[fold].Oracle = math.Abs(mean(p.tuner.balanced(best, part)))
	}
}

// Verdict says in a sentence what to do.
func (r *PerQueryResult) Verdict() string {
	switch {
	case r.P >= significant || !r.isBetter(&r.Gain):
		return fmt.Sprintf("Weights per query are not better than %s beyond chance: %s on unseen questions, p %.4f.",
			r.Preset, interval(&r.Gain), r.P)
	case !r.Recommended:
		return fmt.Sprintf("Weights per query are not better than one other weight for all questions beyond chance: %s on "+
			"unseen questions, p %.4f. Tune without --per-query.", interval(&r.OverFixed), r.FixedP)
	}
	return fmt.Sprintf("Recommended: weights per query over %s. They gain %s on unseen questions, p %.4f.",
		r.Preset, interval(&r.Gain), r.P)
}

// WriteTables writes the result as Markdown.
func (r *PerQueryResult) WriteTables(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s with weights per query by %s, %d questions, %.1f s.\n\n",
		r.Preset, r.Metric, r.Questions, r.Seconds)
	b.WriteString("On questions that a model was not fitted to:\n\n")
	b.WriteString("| set | questions | " + r.Preset + " | per query | difference | p |\n|---|---|---|---|---|---|\n")
	for i := range r.Sets {
		s := &r.Sets[i]
		fmt.Fprintf(&b, "| %s | %d | %.4f | %.4f | %s | %.4f |\n",
			s.Set, s.Questions, s.Start, s.Unseen, interval(&s.Gain), s.P)
	}
	fmt.Fprintf(&b, "| **mean** | %d | **%.4f** | **%.4f** | %s | %.4f |\n\n",
		r.Questions, r.Start, r.Unseen, interval(&r.Gain), r.P)
	fmt.Fprintf(&b, "One weight for all questions, chosen likewise: %.4f; weights per query over it: %s, p %.4f.\n\n",
		r.Fixed, interval(&r.OverFixed), r.FixedP)
	b.WriteString("| fold | questions | " + r.Preset + " | per query | difference | best weight of each question |\n")
	b.WriteString("|---|---|---|---|---|---|\n")
	for i := range r.Folds {
		f := &r.Folds[i]
		fmt.Fprintf(&b, "| %s | %d | %.4f | %.4f | %s | %.4f |\n",
			f.name(i), f.Questions, f.Start, f.Unseen, interval(&f.Gain), f.Oracle)
	}
	b.WriteString("\nEach by the model of the others:\n\n")
	for i := range r.Folds {
		fmt.Fprintf(&b, "- %s: %s\n", r.Folds[i].name(i), modelText(r.Folds[i].Model))
	}
	b.WriteString("\n| feature | mean | deviation | coefficient |\n|---|---|---|---|\n")
	for _, f := range r.Features {
		fmt.Fprintf(&b, "| %s | %.3g | %.3g | %.3g |\n", f.Name, f.Mean, f.Deviation, f.Coefficient)
	}
	fmt.Fprintf(&b, "\nAll questions choose %s: %.4f on these, which it was fitted to. The weight of words is multiplied "+
		"by %.2f to %.2f, in the middle %.2f.\nThe best weight of each question, chosen by its judgments: %.4f, "+
		"mostly luck.\n",
		modelText(r.Model), r.Seen, r.Factors[0], r.Factors[2], r.Factors[1], r.Oracle)
	b.WriteString("\n" + r.Verdict() + "\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func modelText(m *search.WeightModel) string {
	if m == nil {
		return "none"
	}
	text, err := json.Marshal(m)
	if err != nil {
		return "" // its numbers are finite
	}
	return "`" + string(text) + "`"
}
