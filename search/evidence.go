package search

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/scoring"
)

// A chunk in the question's own language wins every cosine. So where a knowledge base has
// chunks in another language than the question, evidence takes the place of cosines:
// exact, by their vectors, for the best of those in another language, and by the line that
// stands for it for all others, which keeps the order of the cosines. Fusion by z-scores
// and by ranks is of evidence then; presets that are sums of raw scores stay as they are.

// exactChunks is how many of the chunks in another language have their vectors read. On
// the three sets across languages 20 gave all of the gain but 0.1 points, 50 all of it.
const exactChunks = 50

// foreign reports whether chunks are in another language than the question.
func (j *judge) foreign() bool {
	return j != nil && slices.ContainsFunc(j.scales, func(s legScale) bool {
		return slices.ContainsFunc(s.parts, func(p part) bool { return p.language != j.asked })
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
// language these are taken to vary alike, around the language's own mean.
func (s *legScale) moments(cosines *scoring.Moments) *scoring.Moments {
	var middle, squares float64
	for _, p := range s.parts {
		middle += p.share * p.middle
		squares += p.share * p.middle * p.middle
	}
	within := max(cosines.Deviation*cosines.Deviation-max(squares-middle*middle, 0), 0)
	var mean, second float64
	for _, p := range s.parts {
		m := p.Evidence(p.middle)
		mean += p.share * m
		second += p.share * (p.Slope*p.Slope*within + m*m)
	}
	return &scoring.Moments{Mean: mean, Deviation: math.Sqrt(max(second-mean*mean, 0))}
}

// readEvidence reads the vectors of the best hits in another language than the question.
// An engine that gives no vectors leaves them to the line.
func (rt *retrieval) readEvidence(ctx context.Context) {
	scanner, ok := rt.Engine.(engine.Scanner)
	if !ok || !rt.judge.foreign() {
		return
	}
	best := rt.bestForeign()
	if len(best) == 0 {
		return
	}
	at := make(map[string]int, len(best))
	ids := make([]string, len(best))
	for i, hit := range best {
		ids[i], at[rt.hits[hit].ID] = rt.hits[hit].ID, hit
	}
	chunks, err := scanner.Scan(ctx, engine.ScanRequest{KB: rt.KB, IDs: ids, Limit: len(ids)})
	if err != nil {
		if isUnavailable(err) {
			rt.degraded = append(rt.degraded, newDegraded(stepRelevance, rt.KB.ID, err))
		}
		return
	}
	rt.exact = make(map[int][]float64, len(chunks))
	for i := range chunks {
		if hit, asked := at[chunks[i].ID]; asked {
			rt.exact[hit] = rt.exactly(&chunks[i], rt.judge.languageOf(&rt.hits[hit]))
		}
	}
}

// bestForeign are the places of the best hits in another language: of a joint ranking the
// first, else those of the largest cosine.
func (rt *retrieval) bestForeign() []int {
	var found []int
	for i := range rt.hits {
		if rt.judge.languageOf(&rt.hits[i]) != rt.judge.asked {
			found = append(found, i)
		}
	}
	if !rt.Plan.Joint {
		cosine := func(hit int) float64 {
			best := math.Inf(-1)
			for _, s := range rt.judge.scales {
				best = largerKnown(best, rt.hits[hit].Observations[s.leg].Raw)
			}
			return best
		}
		slices.SortStableFunc(found, func(a, b int) int { return cmp.Compare(cosine(b), cosine(a)) })
	}
	return found[:min(len(found), exactChunks)]
}

// exactly is the evidence of a chunk by its vectors, for each leg.
func (rt *retrieval) exactly(c *engine.Chunk, told string) []float64 {
	all := make([]float64, len(rt.legs))
	for i := range all {
		all[i] = math.NaN()
	}
	for _, s := range rt.judge.scales {
		if v := c.Vectors[s.field]; v != nil {
			if e, ok := s.exact(v, told); ok {
				all[s.leg] = e
			}
		}
	}
	return all
}

// exactEvidence of a hit in a vector leg, NaN where its vector was not read.
func (rt *retrieval) exactEvidence(hit, leg int) float64 {
	if all, read := rt.exact[hit]; read {
		return all[leg]
	}
	return math.NaN()
}

// vectorEvidence of a hit by one vector leg: exact where its vector was read, else by the
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
