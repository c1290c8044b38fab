package analysis

import (
	"math"

	"github.com/hybridge-search/hybridge/fault"
)

// Frequencies are the document frequencies of a knowledge base that a query needs.
// They are never changed, so they may be shared.
type Frequencies struct {
	Docs int   // chunks with text
	DF   []int // chunks that hold each of the query's terms, in their order; missing: none
	// AverageLength is the tokens of a chunk on average; 0: unknown.
	AverageLength float64
}

// Of is how many chunks hold the query's term at this index.
func (f Frequencies) Of(term int) int {
	if term < 0 || term >= len(f.DF) {
		return 0
	}
	return f.DF[term]
}

// Share is the share of the chunks that hold the term at this index.
func (f Frequencies) Share(term int) float64 { return float64(f.Of(term)) / float64(max(f.Docs, 1)) }

// IDF is Lucene's ln(1 + (N - df + 0.5) / (df + 0.5)) of the term at this index, always > 0.
// https://lucene.apache.org/core/9_12_0/core/org/apache/lucene/search/similarities/BM25Similarity.html
func (f Frequencies) IDF(term int) float64 {
	df := f.Of(term)
	docs := max(f.Docs, df)
	return math.Log1p((float64(docs-df) + 0.5) / (float64(df) + 0.5))
}

// Known is the share of the query's idf mass that occurs in the knowledge base, in
// [0, 1]: Σ idf of known terms / Σ idf of all terms. Without terms it is 0.
func Known(q Query, f Frequencies) float64 {
	known, all := 0.0, 0.0
	for i := range q.Terms {
		mass := float64(q.Terms[i].Count) * f.IDF(i)
		all += mass
		if f.Of(i) > 0 {
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
	// term counts as idf 1, so that it does not shrink the others.
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
		idf, known := 1.0, f.Of(i) > 0
		if known {
			idf = f.IDF(i)
		}
		weights = append(weights, (1+math.Log(float64(terms[i].Count)))*idf)
		largest = max(largest, weights[i])
		if known {
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
