package search

import (
	"context"
	"errors"
	"math"

	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/textquery"
)

// leg is a planned leg equipped for one knowledge base: with its text query or
// vector, and the weight and moments that its statistics decide.
type leg struct {
	Leg
	text    *textquery.Query
	vector  []float32
	moments *scoring.Moments
	bound   float64
	err     error // why it takes no part
	ran     bool
	took    float64 // ms, where it ran
	// frequencies of the terms in a text leg's field, where the plan asks for them.
	frequencies analysis.Frequencies
}

// sends reports whether the engine has something to look for.
func (l *leg) sends() bool {
	return l.err == nil && (l.Kind == scoring.Vector || !l.text.Empty())
}

// unobserved is what a leg that was not sent says of a chunk: a text query
// without words scores everything 0, a leg that failed says nothing.
func (l *leg) unobserved() scoring.Observation {
	if l.err == nil {
		return scoring.Observation{}
	}
	return scoring.Observation{Raw: math.NaN()}
}

func (l *leg) scoring() scoring.Leg {
	return scoring.Leg{
		Name: l.Name, Kind: l.Kind, Weight: l.Weight, K: l.K,
		Moments: l.moments, Bound: l.bound, Degraded: l.err != nil,
	}
}

// equip gives each planned leg its query or vector and what the statistics of
// the knowledge base say of it.
func (s *Searcher) equip(ctx context.Context, a *answer, q *question, rules analysis.Rules) error {
	plan := &a.target.plan
	a.legs = make([]leg, len(plan.Legs))
	for i, planned := range plan.Legs {
		a.legs[i].Leg = planned
		if planned.Kind == scoring.Vector {
			a.legs[i].vector, a.legs[i].err = q.vectorFor(&a.target.kb)
		}
	}
	if plan.needsStatistics() {
		if err := s.measure(ctx, a, q); err != nil {
			return err
		}
	}
	expander := s.expander(&a.target.kb)
	for i := range a.legs {
		if a.legs[i].Kind == scoring.Text {
			a.legs[i].compose(q.parsed, expander, rules)
		}
	}
	if plan.Coverage {
		a.cover(q.parsed)
	}
	return nil
}

func (s *Searcher) expander(kb *engine.KnowledgeBase) analysis.Expander {
	if s.Synonyms == nil {
		return nil
	}
	return s.Synonyms.For(kb.Ref)
}

// compose makes the text query of a leg, and from the document frequencies of
// its terms the moments and the bound of its scores.
func (l *leg) compose(parsed analysis.Query, e analysis.Expander, rules analysis.Rules) {
	f := &l.frequencies
	query := analysis.Compose(parsed, *f, e, rules)
	l.text = &query
	if f.DF == nil {
		return // nothing in the plan depends on them
	}
	df, weights := make([]int, 0, usualTerms), make([]float64, 0, usualTerms)
	of := 0 // the term's place in the question, of which the text query keeps the order
	for i := range query.Terms {
		term := &query.Terms[i]
		for parsed.Terms[of].Text != term.Text {
			of++
		}
		df, weights = append(df, f.Of(of)), append(weights, term.Weight)
		l.bound += term.Weight * scoring.IDF(f.Docs, df[i]) * (bm25K1 + 1)
	}
	if f.Docs > 0 {
		moments := scoring.TextMoments(f.Docs, df, weights)
		l.moments = &moments
	}
}

// usualTerms is up to how many terms of a question need no memory of their own.
const usualTerms = 32

// bm25K1 is Lucene's; with it (k1 + 1)·idf bounds a term's score.
const bm25K1 = 1.2

// Average lengths of chunks in tokens: the one at which cover leaves the weight
// of text as planned, and the range that was measured, beyond which it is not
// drawn on.
const (
	usualLength    = 134
	shortestLength = 42
	longestLength  = 251
)

// cover multiplies each text leg's weight by
//
//	√(known · average length / 134)
//
// where known is the share of the query's idf mass that the text index knows:
// words in another language are none, and in short chunks the few words that
// match say less. Measured on eleven retrieval sets, see docs/relevance.md.
func (a *answer) cover(parsed analysis.Query) {
	for i := range a.legs {
		l := &a.legs[i]
		if l.Kind != scoring.Text {
			continue
		}
		f := l.frequencies
		known := analysis.Known(parsed, f)
		if a.known == nil || known > *a.known {
			a.known = &known
		}
		length := 1.0
		if f.AverageLength > 0 {
			length = min(max(f.AverageLength, shortestLength), longestLength) / usualLength
		}
		l.Weight *= math.Sqrt(known * length)
	}
}

// measure asks the engine for what weighting and normalising need, and keeps it in the
// legs: the document frequencies of the query's terms per text field, and the moments
// of the cosines.
func (s *Searcher) measure(ctx context.Context, a *answer, q *question) error {
	terms := q.terms()
	for _, pair := range a.pairs() {
		if a.target.plan.Fusion.Normalizer != scoring.ZScore {
			pair.vector = nil // nothing else asks for the moments of cosines
		}
		if pair.text == nil && pair.vector == nil {
			continue
		}
		req := &engine.StatisticsRequest{KB: a.target.kb}
		if pair.text != nil {
			req.Field, req.Terms = pair.text.Field, terms
		}
		if pair.vector != nil {
			req.VectorField, req.Vector = pair.vector.Field, pair.vector.vector
		}
		stats, err := a.target.engine.Statistics(ctx, req)
		if err != nil {
			return err
		}
		if pair.text != nil {
			pair.text.frequencies = frequenciesOf(stats)
		}
		if pair.vector != nil && stats.Vectors > 0 {
			pair.vector.moments = &scoring.Moments{Mean: stats.Cosine.Mean, Deviation: stats.Cosine.Deviation}
		}
	}
	return nil
}

// frequenciesOf are those of a question's terms, which the statistics were asked for.
func frequenciesOf(stats *engine.Statistics) analysis.Frequencies {
	return analysis.Frequencies{Docs: stats.Docs, AverageLength: stats.AverageLength, DF: stats.DF}
}

// pair is a text and a vector leg whose statistics are asked for together.
type pair struct{ text, vector *leg }

// pairs are the n-th text leg with the n-th vector leg that there is a vector for.
func (a *answer) pairs() []pair {
	list := make([]pair, len(a.legs))
	texts, vectors := 0, 0
	for i := range a.legs {
		switch l := &a.legs[i]; {
		case l.Kind == scoring.Text:
			list[texts].text = l
			texts++
		case l.err == nil:
			list[vectors].vector = l
			vectors++
		}
	}
	return list[:max(texts, vectors)]
}

// needsStatistics reports whether anything in the plan depends on what the
// knowledge base holds.
func (p *Plan) needsStatistics() bool {
	return p.Coverage || p.Text.Weighting == analysis.TFIDF ||
		p.Fusion.Normalizer == scoring.ZScore || p.Fusion.Normalizer == scoring.Theoretical
}

func asFault(err error, into **fault.Error) bool { return errors.As(err, into) }
