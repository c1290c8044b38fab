package tune

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search"
)

// PerQuery fits a search.WeightModel to judged questions: NewPerQuery, Ask for every question by Requests, Run. Add may
// be called by several goroutines at a time, all else by one.
//
// A question's metric at each weight of the words is a curve; a model maps its features to a place on it. The mean of
// the curves is climbed, less ridge · Σ coefficient². How strong the ridge is, and whether a model is better than
// none, is decided by cross-validation within the questions that the model may see; what is reported is measured on
// the others.
type PerQuery struct {
	tuner    *Tuner
	plan     *search.Plan
	names    []string
	examples []example // by question
}

// NewPerQuery prepares the fit over a preset. Of the options Method, Trials and Parameters do not matter.
func NewPerQuery(o Options) (*PerQuery, error) {
	o.Method, o.Trials, o.Space.Parameters = Grid, 1, nil
	if err := o.validate(); err != nil {
		return nil, err
	}
	t := &Tuner{o: o, at: map[[2]string]int{}, known: true}
	arms := []arm{o.Space.start()}
	_, plan, err := o.Space.plan(&arms[0], nil)
	if err != nil {
		return nil, err
	}
	if plan.WeightsBy != nil {
		return nil, fault.Invalid("preset", o.Space.Preset, "a preset without weights_by")
	}
	tried := *plan
	if err := tried.WeighBy(&search.WeightModel{}); err != nil {
		return nil, err
	}
	if tried.WeightsBy == nil {
		return nil, fault.Invalid("preset", o.Space.Preset, "a preset of words and vectors")
	}
	if t.fetches, t.rows, err = o.Space.sortOut(arms); err != nil {
		return nil, err
	}
	t.legs = []int{len(plan.Legs)}
	return &PerQuery{tuner: t, plan: plan, names: search.Features()}, nil
}

// Requests are the ways by which every question is asked once: all but the question itself.
func (p *PerQuery) Requests() []search.Request { return p.tuner.Requests() }

// Add takes what the legs said to a question; see Tuner.Add.
func (p *PerQuery) Add(request int, q Question, said *search.Observed) error {
	return p.tuner.Add(request, q, said)
}

// example is the training example of one question.
type example struct {
	features []float64 // in the order of the names
	curve    []float64 // the metric by factor, see factorAt
	smooth   []float64 // what is climbed
	weight   float64   // the same for each set
}

// Factors of the weight of words that curves have, by logarithm.
const (
	curvePoints = 33
	curveStep   = 0.13
)

func logFactorAt(i int) float64 { return float64(i-curvePoints/2) * curveStep }

// at is the value of a curve at a logarithm of a factor, and its slope.
func at(curve []float64, logFactor float64) (value, slope float64) {
	x := logFactor/curveStep + curvePoints/2
	if x <= 0 {
		return curve[0], 0
	}
	if x >= curvePoints-1 {
		return curve[curvePoints-1], 0
	}
	i := int(x)
	rise := curve[i+1] - curve[i]
	return curve[i] + (x-float64(i))*rise, rise / curveStep
}

// smoothed is a curve without its steps, which have no slope: the mean around each point, weighed by a normal
// distribution.
func smoothed(curve []float64) []float64 {
	const deviation, reach = 2.5, 6
	all := make([]float64, len(curve))
	for i := range curve {
		sum, whole := 0.0, 0.0
		for d := -reach; d <= reach; d++ {
			w := math.Exp(-float64(d*d) / (2 * deviation * deviation))
			sum += w * curve[min(max(i+d, 0), len(curve)-1)]
			whole += w
		}
		all[i] = sum / whole
	}
	return all
}

