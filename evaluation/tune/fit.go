package tune

import (
	"context"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/optimize"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/search"
)

// fitted is a model as it was fitted: of features from which their mean was taken, over their deviation. Without
// coefficients it is no model.
type fitted struct {
	coefficients     []float64 // the intercept first
	means, deviation []float64
}

// ridges are the strengths of regularisation to try, beside no model at all.
var ridges = []float64{3e-4, 3e-3, 3e-2}

func (m *fitted) logFactor(features []float64) float64 {
	if len(m.coefficients) == 0 {
		return 0
	}
	sum := m.coefficients[0]
	for i, v := range features {
		sum += m.coefficients[i+1] * (v - m.means[i]) / m.deviation[i]
	}
	return sum
}

// model converts it for a preset, rounded to three digits; nil if empty.
func (m *fitted) model(names []string) *search.WeightModel {
	if len(m.coefficients) == 0 {
		return nil
	}
	model := &search.WeightModel{Intercept: m.coefficients[0], Coefficients: map[string]float64{}}
	for i, name := range names {
		c := m.coefficients[i+1] / m.deviation[i]
		model.Intercept -= c * m.means[i]
		if c = digits(c); c != 0 {
			model.Coefficients[name] = c
		}
	}
	model.Intercept = digits(model.Intercept)
	return model
}

func digits(v float64) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64)
	if err != nil || math.Abs(rounded) < 1e-6 {
		return 0
	}
	return rounded
}

// reach says which terms a model may have.
type reach bool

const (
	perQuestion reach = true
	fixed       reach = false // an intercept alone: the same weight for all questions
)

// choose fits some parts of the questions by the ridge that does best on each part of them, fitted to the others; no
// model where that does better.
func (p *PerQuery) choose(ctx context.Context, parts [][]int, k reach) (*fitted, error) {
	best, highest := 0.0, p.mean(&fitted{}, slices.Concat(parts...))
	for _, ridge := range ridges {
		sum, whole := 0.0, 0.0
		for held := range parts {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			m, err := p.fit(slices.Concat(slices.Delete(slices.Clone(parts), held, held+1)...), ridge, k)
			if err != nil {
				return nil, err
			}
			weight := p.weight(parts[held])
			sum, whole = sum+p.mean(m, parts[held])*weight, whole+weight
		}
		if value := sum / whole; value > highest {
			best, highest = ridge, value
		}
	}
	if best == 0 {
		return &fitted{}, nil
	}
	return p.fit(slices.Concat(parts...), best, k)
}

func (p *PerQuery) weight(some []int) (sum float64) {
	for _, q := range some {
		sum += p.examples[q].weight
	}
	return sum
}

// mean is the mean of the metric, each set counting the same.
func (p *PerQuery) mean(m *fitted, some []int) float64 {
	sum := 0.0
	for _, q := range some {
		e := &p.examples[q]
		value, _ := at(e.curve, m.logFactor(e.features))
		sum += e.weight * value
	}
	return sum / p.weight(some)
}

// standardised is a model of zeros for some questions.
func (p *PerQuery) standardised(some []int) *fitted {
	n, whole := len(p.names), p.weight(some)
	m := &fitted{coefficients: make([]float64, n+1), means: make([]float64, n), deviation: make([]float64, n)}
	for i := range n {
		var sum, squares float64
		for _, q := range some {
			e := &p.examples[q]
			sum += e.weight * e.features[i]
			squares += e.weight * e.features[i] * e.features[i]
		}
		m.means[i] = sum / whole
		m.deviation[i] = math.Sqrt(max(squares/whole-m.means[i]*m.means[i], 0))
		if m.deviation[i] < 1e-6 {
			m.deviation[i] = math.Inf(1) // it is the same for all
		}
	}
	return m
}

// fit climbs the mean of the smoothed curves (L-BFGS: Nocedal, Wright, "Numerical Optimization", 2006).
func (p *PerQuery) fit(some []int, ridge float64, k reach) (*fitted, error) {
	m := p.standardised(some)
	whole := p.weight(some)
	climb := func(x, gradient []float64) float64 {
		tried, loss := fitted{x, m.means, m.deviation}, 0.0
		clear(gradient)
		for _, q := range some {
			e := &p.examples[q]
			value, slope := at(e.smooth, tried.logFactor(e.features))
			share := e.weight / whole
			loss -= share * value
			if gradient == nil {
				continue
			}
			gradient[0] -= share * slope
			if k == fixed {
				continue
			}
			for i, v := range e.features {
				gradient[i+1] -= share * slope * (v - m.means[i]) / m.deviation[i]
			}
		}
		for i, c := range x {
			loss += ridge * c * c
			if gradient != nil {
				gradient[i] += 2 * ridge * c
			}
		}
		return loss
	}
	result, err := optimize.Minimize(optimize.Problem{
		Func: func(x []float64) float64 { return climb(x, nil) },
		Grad: func(gradient, x []float64) { climb(x, gradient) },
	}, m.coefficients, &optimize.Settings{MajorIterations: 100, GradientThreshold: 1e-6}, &optimize.LBFGS{})
	if result == nil {
		return nil, fault.Wrap(fault.Internal, err, "fit weights per query")
	}
	m.coefficients = result.X // a search along a line may end on a step of a curve, which is where it is best
	return m, nil
}
