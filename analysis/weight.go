package analysis

import (
	"math"

	"github.com/hybridge-search/hybridge/fault"
)

// Frequencies are the document frequencies of a knowledge base that a query needs.
// They are never changed, so they may be shared.
type Frequencies struct {
	Docs int   // chunks with text
	DF   []int // chunks that hold each term of the query, then other words of its vocabulary; missing: none
	// AverageLength is the tokens of a chunk on average; 0: unknown.
	AverageLength float64
	// Substitutes are of those terms that no chunk holds; missing: none.
	Substitutes []Substitute
}

// Of is the number of chunks that hold the term at this index.
func (f Frequencies) Of(term int) int {
	if term < 0 || term >= len(f.DF) {
		return 0
	}
	return f.DF[term]
}

// IDF is Lucene's ln(1 + (N - df + 0.5) / (df + 0.5)) of the term at this index, always > 0.
// https://lucene.apache.org/core/9_12_0/core/org/apache/lucene/search/similarities/BM25Similarity.html
func (f Frequencies) IDF(term int) float64 { return f.idf(f.Of(term)) }

func (f *Frequencies) idf(df int) float64 {
	docs := max(f.Docs, df)
	return math.Log1p((float64(docs-df) + 0.5) / (float64(df) + 0.5))
}

// Scored says what the term at this index scores by, its substitute if it has one: the
// share of the chunks that hold it, its idf, and its weight relative to the term's.
func (f Frequencies) Scored(term int) (share, idf, weight float64) {
	df, idf, weight := f.Of(term), f.IDF(term), 1.0
	if s := f.substituteOf(term); s.DF > 0 {
		df, idf, weight = s.DF, s.IDF, s.Weight
	}
	return float64(df) / float64(max(f.Docs, 1)), idf, weight
}

func (f *Frequencies) substituteOf(term int) Substitute {
	if term < 0 || term >= len(f.Substitutes) {
		return Substitute{}
	}
	return f.Substitutes[term]
}

// found is the number of chunks that the term at this index, or its substitute, finds.
func (f *Frequencies) found(term int) int {
	return max(f.Of(term), f.substituteOf(term).DF)
}

// mass is the idf mass of the term at this index: its weight in the query.
func (f *Frequencies) mass(t *QueryTerm, term int) float64 {
	return float64(t.Count) * f.idf(f.found(term))
}

// Known is the share of the query's idf mass that occurs in the knowledge base, in
// [0, 1]: Σ idf of known terms / Σ idf of all terms. A term with a substitute is known
// and has the idf of that. Without terms it is 0.
func Known(q Query, f Frequencies) float64 {
	known, all := 0.0, 0.0
	for i := range q.Terms {
		mass := f.mass(&q.Terms[i], i)
		all += mass
		if f.found(i) > 0 {
			known += mass
		}
	}
	if all == 0 {
		return 0
	}
	return known / all
}

// Weighting names how the terms of a query are weighted.
type Weighting string

// The weightings.
const (
	// Plain leaves weights to BM25; a repeated word counts each time, as in a bool
	// query of term queries.
	Plain Weighting = "plain"
	// TFIDF is (1 + ln tf) · idf over the largest known weight; an unknown
	// term counts as idf 1, so that it does not shrink the others, and as its substitute
	// if it has one.
	TFIDF Weighting = "tfidf"
)

// Validate reports an unknown weighting; empty means Plain.
func (w Weighting) Validate(field string) error {
	switch w {
	case "", Plain, TFIDF:
		return nil
	}
	return fault.Invalid(field, string(w), `"plain" or "tfidf"`)
}

// appendWeights appends the weight of each term, finite and > 0, to weights, which
// must be empty.
func (w Weighting) appendWeights(weights []float64, terms []QueryTerm, f Frequencies) []float64 {
	if w != TFIDF {
		for i := range terms {
			weights = append(weights, float64(terms[i].Count))
		}
		return weights
	}
	largestKnown, largest := 0.0, 0.0
	for i := range terms {
		idf, df := 1.0, f.found(i)
		if df > 0 {
			idf = f.idf(df)
		}
		weights = append(weights, (1+math.Log(float64(terms[i].Count)))*idf)
		largest = max(largest, weights[i])
		if df > 0 {
			largestKnown = max(largestKnown, weights[i])
		}
	}
	if largestKnown == 0 {
		largestKnown = largest
	}
	for i := range weights {
		weights[i] /= largestKnown
	}
	return weights
}
