package retrieve

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/tracing"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search/answer"
	"github.com/hybridge-search/hybridge/search/ask"
	"github.com/hybridge-search/hybridge/search/engines"
	"github.com/hybridge-search/hybridge/search/relevance"
)

// Retriever runs searches on engines.
type Retriever struct {
	Asker    ask.Asker
	Bank     Bank // nil: relevance is unknown
	Profiles *Profiles
}

// Demand is the caller's needs of a retrieval beside its ranking.
type Demand struct {
	Prefetch    int  // best hits whose chunks an engine may return
	DeferScores bool // scores that do not affect the ranking may be read with the page
	// allEvidence reads the exact evidence of all hits: which ones count depends on the scores they are fused by.
	AllEvidence bool
}

// Answered is the answer of a knowledge base's engine to the prepared legs.
type Answered struct {
	prepared
	*relevance.Found
	Method   string
	Relaxed  string         // the minimum_should_match that found something, if not the planned one
	Deferred deferredScores // the scores to be read with the page
	Degraded []answer.Degraded
	chunks   []engine.Chunk // returned with the hits
	full     bool           // the engine stopped at its limit: more may match
}

// Execute searches all knowledge bases, each on its own and at the same time.
func (s *Retriever) Execute(ctx context.Context, r *ask.Asked, m []Measured, d Demand) []Answered {
	ctx, span := tracing.Start(ctx, engines.SpanExecute)
	defer span.End(nil)
	targets := s.targets(ctx, r, m, d)
	answers := make([]Answered, len(targets))
	engines.Each(len(targets), func(i int) { answers[i] = s.retrieve(ctx, targets[i]) })
	return answers
}

// targets measures the knowledge bases of a search, and pools them.
func (s *Retriever) targets(ctx context.Context, r *ask.Asked, m []Measured, d Demand) []*target {
	targets := make([]*target, len(r.Subjects))
	for i := range targets {
		targets[i] = &target{
			Subject: &r.Subjects[i], Question: &r.Question, demand: d, measured: &m[i], vocabulary: r.Vocabulary,
			wants: r.Request.Exact, several: len(r.Subjects) > 1, source: int32(i), //nolint:gosec // at most 64
		}
		if r.Rules != nil {
			targets[i].Rules = r.Rules[i]
		}
	}
	engines.Each(len(targets), func(i int) { s.measureOnce(ctx, targets[i]) })
	poolAll(targets)
	return targets
}

// Failure is the error of a search in which no leg of any knowledge base could be run.
func Failure(ctx context.Context, answers []Answered) error {
	var reasons []string
	var causes []error
	kind := fault.Kind("")
	for i := range answers {
		if answers[i].Err == nil {
			return nil
		}
		if kind == "" {
			kind = fault.KindOf(answers[i].Err)
		}
		causes = append(causes, answers[i].Err)
		for _, d := range answers[i].Degraded {
			reasons = append(reasons, d.KnowledgeBase+"/"+d.Leg+": "+d.Reason)
		}
	}
	if ctx.Err() != nil {
		return engines.ContextFault(ctx)
	}
	return fault.Wrap(kind, errors.Join(causes...), "no leg of the search could be run: %s", strings.Join(reasons, "; "))
}

// retrieve searches one knowledge base. If the plan allows it and nothing is found,
// it relaxes the text query step by step.
func (s *Retriever) retrieve(ctx context.Context, t *target) (a Answered) {
	ctx, span := tracing.Start(ctx, engines.SpanRetrieve)
	defer func() {
		span.Note("hybridge.knowledge_base", t.KB.ID)
		span.Count("hybridge.hits", len(a.Hits))
		span.End(a.Err)
	}()
	rules := t.Plan.Text
	a = s.attempt(ctx, t, rules)
	for _, minimum := range t.Plan.Relaxations {
		if a.Err != nil || a.findsSome() {
			break
		}
		rules.Minimum = minimum
		a = s.attempt(ctx, t, rules)
		a.Relaxed = minimum.String()
	}
	return a
}

