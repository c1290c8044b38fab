package retrieve

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/filter"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search/answer"
	"github.com/hybridge-search/hybridge/search/engines"
	"github.com/hybridge-search/hybridge/search/relevance"
)

// Chunks in the question's own language have the highest cosines. So where a knowledge base has
// chunks in another language, evidence replaces cosines: exact evidence
// for the best chunks in another language, and for all others an estimate by a linear
// function of the cosine, which keeps their order. Fusion by z-scores
// and by ranks then uses evidence; presets that are sums of raw scores stay unchanged.

// exactChunks is the number of chunks in another language with exact evidence. On
// the three sets across languages 20 gave all of the gain but 0.1 points, 50 all of it.
const exactChunks = 50

// centred reports whether evidence is fused in place of cosines.
func (t *target) centred() bool { return t.pool != nil && t.pool.centred }

// candidatesOf is how many hits a leg returns: at least as many as evidence reorders.
func (t *target) candidatesOf(l *leg) int {
	if l.Kind == scoring.Vector && t.centred() {
		return max(l.K, exactChunks)
	}
	return l.K
}

// addMissed searches once more among chunks in other languages than the question, where
// those in its own took nearly all places of the candidates. An approximate index may not
// reach those in a smaller language, whichever it is: a graph of neighbours that was begun
// with them, or grew around them, has few ways there. So they are always searched again.
func (rt *Answered) addMissed(ctx context.Context, first *engine.Request, sent []int) {
	if !rt.centred() || !rt.full || !rt.Estimator.Profile.Mixed() {
		return
	}
	approximate, ownIsMain := rt.Method != methodExact, rt.Estimator.Asked == rt.Estimator.Profile.Main
	if approximate && !ownIsMain {
		rt.addPassing(ctx, first, sent, rt.Estimator.InOwnLanguage())
	}
	if len(rt.foreignHits()) < exactChunks || approximate && ownIsMain {
		rt.addPassing(ctx, first, sent, rt.Estimator.InOtherLanguages())
	}
}

// methodExact is the value of engine.Result.Method for searches that miss nothing.
const methodExact = "exact"

// addPassing searches again among chunks that pass further conditions.
func (rt *Answered) addPassing(ctx context.Context, first *engine.Request, sent []int, more []filter.Condition) {
	req, sent := rt.again(first, sent)
	req.Filter.Conditions = append(slices.Clip(req.Filter.Conditions), more...)
	result, err := engines.Ask(ctx, rt.Subject, engines.CallSearch, rt.Engine.Search, req)
	if err != nil {
		rt.Degraded = append(rt.Degraded, answer.NewDegraded(answer.StepRelevance, rt.KB.ID, err))
		return
	}
	at := make(map[string]int, len(rt.Hits))
	for i := range rt.Hits {
		at[rt.Hits[i].ID] = i
	}
	if len(sent) < len(rt.Legs) {
		rt.perPlannedLeg(result.Hits, sent)
	}
	for i := range result.Hits {
		hit := result.Hits[i]
		if known, twice := at[hit.ID]; twice {
			join(rt.Hits[known].Observations, hit.Observations)
		} else {
			rt.Hits = append(rt.Hits, hit)
		}
	}
}

// again is the first request for the number of missing hits, by the legs that did not fail.
func (rt *Answered) again(first *engine.Request, sent []int) (req *engine.Request, of []int) {
	req = new(*first)
	req.Prefetch, req.Legs = 0, nil
	if first.Sum != nil {
		req.Sum = &engine.Sum{Candidates: exactChunks, Pivot: first.Sum.Pivot}
	}
	for i, at := range sent {
		if rt.Legs[at].err != nil {
			continue
		}
		l := first.Legs[i]
		l.K = min(l.K, exactChunks)
		req.Legs, of = append(req.Legs, l), append(of, at)
		if req.Sum != nil {
			req.Sum.Weights = append(req.Sum.Weights, first.Sum.Weights[i])
			req.Sum.Absent = append(req.Sum.Absent, first.Sum.AbsentPoints(i))
		}
	}
	return req, of
}

// join merges the observations of a hit of two searches: a leg has it if it returned it in
// either of them. Its rank is recomputed from the evidence.
func join(first, again []scoring.Observation) {
	for leg := range first {
		if o := again[leg]; first[leg].Rank == 0 && o.Rank != 0 || !first[leg].Known() {
			first[leg] = o
		}
	}
}

