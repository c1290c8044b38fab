package relevance

import (
	"math"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search/answer"
)

// Found holds the inputs for the relevance of a knowledge base's hits.
type Found struct {
	Estimator *Estimator // nil: relevance is unknown
	Hits      []engine.Hit
	Exact     map[int][]float64 // by hit: its exact evidence in each leg, NaN where unknown
	Err       error             // no leg could be run
}

// evidenceOf a hit in a language whose raw score in each leg is given, NaN if
// unknown. Of several legs the best one counts.
func (f *Found) evidenceOf(hit int, chunkLanguage string, raw func(leg int) float64) float64 {
	best, j := math.NaN(), f.Estimator
	if j.ByVectors() {
		for i := range j.Scales {
			best = answer.LargerKnown(best, f.VectorEvidence(&j.Scales[i], hit, chunkLanguage, raw(j.Scales[i].Leg)))
		}
		return best
	}
	return j.byWords(chunkLanguage, raw)
}

// exactEvidence of a hit in a vector leg, NaN where it was not read.
func (f *Found) exactEvidence(hit, leg int) float64 {
	if all, read := f.Exact[hit]; read {
		return all[leg]
	}
	return math.NaN()
}

// VectorEvidence of a hit by one vector leg: exact if it was read, else by the
// line of its language; NaN if unknown.
func (f *Found) VectorEvidence(s *LegScale, hit int, chunkLanguage string, cosine float64) float64 {
	if e := f.exactEvidence(hit, s.Leg); !math.IsNaN(e) {
		return e
	}
	if p := s.Of(chunkLanguage); p != nil {
		return p.Evidence(cosine)
	}
	return math.NaN()
}

// TellEvidence adds exact evidence to explanations if fusion did not use it.
func (f *Found) TellEvidence(hit int, legs []scoring.Contribution) {
	for i := range legs {
		if e := f.exactEvidence(hit, i); legs[i].Evidence == nil && !math.IsNaN(e) {
			legs[i].Evidence = &e
		}
	}
}

// IsRelevant compares the relevance of a hit, nil if unknown, with a threshold.
func (f *Found) IsRelevant(known *float64, least float64) bool {
	if known != nil {
		return *known >= least
	}
	return f.Estimator == nil || !f.Estimator.knows()
}

// LanguageOf is the language of a chunk that was read.
func (f *Found) LanguageOf(c *engine.Chunk) string {
	if named := c.Language(); named != "" {
		return named
	}
	if l := languageOf(c); l != "" || f.Estimator == nil {
		return l
	}
	return f.Estimator.Profile.Main
}
