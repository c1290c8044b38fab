package search

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search/answer"
	"github.com/hybridge-search/hybridge/search/engines"
)

// A chunk in the question's own language wins every cosine. So where a knowledge base has
// chunks in another language than the question, evidence takes the place of cosines:
// exact for the best of those in another language, and by the line that
// stands for it for all others, which keeps the order of the cosines. Fusion by z-scores
// and by ranks is of evidence then; presets that are sums of raw scores stay as they are.

// exactChunks is how many of the chunks in another language have their exact evidence read. On
// the three sets across languages 20 gave all of the gain but 0.1 points, 50 all of it.
const exactChunks = 50

// foreign reports whether chunks are in another language than the question.
func (j *judge) foreign() bool {
	return j != nil && slices.ContainsFunc(j.scales, func(s legScale) bool {
		return slices.ContainsFunc(s.parts, func(p part) bool { return p.language != s.asked })
	})
}

// centred reports whether evidence is fused in place of cosines.
func (rt *retrieval) centred() bool { return rt.pool != nil && rt.pool.centred }

// candidatesOf is how many hits a leg returns: at least as many as evidence orders anew.
func (rt *retrieval) candidatesOf(l *leg) int {
	if l.Kind == scoring.Vector && rt.centred() {
		return max(l.K, exactChunks)
	}
	return l.K
}

// moments of the evidence over the knowledge base, from those of the cosines: within each
// language these are taken to vary alike, around the language's own mean. Languages of a few
// chunks are no parts, so the shares of those that are add up to less than 1.
func (s *legScale) moments(cosines *scoring.Moments) *scoring.Moments {
	var all, middle, squares float64
	for _, p := range s.parts {
		all += p.share
	}
	for _, p := range s.parts {
		middle += p.share / all * p.middle
		squares += p.share / all * p.middle * p.middle
	}
	within := max(cosines.Deviation*cosines.Deviation-max(squares-middle*middle, 0), 0)
	var mean, second float64
	for _, p := range s.parts {
		m := p.Evidence(p.middle)
		mean += p.share / all * m
		second += p.share / all * (p.Slope*p.Slope*within + m*m)
	}
	return &scoring.Moments{Mean: mean, Deviation: math.Sqrt(max(second-mean*mean, 0))}
}

// addMissed searches once more among chunks in other languages than the question, where
// those in its own took nearly all places of the candidates. An approximate index may not
// reach those in a smaller language, whichever it is: a graph of neighbours that was begun
// with them, or grew around them, has few ways there. So they are always searched again.
func (rt *retrieval) addMissed(ctx context.Context, first *engine.Request, sent []int) {
	if !rt.centred() || !rt.full || !rt.judge.profile.mixed() {
		return
	}
	approximate, ownIsMain := rt.method != methodExact, rt.judge.asked == rt.judge.profile.main
	if approximate && !ownIsMain {
		rt.addPassing(ctx, first, sent, rt.judge.inOwnLanguage())
	}
	if len(rt.foreignHits()) < exactChunks || approximate && ownIsMain {
		rt.addPassing(ctx, first, sent, rt.judge.inOtherLanguages())
	}
}

// methodExact is engine.Result.Method where nothing can have been missed.
const methodExact = "exact"

// addPassing searches again among chunks that pass further conditions.
func (rt *retrieval) addPassing(ctx context.Context, first *engine.Request, sent []int, more []engine.Condition) {
	req, sent := rt.again(first, sent)
	req.Filter.Conditions = append(slices.Clip(req.Filter.Conditions), more...)
	result, err := engines.Ask(ctx, rt.Subject, engines.CallSearch, rt.Engine.Search, req)
	if err != nil {
		rt.degraded = append(rt.degraded, answer.NewDegraded(answer.StepRelevance, rt.KB.ID, err))
		return
	}
	at := make(map[string]int, len(rt.hits))
	for i := range rt.hits {
		at[rt.hits[i].ID] = i
	}
	if len(sent) < len(rt.legs) {
		rt.perPlannedLeg(result.Hits, sent)
	}
	for i := range result.Hits {
		hit := result.Hits[i]
		if known, twice := at[hit.ID]; twice {
			join(rt.hits[known].Observations, hit.Observations)
		} else {
			rt.hits = append(rt.hits, hit)
		}
	}
}