// readEvidence asks the engine for the inputs of exact evidence of the best hits in another
// language: two cosines of each. If it fails, they keep their estimates.
func (rt *Answered) readEvidence(ctx context.Context) {
	if !rt.Estimator.Foreign() {
		return
	}
	best := rt.bestForeign()
	legs := rt.evidenceLegs()
	if len(best) == 0 || len(legs) == 0 {
		return
	}
	at := make(map[string]int, len(best))
	ids := make([]string, len(best))
	for i, hit := range best {
		ids[i], at[rt.Hits[hit].ID] = rt.Hits[hit].ID, hit
	}
	sum := &engine.Sum{Candidates: len(ids)}
	req := &engine.Request{KB: rt.KB, Filter: engine.Filter{IDs: ids}, Sum: sum}
	for _, l := range legs {
		req.Legs, sum.Weights = append(req.Legs, l.Leg), append(sum.Weights, 1)
	}
	result, err := engines.Ask(ctx, rt.Subject, engines.CallSearch, rt.Engine.Search, req)
	if err != nil {
		rt.Degraded = append(rt.Degraded, answer.NewDegraded(answer.StepRelevance, rt.KB.ID, err))
		return
	}
	rt.Exact = make(map[int][]float64, len(ids))
	for i := range result.Hits {
		if hit, asked := at[result.Hits[i].ID]; asked {
			rt.Exact[hit] = rt.exactEvidence(result.Hits[i].Observations, legs, rt.Estimator.LanguageOf(&rt.Hits[hit]))
		}
	}
}

// evidenceLeg compares chunks with one of the two vectors of bank.Exact.
type evidenceLeg struct {
	engine.Leg
	of   int             // the leg whose evidence it is for
	part *relevance.Part // nil: with the question, for all languages
}

// evidenceLegs gives, for each vector leg, a leg with the question and one for each language.
func (rt *Answered) evidenceLegs() []evidenceLeg {
	var legs []evidenceLeg
	add := func(s *relevance.LegScale, p *relevance.Part, vector []float32) {
		l := engine.Leg{Name: strconv.Itoa(len(legs)), Field: rt.Legs[s.Leg].Field, K: exactChunks, Vector: vector}
		legs = append(legs, evidenceLeg{Leg: l, of: s.Leg, part: p})
	}
	for i := range rt.Estimator.Scales {
		s, first := &rt.Estimator.Scales[i], true
		for j := range s.Parts {
			p := &s.Parts[j]
			if p.Exact == nil {
				continue
			}
			if first {
				add(s, nil, p.Exact.Question)
				first = false
			}
			add(s, p, p.Exact.Passage)
		}
	}
	return legs
}

// foreignHits gives the places of the hits in another language.
func (rt *Answered) foreignHits() (found []int) {
	for i := range rt.Hits {
		if rt.Estimator.LanguageOf(&rt.Hits[i]) != rt.Estimator.Asked {
			found = append(found, i)
		}
	}
	return found
}

// bestForeign gives the places of the best hits in another language: of a joint ranking the
// first, else the hits with the largest cosines.
func (rt *Answered) bestForeign() []int {
	found := rt.foreignHits()
	if !rt.Plan.Joint {
		cosine := func(hit int) float64 {
			best := math.Inf(-1)
			for _, s := range rt.Estimator.Scales {
				best = answer.LargerKnown(best, rt.Hits[hit].Observations[s.Leg].Raw)
			}
			return best
		}
		slices.SortStableFunc(found, func(a, b int) int { return cmp.Compare(cosine(b), cosine(a)) })
	}
	if rt.demand.AllEvidence {
		return found
	}
	return found[:min(len(found), exactChunks)]
}

// exactEvidence is the evidence of a chunk for each leg, given its cosines in the evidence legs.
func (rt *Answered) exactEvidence(cosines []scoring.Observation, legs []evidenceLeg, chunkLanguage string) []float64 {
	all := make([]float64, len(rt.Legs))
	for i := range all {
		all[i] = math.NaN()
	}
	question := math.NaN()
	for i, l := range legs {
		switch {
		case l.part == nil:
			question = cosines[i].Raw
		case l.part.Language == chunkLanguage:
			all[l.of] = l.part.Exact.Evidence(question, cosines[i].Raw)
		}
	}
	return all
}