// attempt runs the plan once with one set of text rules.
func (s *Retriever) attempt(ctx context.Context, t *target, rules analysis.Rules) Answered {
	p, err := s.prepare(t, rules)
	if err != nil {
		return p.failed(err)
	}
	req, sent := p.request()
	if len(sent) == 0 && len(t.Plan.Legs) > 0 {
		return p.unsent()
	}
	started := time.Now()
	result, err := engines.Ask(ctx, t.Subject, engines.CallSearch, t.Engine.Search, req)
	if err != nil {
		return p.failed(err)
	}
	a := p.answered(result, req, sent, answer.Milliseconds(time.Since(started)))
	if a.Err == nil {
		a.addMissed(ctx, req, sent)
		a.readEvidence(ctx)
	}
	return a
}

// request asks the engine for every leg that can run and is not empty.
// sent has the place in the plan of each of its legs.
func (p *prepared) request() (req *engine.Request, sent []int) {
	req = &engine.Request{
		KB: p.KB, Filter: p.Filter(), Facets: p.facets(), Prefetch: p.demand.Prefetch, Exact: p.wants.Legs,
	}
	req.Signals, _ = p.signals()
	sent, req.Legs = make([]int, 0, len(p.Legs)), make([]engine.Leg, 0, len(p.Legs))
	for i := range p.Legs {
		l := &p.Legs[i]
		if !l.Sends() {
			continue
		}
		sent = append(sent, i)
		req.Legs = append(req.Legs, engine.Leg{
			Name: l.Name, Field: l.Field, K: p.candidatesOf(l), Text: l.Text, Vector: l.Vector,
			Required: p.Plan.TextRequired && l.Kind == scoring.Text, Boosts: l.Boosts,
		})
	}
	if p.Plan.Joint {
		req.Sum = p.sum(sent)
	} else {
		req.DeferScores = p.defersScores(sent)
	}
	return req, sent
}

// facets are the fields whose values hits carry: the requested ones, and the language if
// a knowledge base has several.
func (t *target) facets() []string {
	asked, j := t.Question.Facets, t.measured.estimator
	if j == nil || !j.Profile.Mixed() || slices.Contains(asked, engine.MetadataLanguage) {
		return asked
	}
	return append(slices.Clip(asked), engine.MetadataLanguage)
}

// sum is the joint ranking that equals the plan's fusion: the weights as they
// are for script_score; each over its leg's deviation for z-scores, whose
// means shift every chunk alike. A chunk without the vector of a secondary
// field counts as one of average cosine.
func (p *prepared) sum(sent []int) *engine.Sum {
	fusion := &p.Plan.Fusion
	sum := &engine.Sum{Candidates: p.Plan.Candidates, Weights: make([]float64, len(sent))}
	if fusion.Saturated {
		sum.Pivot = fusion.Pivot
	}
	var total float64
	for i, at := range sent {
		l := &p.Legs[at]
		weight := l.Weight
		if moments := l.raws(); fusion.Normalizer == scoring.ZScore && moments != nil {
			weight = 0
			if moments.Deviation > 0 {
				weight = l.Weight / moments.Deviation
			}
			if p.isSecondary(l) {
				sum.Absent = slices.Grow(sum.Absent, len(sent))[:len(sent)]
				sum.Absent[i] = max(0, moments.Mean+1)
			}
		}
		sum.Weights[i] = weight
		total += weight
	}
	signals, places := p.signals()
	for i := range signals {
		sum.Signals = append(sum.Signals, p.Legs[places[i]].Weight)
	}
	if total == 0 { // all chunks are equal: any stable order will do
		for i := range sum.Weights {
			sum.Weights[i] = 1
		}
	}
	return sum
}

// answer begins the answer to the legs.
func (p *prepared) answer() Answered {
	return Answered{prepared: *p, Found: &relevance.Found{Estimator: p.measured.estimator.Copy()}}
}