// again is the first request for as many hits as are missed, by the legs that did not fail.
func (rt *retrieval) again(first *engine.Request, sent []int) (req *engine.Request, of []int) {
	req = new(*first)
	req.Prefetch, req.Legs = 0, nil
	if first.Sum != nil {
		req.Sum = &engine.Sum{Candidates: exactChunks, Pivot: first.Sum.Pivot}
	}
	for i, at := range sent {
		if rt.legs[at].err != nil {
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

// join adds what the legs said of a hit of two searches: a leg has it that returned it in
// either of them. Its rank is made anew, as evidence has it.
func join(said, again []scoring.Observation) {
	for leg := range said {
		if o := again[leg]; said[leg].Rank == 0 && o.Rank != 0 || !said[leg].Known() {
			said[leg] = o
		}
	}
}

// inOtherLanguages is what chunks in another language than the question pass. Those that do
// not say theirs are in the main one.
func (j *judge) inOtherLanguages() []engine.Condition {
	others := []engine.Condition{{Field: engine.MetadataLanguage, In: []engine.Value{{V: j.asked}}, Not: true}}
	if j.asked == j.profile.main {
		others = append(others, engine.Condition{Field: engine.MetadataLanguage, Exists: new(true)})
	}
	return others
}

// inOwnLanguage is what chunks in the language of the question pass, which is not the main
// one: all of them say so.
func (j *judge) inOwnLanguage() []engine.Condition {
	return []engine.Condition{{Field: engine.MetadataLanguage, In: []engine.Value{{V: j.asked}}}}
}

// readEvidence asks the engine for what makes the evidence of the best hits in another
// language exact: two cosines of each. Where it fails, the line stands for them.
func (rt *retrieval) readEvidence(ctx context.Context) {
	if !rt.judge.foreign() {
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
		ids[i], at[rt.hits[hit].ID] = rt.hits[hit].ID, hit
	}
	sum := &engine.Sum{Candidates: len(ids)}
	req := &engine.Request{KB: rt.KB, Filter: engine.Filter{IDs: ids}, Sum: sum}
	for _, l := range legs {
		req.Legs, sum.Weights = append(req.Legs, l.Leg), append(sum.Weights, 1)
	}
	result, err := engines.Ask(ctx, rt.Subject, engines.CallSearch, rt.Engine.Search, req)
	if err != nil {
		rt.degraded = append(rt.degraded, answer.NewDegraded(answer.StepRelevance, rt.KB.ID, err))
		return
	}
	rt.exact = make(map[int][]float64, len(ids))
	for i := range result.Hits {
		if hit, asked := at[result.Hits[i].ID]; asked {
			rt.exact[hit] = rt.exactly(result.Hits[i].Observations, legs, rt.judge.languageOf(&rt.hits[hit]))
		}
	}
}

// evidenceLeg compares chunks with one of the two vectors of bank.Exact.
type evidenceLeg struct {
	engine.Leg
	of   int   // the leg whose evidence it is for
	part *part // nil: with the question, for all languages
}

// evidenceLegs are, for each vector leg, one with the question and one for each language.
func (rt *retrieval) evidenceLegs() []evidenceLeg {
	var legs []evidenceLeg
	add := func(s *legScale, p *part, vector []float32) {
		l := engine.Leg{Name: strconv.Itoa(len(legs)), Field: rt.legs[s.leg].Field, K: exactChunks, Vector: vector}
		legs = append(legs, evidenceLeg{Leg: l, of: s.leg, part: p})
	}
	for i := range rt.judge.scales {
		s, first := &rt.judge.scales[i], true
		for j := range s.parts {
			p := &s.parts[j]
			if p.exact == nil {
				continue
			}
			if first {
				add(s, nil, p.exact.Question)
				first = false
			}
			add(s, p, p.exact.Passage)
		}
	}
	return legs
}

// foreignHits are the places of the hits in another language.
func (rt *retrieval) foreignHits() (found []int) {
	for i := range rt.hits {
		if rt.judge.languageOf(&rt.hits[i]) != rt.judge.asked {
			found = append(found, i)
		}
	}
	return found
}

// bestForeign are the places of the best hits in another language: of a joint ranking the
// first, else those of the largest cosine.
func (rt *retrieval) bestForeign() []int {
	found := rt.foreignHits()
	if !rt.Plan.Joint {
		cosine := func(hit int) float64 {
			best := math.Inf(-1)
			for _, s := range rt.judge.scales {
				best = answer.LargerKnown(best, rt.hits[hit].Observations[s.leg].Raw)
			}
			return best
		}
		slices.SortStableFunc(found, func(a, b int) int { return cmp.Compare(cosine(b), cosine(a)) })
	}
	if rt.demand.allEvidence {
		return found
	}
	return found[:min(len(found), exactChunks)]
}

// exactly is the evidence of a chunk for each leg, given its cosines in the legs for it.
func (rt *retrieval) exactly(cosines []scoring.Observation, legs []evidenceLeg, told string) []float64 {
	all := make([]float64, len(rt.legs))
	for i := range all {
		all[i] = math.NaN()
	}
	question := math.NaN()
	for i, l := range legs {
		switch {
		case l.part == nil:
			question = cosines[i].Raw
		case l.part.language == told:
			all[l.of] = l.part.exact.Evidence(question, cosines[i].Raw)
		}
	}
	return all
}

// exactEvidence of a hit in a vector leg, NaN where it was not read.
func (rt *retrieval) exactEvidence(hit, leg int) float64 {
	if all, read := rt.exact[hit]; read {
		return all[leg]
	}
	return math.NaN()
}

// vectorEvidence of a hit by one vector leg: exact where it was read, else by the
// line of its language; NaN where nothing is known.
func (rt *retrieval) vectorEvidence(s *legScale, hit int, told string, cosine float64) float64 {
	if e := rt.exactEvidence(hit, s.leg); !math.IsNaN(e) {
		return e
	}
	if p := s.of(told); p != nil {
		return p.Evidence(cosine)
	}
	return math.NaN()
}

// tellEvidence shows exact evidence where fusion did not use it.
func (rt *retrieval) tellEvidence(hit int, legs []scoring.Contribution) {
	for i := range legs {
		if e := rt.exactEvidence(hit, i); legs[i].Evidence == nil && !math.IsNaN(e) {
			legs[i].Evidence = &e
		}
	}
}

// cosineWith is the cosine of a mean vector, of vectors of length 1, and another vector,
// as the mean of the cosines is.
func cosineWith(mean, v []float32) float64 {
	var dot, square float64
	for i := range v {
		dot += float64(mean[i]) * float64(v[i])
		square += float64(v[i]) * float64(v[i])
	}
	if square == 0 {
		return 0
	}
	return dot / math.Sqrt(square)
}