// lay measures every question at every factor.
func (p *PerQuery) lay(ctx context.Context) error {
	t := p.tuner
	p.examples = make([]example, len(t.questions))
	sizes := make([]float64, len(t.sets))
	for _, set := range t.setOf {
		sizes[set]++
	}
	plan := *p.plan
	for q := range p.examples {
		e := &p.examples[q]
		e.weight = 1 / (sizes[t.setOf[q]] * float64(len(t.sets)))
		e.features, e.curve = make([]float64, len(p.names)), make([]float64, curvePoints)
		for i, name := range p.names {
			e.features[i] = t.rows[0].of[q].known[name]
		}
	}
	values, every := make([]float64, len(t.questions)), t.evaluator.every()
	for i := range curvePoints {
		if err := ctx.Err(); err != nil {
			return err
		}
		plan.Legs = weighed(p.plan.Legs, math.Exp(logFactorAt(i)))
		t.evaluator.measure(t.rows[0], &plan, every, values)
		for q, v := range values {
			if t.o.Metric.LowerIsBetter {
				v = -v
			}
			p.examples[q].curve[i] = v
		}
		t.progress(1)
	}
	for q := range p.examples {
		p.examples[q].smooth = smoothed(p.examples[q].curve)
	}
	return nil
}

// weighed are legs with the words' weight times a factor.
func weighed(legs []search.Leg, factor float64) []search.Leg {
	all := make([]search.Leg, len(legs))
	for i, l := range legs {
		if l.Kind == scoring.Text {
			l.Weight *= factor
		}
		all[i] = l
	}
	return all
}

// Run fits when all that was found is added.
func (p *PerQuery) Run(ctx context.Context) (*PerQueryResult, error) {
	started, t := time.Now(), p.tuner
	if err := t.prepare(); err != nil {
		return nil, err
	}
	t.whole = curvePoints
	if err := p.lay(ctx); err != nil {
		return nil, err
	}
	r := &PerQueryResult{Result: Result{
		Date: started.UTC(), Preset: t.o.Space.Preset, Metric: t.o.Metric.Name, Method: "per query", Hits: t.o.Space.TopK,
		Questions: len(t.questions), Retrievals: 1, Arms: 1, Bytes: t.bytes, Tried: curvePoints,
		Best: Variant{Preset: t.o.Space.Preset}, Folds: t.folds(), lowerIsBetter: t.o.Metric.LowerIsBetter,
	}}
	n := len(t.questions)
	start, unseen, same, seen := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for fold, part := range t.parts {
		others := slices.Delete(slices.Clone(t.parts), fold, fold+1)
		m, err := p.choose(ctx, others, perQuestion)
		if err != nil {
			return nil, err
		}
		one, err := p.choose(ctx, others, fixed)
		if err != nil {
			return nil, err
		}
		p.apply(m, part, unseen)
		p.apply(one, part, same)
		r.Folds[fold].Variant, r.Folds[fold].Model = r.Best, m.model(p.names)
	}
	m, err := p.choose(ctx, t.parts, perQuestion)
	if err != nil {
		return nil, err
	}
	p.apply(&fitted{}, t.evaluator.every(), start)
	p.apply(m, t.evaluator.every(), seen)
	r.Model, r.Seen = m.model(p.names), mean(t.balanced(seen, t.evaluator.every()))
	t.reportSets(&r.Result, start, unseen)
	over := Result{lowerIsBetter: r.lowerIsBetter, Folds: make([]Fold, len(t.parts))}
	t.compare(&over, same, unseen)
	r.Fixed, r.OverFixed, r.FixedP = over.Start, over.Gain, over.P
	t.compare(&r.Result, start, unseen)
	r.Recommended = r.Recommended && over.Recommended && r.Model != nil
	r.Complete = t.evaluator.complete(t.rows[0], p.plan)
	r.BestComplete = r.Complete
	r.describe(p)
	r.Seconds = time.Since(started).Seconds()
	return r, nil
}

// apply measures some questions by a model.
func (p *PerQuery) apply(m *fitted, some []int, values []float64) {
	for _, q := range some {
		e := &p.examples[q]
		values[q], _ = at(e.curve, m.logFactor(e.features))
		if p.tuner.o.Metric.LowerIsBetter {
			values[q] = -values[q]
		}
	}
}
