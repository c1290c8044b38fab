package search

import (
	"context"
	"slices"
	"time"

	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/scoring"
)

// answer is what one knowledge base says to the question.
type answer struct {
	target   *target
	legs     []leg
	known    *float64
	hits     []engine.Hit
	chunks   []engine.Chunk // that came with the hits
	release  func()         // the memory of the hits
	ranking  []scoring.Fused
	fused    []scoring.Fused // of the ranking, what the legs' thresholds leave
	cut      map[string]int  // hits dropped by a leg's threshold
	partial  []Degraded      // legs that took part, but could not score every hit
	relaxed  string          // the minimum_should_match that answered, when not the planned one
	full     bool            // an engine stopped at its limit: more may match
	method   string
	degraded []Degraded
	fuse     float64 // ms
	late     late
	err      error // no leg could be run
}

// answer searches the knowledge base that a is for, relaxing the text query where
// the plan allows it and nothing is found.
func (s *Searcher) answer(ctx context.Context, a *answer, q *question) {
	rules := a.target.plan.Text
	s.attempt(ctx, a, q, rules)
	for _, rung := range a.target.plan.Relaxations {
		if a.err != nil || len(a.fused) > 0 {
			break
		}
		a.giveBack()
		*a = answer{target: a.target}
		rules.Minimum = rung
		s.attempt(ctx, a, q, rules)
		a.relaxed = rung.String()
	}
}

// attempt runs the plan once with one set of text rules.
func (s *Searcher) attempt(ctx context.Context, a *answer, q *question, rules analysis.Rules) {
	if err := s.equip(ctx, a, q, rules); err != nil {
		a.fail(err)
		return
	}
	req, sent := a.request(q)
	if len(sent) == 0 {
		a.idle()
		return
	}
	started := time.Now()
	result, err := a.target.engine.Search(ctx, req)
	if err != nil {
		a.fail(err)
		return
	}
	a.take(result, req, sent, milliseconds(time.Since(started)))
	if a.err != nil {
		return
	}
	started = time.Now()
	a.fuseHits()
	a.fuse = milliseconds(time.Since(started))
}

// request asks the engine for every leg that can run and has something to look
// for; sent maps its legs to the planned ones.
func (a *answer) request(q *question) (req *engine.Request, sent []int) {
	plan := &a.target.plan
	req = &engine.Request{
		KB: a.target.kb, Filter: q.filterOf(&a.target.kb), Facets: q.facets,
		Prefetch: a.target.shown,
	}
	sent, req.Legs = make([]int, 0, len(a.legs)), make([]engine.Leg, 0, len(a.legs))
	for i := range a.legs {
		if !a.legs[i].sends() {
			continue
		}
		sent = append(sent, i)
		req.Legs = append(req.Legs, engine.Leg{
			Name: a.legs[i].Name, Field: a.legs[i].Field, K: a.legs[i].K,
			Text: a.legs[i].text, Vector: a.legs[i].vector,
			Required: plan.TextRequired && a.legs[i].Kind == scoring.Text,
		})
	}
	if plan.Joint {
		req.Sum = a.sum(sent)
	} else {
		a.postpone(req, sent)
	}
	return req, sent
}

// sum is the joint ranking that equals the plan's fusion: the weights as they
// are for script_score; each over its leg's deviation for z-scores, whose
// means only shift every chunk by the same. A chunk without the vector of a
// further field is there as one of average cosine.
func (a *answer) sum(sent []int) *engine.Sum {
	plan := &a.target.plan
	sum := &engine.Sum{Candidates: plan.Candidates, Weights: make([]float64, len(sent))}
	if plan.Fusion.Saturated {
		sum.Pivot = plan.Fusion.Pivot
	}
	var total float64
	for i, at := range sent {
		l := &a.legs[at]
		weight := l.Weight
		if plan.Fusion.Normalizer == scoring.ZScore && l.moments != nil {
			weight = 0
			if l.moments.Deviation > 0 {
				weight = l.Weight / l.moments.Deviation
			}
			if a.further(l) {
				sum.Absent = slices.Grow(sum.Absent, len(sent))[:len(sent)]
				sum.Absent[i] = max(0, l.moments.Mean+1)
			}
		}
		sum.Weights[i] = weight
		total += weight
	}
	if total == 0 { // nothing tells the chunks apart; any order that is stable will do
		for i := range sum.Weights {
			sum.Weights[i] = 1
		}
	}
	return sum
}

// take accepts the engine's result: hits with one observation per planned leg.
func (a *answer) take(result *engine.Result, req *engine.Request, sent []int, took float64) {
	a.hits, a.chunks, a.method = result.Hits, result.Chunks, result.Method
	failed := 0
	for i, outcome := range result.Legs {
		l := &a.legs[sent[i]]
		l.ran, l.took = true, milliseconds(outcome.Took)
		switch {
		case outcome.Err != nil:
			l.err = outcome.Err
			failed++
		case outcome.Incomplete != nil:
			a.partial = append(a.partial, a.lost(l, "ranked its own hits; what it says of the others is unknown: "+
				reason(outcome.Incomplete)))
		}
	}
	if len(result.Legs) == 0 {
		for _, at := range sent {
			a.legs[at].ran, a.legs[at].took = true, took
		}
	}
	a.degrade()
	if failed == len(sent) && failed > 0 {
		a.err = a.legs[sent[0]].err
		return
	}
	if len(sent) < len(a.legs) {
		for h := range a.hits {
			a.hits[h].Observations = a.spread(a.hits[h].Observations, sent)
		}
	}
	a.full = a.stopped(req, sent)
}

