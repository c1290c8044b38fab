package retrieve

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/tracing"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search/answer"
	"github.com/hybridge-search/hybridge/search/ask"
	"github.com/hybridge-search/hybridge/search/engines"
	"github.com/hybridge-search/hybridge/search/plan"
	"github.com/hybridge-search/hybridge/search/rank"
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

// Retrieval is the result of one knowledge base for the question.
type Retrieval struct {
	*engines.Subject
	rank.Base
	Question *ask.Question
	wants    plan.Exactness
	demand   Demand
	several  bool // other knowledge bases are searched with it
	measured *Measured
	// vocabulary of the run, see run.vocabulary.
	vocabulary func(query int) *analysis.Vocabulary
	Legs       []leg
	Known      *float64       // share of the query's idf mass that the text index knows
	chunks     []engine.Chunk // returned with the hits
	Cuts       []scoring.Cut  // hits dropped, per threshold on a leg
	Relaxed    string         // the minimum_should_match that found something, if not the planned one
	Method     string
	Pool       *pool // nil: scored by itself
	Degraded   []answer.Degraded
	FuseMS     float64
	Deferred   deferredScores
	Rules      *ask.MatchedRules // nil: no rule matches
	Pins       []ask.Pin         // of the rules, with the chunks they show
	addedPins  []int             // hits that pins added, which no leg found
	spared     int               // pinned hits of the ranking that are below a threshold on a leg
}

// Execute searches all knowledge bases, each on its own and at the same time.
func (s *Retriever) Execute(ctx context.Context, r *ask.Asked, m []Measured, d Demand) []Retrieval {
	ctx, span := tracing.Start(ctx, engines.SpanExecute)
	defer span.End(nil)
	retrievals := make([]Retrieval, len(r.Subjects))
	for i := range retrievals {
		retrievals[i] = newRetrieval(r, m, d, i)
	}
	s.measureAll(ctx, retrievals)
	if len(retrievals) == 1 {
		s.retrieve(ctx, &retrievals[0])
		return retrievals
	}
	var group errgroup.Group
	group.SetLimit(engines.ParallelSubjects)
	for i := range retrievals {
		group.Go(func() error {
			s.retrieve(ctx, &retrievals[i])
			return nil // each carries its own error
		})
	}
	_ = group.Wait()
	return retrievals
}

func newRetrieval(r *ask.Asked, m []Measured, d Demand, i int) Retrieval {
	rt := Retrieval{
		Subject: &r.Subjects[i], Question: &r.Question, demand: d,
		measured: &m[i], vocabulary: r.Vocabulary, wants: r.Request.Exact,
		Base: rank.Base{Source: int32(i)}, several: len(r.Subjects) > 1, //nolint:gosec // at most 64
	}
	if r.Rules != nil {
		rt.Rules = r.Rules[i]
	}
	return rt
}