// answered takes over the engine's result, with one observation per planned leg.
func (p *prepared) answered(result *engine.Result, req *engine.Request, sent []int, took float64) Answered {
	rt := p.answer()
	rt.Hits, rt.chunks, rt.Method = result.Hits, result.Chunks, result.Method
	if result.Damaged > 0 {
		rt.Degraded = append(rt.Degraded, answer.NewDegraded(answer.StepContent, rt.KB.ID, fault.New(fault.Corrupt,
			"%d damaged chunks are left out; hybridge kb check names them", result.Damaged)))
	}
	failed := 0
	for i, outcome := range result.Legs {
		l := &rt.Legs[sent[i]]
		l.ran, l.took = true, answer.Milliseconds(outcome.Took)
		switch {
		case outcome.Err != nil:
			l.err = outcome.Err
			failed++
		case outcome.Incomplete != nil:
			d := answer.NewDegraded(l.Name, rt.KB.ID, outcome.Incomplete)
			d.Reason = "ranked its own hits; what it says of the others is unknown: " + d.Reason
			rt.Degraded = append(rt.Degraded, d)
		}
	}
	if len(result.Legs) == 0 {
		for _, at := range sent {
			rt.Legs[at].ran, rt.Legs[at].took = true, took
		}
	}
	rt.degradeFailed()
	if failed > 0 && failed == len(sent) {
		rt.Err = rt.Legs[sent[0]].err
		return rt
	}
	if len(sent) < len(rt.Legs) {
		rt.perPlannedLeg(rt.Hits, sent)
	}
	if req.DeferScores {
		rt.Deferred = rt.unread(req.Legs, sent)
	}
	rt.full = rt.stoppedAtLimit(req, sent)
	return rt
}

// perPlannedLeg adds the observations of the legs that were not sent, and of signals.
func (p *prepared) perPlannedLeg(hits []engine.Hit, sent []int) {
	_, signals := p.signals()
	for h := range hits {
		all := make([]scoring.Observation, len(p.Legs))
		for i := range all {
			all[i] = p.Legs[i].unobserved()
		}
		for i, at := range sent {
			all[at] = hits[h].Observations[i]
		}
		for i, at := range signals {
			all[at] = observedSignal(hits[h].Signals[i])
		}
		hits[h].Observations = all
	}
}

// stoppedAtLimit reports whether the engine returned as many hits as requested.
func (rt *Answered) stoppedAtLimit(req *engine.Request, sent []int) bool {
	if req.Sum != nil {
		return len(rt.Hits) >= req.Sum.Candidates
	}
	for _, at := range sent {
		returned := 0
		for i := range rt.Hits {
			if rt.Hits[i].Observations[at].Rank > 0 {
				returned++
			}
		}
		if returned >= rt.candidatesOf(&rt.Legs[at]) {
			return true
		}
	}
	return false
}

// unsent is the answer to empty or failed legs only: an error if all of them failed, else nothing is found.
func (p *prepared) unsent() Answered {
	if !slices.ContainsFunc(p.Legs, func(l leg) bool { return l.err == nil && l.Kind != scoring.Signal }) {
		return p.failed(p.Legs[0].err)
	}
	rt := p.answer()
	rt.degradeFailed()
	return rt
}

// failed is the answer if none of the legs could be run.
func (p *prepared) failed(err error) Answered {
	if len(p.Legs) == 0 {
		for _, planned := range p.Plan.Legs {
			p.Legs = append(p.Legs, leg{Leg: planned})
		}
	}
	for i := range p.Legs {
		if p.Legs[i].err == nil {
			p.Legs[i].err = err
		}
	}
	rt := p.answer()
	rt.degradeFailed()
	if len(rt.Legs) == 0 {
		rt.Degraded = append(rt.Degraded, answer.NewDegraded(answer.StepContent, rt.KB.ID, err))
	}
	rt.Err = err
	return rt
}

// degradeFailed lists the failed legs.
func (rt *Answered) degradeFailed() {
	for i := range rt.Legs {
		if l := &rt.Legs[i]; l.err != nil && l.Kind != scoring.Signal {
			rt.Degraded = append(rt.Degraded, answer.NewDegraded(l.Name, rt.KB.ID, l.err))
		}
	}
}