// stopped reports whether the engine gave as many hits as it was asked for.
func (a *answer) stopped(req *engine.Request, sent []int) bool {
	if req.Sum != nil {
		return len(a.hits) >= req.Sum.Candidates
	}
	for _, at := range sent {
		returned := 0
		for h := range a.hits {
			if a.hits[h].Observations[at].Rank > 0 {
				returned++
			}
		}
		if returned >= a.legs[at].K {
			return true
		}
	}
	return false
}

// spread gives every planned leg its observation, also those not sent.
func (a *answer) spread(observed []scoring.Observation, sent []int) []scoring.Observation {
	all := make([]scoring.Observation, len(a.legs))
	for i := range all {
		all[i] = a.legs[i].unobserved()
	}
	for i, at := range sent {
		all[at] = observed[i]
	}
	return all
}

// fuseHits ranks the hits and applies the thresholds on legs.
func (a *answer) fuseHits() {
	planned := a.planned()
	thresholds := a.legThresholds().Applicable(planned)
	a.ranking = a.ranked(planned)
	var cuts []scoring.Cut
	a.fused, cuts = thresholds.Cut(a.ranking, a.candidates(thresholds))
	if len(cuts) == 0 {
		return
	}
	a.cut = make(map[string]int, len(cuts))
	for _, c := range cuts {
		a.cut[c.Threshold] += c.Count
	}
}

// ranked fuses the hits.
func (a *answer) ranked(planned []scoring.Leg) []scoring.Fused {
	return a.target.plan.Fusion.FuseEach(planned, len(a.hits), func(i int) *scoring.Candidate {
		return &a.hits[i].Candidate
	})
}

// candidates are those that were fused, where thresholds look at them.
func (a *answer) candidates(thresholds scoring.Thresholds) []scoring.Candidate {
	if len(thresholds.Legs) == 0 {
		return nil
	}
	candidates := make([]scoring.Candidate, len(a.hits))
	for i := range a.hits {
		candidates[i] = a.hits[i].Candidate
	}
	return candidates
}

// planned are the legs as fusion takes them.
func (a *answer) planned() []scoring.Leg {
	planned := make([]scoring.Leg, len(a.legs))
	for i := range a.legs {
		planned[i] = a.legs[i].scoring()
	}
	return planned
}

// legThresholds are the absolute ones on the legs' raw scores. Where a leg is
// called as its kind, the kind's threshold is that leg's alone: a passage is not
// cut for its title.
func (a *answer) legThresholds() scoring.Thresholds {
	var thresholds scoring.Thresholds
	for i := range a.legs {
		minimum := a.target.plan.Threshold.Text
		if a.legs[i].Kind == scoring.Vector {
			minimum = a.target.plan.Threshold.Vector
		}
		if minimum != nil && !a.further(&a.legs[i]) {
			thresholds.Legs = append(thresholds.Legs, scoring.LegThreshold{Index: i, Min: *minimum})
		}
	}
	return thresholds
}

// further reports whether a leg is over a field beside the one that is called as
// its kind, which not every chunk needs to have.
func (a *answer) further(l *leg) bool {
	kind := string(l.Kind)
	return l.Name != kind && slices.ContainsFunc(a.legs, func(other leg) bool { return other.Name == kind })
}

// degrade lists the legs that take no part, or not in full.
func (a *answer) degrade() {
	a.degraded = slices.Clone(a.partial)
	for i := range a.legs {
		if a.legs[i].err != nil {
			a.degraded = append(a.degraded, a.lost(&a.legs[i], reason(a.legs[i].err)))
		}
	}
}

func (a *answer) lost(l *leg, reason string) Degraded {
	return Degraded{Leg: l.Name, KnowledgeBase: a.target.kb.ID, Reason: reason}
}

// fail makes it the answer of a knowledge base none of whose legs could be run.
func (a *answer) fail(err error) {
	for i := range a.legs {
		if a.legs[i].err == nil {
			a.legs[i].err = err
		}
	}
	if len(a.legs) == 0 {
		for _, planned := range a.target.plan.Legs {
			a.legs = append(a.legs, leg{Leg: planned, err: err})
		}
	}
	a.degrade()
	a.err = err
}

// idle makes it the answer when no leg has anything to look for: an error when
// they all failed, else an answer without hits.
func (a *answer) idle() {
	for i := range a.legs {
		if a.legs[i].err == nil {
			a.degrade()
			return
		}
	}
	a.fail(a.legs[0].err)
}

// reason is what a caller is told of an error: its detail, never its cause.
func reason(err error) string {
	var e *fault.Error
	if asFault(err, &e) {
		return e.Detail
	}
	return "internal error"
}