// Failure is the error of a search in which no leg of any knowledge base could be run.
func Failure(ctx context.Context, retrievals []Retrieval) error {
	var reasons []string
	var causes []error
	kind := fault.Kind("")
	for i := range retrievals {
		if retrievals[i].Err == nil {
			return nil
		}
		if kind == "" {
			kind = fault.KindOf(retrievals[i].Err)
		}
		causes = append(causes, retrievals[i].Err)
		for _, d := range retrievals[i].Degraded {
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
func (s *Retriever) retrieve(ctx context.Context, rt *Retrieval) {
	ctx, span := tracing.Start(ctx, engines.SpanRetrieve)
	defer func() {
		span.Note("hybridge.knowledge_base", rt.KB.ID)
		span.Count("hybridge.hits", len(rt.Hits))
		span.End(rt.Err)
	}()
	rules, fresh := rt.Plan.Text, *rt
	s.attempt(ctx, rt, rules)
	for _, minimum := range rt.Plan.Relaxations {
		if rt.Err != nil || len(rt.Ranking) > rt.spared {
			break
		}
		*rt = fresh
		rules.Minimum = minimum
		s.attempt(ctx, rt, rules)
		rt.Relaxed = minimum.String()
	}
}

// attempt runs the plan once with one set of text rules.
func (s *Retriever) attempt(ctx context.Context, rt *Retrieval, rules analysis.Rules) {
	if err := s.prepareLegs(ctx, rt, rules); err != nil {
		rt.fail(err)
		return
	}
	req, sent := rt.request()
	if len(sent) == 0 && len(rt.Plan.Legs) > 0 {
		rt.acceptNothing()
		return
	}
	started := time.Now()
	result, err := engines.Ask(ctx, rt.Subject, engines.CallSearch, rt.Engine.Search, req)
	if err != nil {
		rt.fail(err)
		return
	}
	rt.accept(result, req, sent, answer.Milliseconds(time.Since(started)))
	if rt.Err != nil {
		return
	}
	rt.addMissed(ctx, req, sent)
	rt.readEvidence(ctx)
	started = time.Now()
	if rt.Pool == nil {
		weighByQuestion([]*Retrieval{rt})
	}
	rt.fuse()
	rt.FuseMS = answer.Milliseconds(time.Since(started))
}

// request asks the engine for every leg that can run and is not empty.
// sent has the place in the plan of each of its legs.
func (rt *Retrieval) request() (req *engine.Request, sent []int) {
	req = &engine.Request{
		KB: rt.KB, Filter: rt.Filter(), Facets: rt.facets(), Prefetch: rt.demand.Prefetch, Exact: rt.wants.Legs,
	}
	req.Signals, _ = rt.signals()
	sent, req.Legs = make([]int, 0, len(rt.Legs)), make([]engine.Leg, 0, len(rt.Legs))
	for i := range rt.Legs {
		l := &rt.Legs[i]
		if !l.Sends() {
			continue
		}
		sent = append(sent, i)
		req.Legs = append(req.Legs, engine.Leg{
			Name: l.Name, Field: l.Field, K: rt.candidatesOf(l), Text: l.Text, Vector: l.Vector,
			Required: rt.Plan.TextRequired && l.Kind == scoring.Text, Boosts: l.Boosts,
		})
	}
	if rt.Plan.Joint {
		req.Sum = rt.sum(sent)
	} else {
		rt.deferScores(req, sent)
	}
	return req, sent
}

// facets are the fields whose values hits carry: the requested ones, and the language if
// a knowledge base has several.
func (rt *Retrieval) facets() []string {
	asked := rt.Question.Facets
	if rt.Estimator == nil || !rt.Estimator.Profile.Mixed() || slices.Contains(asked, engine.MetadataLanguage) {
		return asked
	}
	return append(slices.Clip(asked), engine.MetadataLanguage)
}

// sum is the joint ranking that equals the plan's fusion: the weights as they
// are for script_score; each over its leg's deviation for z-scores, whose
// means shift every chunk alike. A chunk without the vector of a secondary
// field counts as one of average cosine.
func (rt *Retrieval) sum(sent []int) *engine.Sum {
	fusion := &rt.Plan.Fusion
	sum := &engine.Sum{Candidates: rt.Plan.Candidates, Weights: make([]float64, len(sent))}
	if fusion.Saturated {
		sum.Pivot = fusion.Pivot
	}
	var total float64
	for i, at := range sent {
		l := &rt.Legs[at]
		weight := l.Weight
		if moments := l.raws(); fusion.Normalizer == scoring.ZScore && moments != nil {
			weight = 0
			if moments.Deviation > 0 {
				weight = l.Weight / moments.Deviation
			}
			if rt.isSecondary(l) {
				sum.Absent = slices.Grow(sum.Absent, len(sent))[:len(sent)]
				sum.Absent[i] = max(0, moments.Mean+1)
			}
		}
		sum.Weights[i] = weight
		total += weight
	}
	signals, places := rt.signals()
	for i := range signals {
		sum.Signals = append(sum.Signals, rt.Legs[places[i]].Weight)
	}
	if total == 0 { // all chunks are equal: any stable order will do
		for i := range sum.Weights {
			sum.Weights[i] = 1
		}
	}
	return sum
}

// accept takes over the engine's result, with one observation per planned leg.
func (rt *Retrieval) accept(result *engine.Result, req *engine.Request, sent []int, took float64) {
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
		return
	}
	if len(sent) < len(rt.Legs) {
		rt.perPlannedLeg(rt.Hits, sent)
	}
	rt.Full = rt.stoppedAtLimit(req, sent)
}

// perPlannedLeg adds the observations of the legs that were not sent, and of signals.
func (rt *Retrieval) perPlannedLeg(hits []engine.Hit, sent []int) {
	_, signals := rt.signals()
	for h := range hits {
		all := make([]scoring.Observation, len(rt.Legs))
		for i := range all {
			all[i] = rt.Legs[i].unobserved()
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
func (rt *Retrieval) stoppedAtLimit(req *engine.Request, sent []int) bool {
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

// acceptNothing ends a retrieval with only empty or failed legs: it
// fails when all of them failed, else it finds nothing.
func (rt *Retrieval) acceptNothing() {
	if !slices.ContainsFunc(rt.Legs, func(l leg) bool { return l.err == nil && l.Kind != scoring.Signal }) {
		rt.fail(rt.Legs[0].err)
		return
	}
	rt.degradeFailed()
}

// fail ends the retrieval: none of its legs could be run.
func (rt *Retrieval) fail(err error) {
	if len(rt.Legs) == 0 {
		for _, planned := range rt.Plan.Legs {
			rt.Legs = append(rt.Legs, leg{Leg: planned})
		}
	}
	for i := range rt.Legs {
		if rt.Legs[i].err == nil {
			rt.Legs[i].err = err
		}
	}
	rt.degradeFailed()
	if len(rt.Legs) == 0 {
		rt.Degraded = append(rt.Degraded, answer.NewDegraded(answer.StepContent, rt.KB.ID, err))
	}
	rt.Err = err
}

// degradeFailed lists the failed legs.
func (rt *Retrieval) degradeFailed() {
	for i := range rt.Legs {
		if l := &rt.Legs[i]; l.err != nil && l.Kind != scoring.Signal {
			rt.Degraded = append(rt.Degraded, answer.NewDegraded(l.Name, rt.KB.ID, l.err))
		}
	}
}
