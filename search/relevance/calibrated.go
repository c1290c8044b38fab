package relevance

import (
	"math"

	"github.com/hybridge-search/hybridge/embedding/bank"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search/answer"
)

// Calibrated has the evidence of all hits, and the best of it, from which the relevance of each follows.
type Calibrated struct {
	found    []*Found
	evidence [][]float64               // of the hits that legs found, NaN where it is unknown
	chunks   [kindsOfEvidence]int      // how many chunks the best is the largest of
	best     [kindsOfEvidence]*float64 // the largest evidence of any hit, also of those cut since
}

// Calibrate finds the evidence of every hit, and the best of all.
func Calibrate(all []*Found) *Calibrated {
	c := &Calibrated{found: all, evidence: make([][]float64, len(all))}
	for i, f := range all {
		if f.Err != nil || f.Estimator == nil {
			continue
		}
		j := f.Estimator
		c.evidence[i] = make([]float64, len(f.Hits))
		best := &c.best[kindOf(j)]
		c.chunks[kindOf(j)] += j.Chunks
		for h := range f.Hits {
			observed := f.Hits[h].Observations
			e := f.evidenceOf(h, j.LanguageOf(&f.Hits[h]), func(leg int) float64 { return observed[leg].Raw })
			c.evidence[i][h] = e
			if !math.IsNaN(e) && (*best == nil || e > **best) {
				*best = new(e)
			}
		}
	}
	return c
}

// Answerable is the probability that a chunk of the answer set answers the question, nil
// if unknown.
func (c *Calibrated) Answerable() *float64 {
	var most *float64
	for _, f := range c.found {
		switch {
		case f.Err != nil || f.Estimator == nil:
		case c.best[kindOf(f.Estimator)] != nil:
			most = answer.Larger(most, new(c.answerableBy(kindOf(f.Estimator))))
		case len(f.Hits) == 0 && f.Estimator.knows():
			most = answer.Larger(most, new(0.0))
		}
	}
	return most
}

func (c *Calibrated) answerableBy(kind int) float64 {
	if kind == byVectors {
		return bank.Answerable(*c.best[kind], c.chunks[kind])
	}
	return bank.AnswerableByWords(*c.best[kind], c.chunks[kind])
}

// relevance is the probability that a chunk with this evidence answers the question, nil
// without evidence.
func (c *Calibrated) relevance(f *Found, evidence float64) *float64 {
	if f.Estimator == nil || math.IsNaN(evidence) {
		return nil
	}
	kind, best := kindOf(f.Estimator), evidence
	if known := c.best[kind]; known != nil {
		best = max(best, *known)
	}
	if kind == byVectors {
		return new(bank.Relevance(evidence, best, c.chunks[kind]))
	}
	return new(bank.RelevanceByWords(evidence, best, c.chunks[kind]))
}

// Of is the relevance of a hit of a knowledge base, as far as the legs know it; nil for a hit that no leg found.
func (c *Calibrated) Of(source, hit int) *float64 {
	if hit >= len(c.evidence[source]) {
		return nil
	}
	return c.relevance(c.found[source], c.evidence[source][hit])
}

// OfShown is the relevance of a hit of the page, whose scores are all known, in a language.
func (c *Calibrated) OfShown(source, hit int, legs []scoring.Contribution, chunkLanguage string) *float64 {
	f := c.found[source]
	if f.Estimator == nil {
		return nil
	}
	if !f.Estimator.Profile.Has(chunkLanguage) { // as the ranking had it, which knows no texts
		chunkLanguage = f.Estimator.Profile.Main
	}
	return c.relevance(f, f.evidenceOf(hit, chunkLanguage, func(leg int) float64 {
		if legs[leg].Raw == nil {
			return math.NaN()
		}
		return *legs[leg].Raw
	}))
}

// Account explains the relevance of a knowledge base's hits, nil if it is unknown.
func (c *Calibrated) Account(source int) *answer.RelevanceAccount {
	j := c.found[source].Estimator
	if j == nil {
		return nil
	}
	a := &answer.RelevanceAccount{
		By: "nothing", Question: j.Asked, Best: c.best[kindOf(j)], Bound: j.Bound, Chunks: c.chunks[kindOf(j)],
	}
	switch {
	case j.ByVectors():
		a.By, a.Languages = "vectors", j.lines()
	case j.Bound > 0:
		a.By = "words"
	case j.Err != nil:
		a.Why = answer.Reason(j.Err)
	default:
		a.Why = "question and chunks are in different languages, and nothing but words was compared"
	}
	return a
}
