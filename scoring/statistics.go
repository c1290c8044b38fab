package scoring

import "math"

// Moments are a mean and a standard deviation (of the whole population).
type Moments struct {
	Mean      float64 `json:"mean"`
	Deviation float64 `json:"deviation"`
}

// BM25Factor is k1 + 1 with Lucene's k1 = 1.2, as in Elasticsearch's _score: a term
// adds at most its idf times this.
const BM25Factor = 2.2

const (
	// meanShare is the average contribution of a term to a chunk that matches it,
	// over idf·BM25Factor; secondShare is the second moment over the mean's
	// square. Measured on eleven retrieval sets, passages of English and Chinese.
	meanShare   = 0.48
	secondShare = 1.15
)

// TermStatistics are statistics of a query's term before the search.
type TermStatistics struct {
	Share  float64 // of the chunks that hold it
	IDF    float64
	Weight float64 // in the query
}

// TextMoments estimates the moments of a query's BM25 score over a whole
// knowledge base. A term matches with probability p, its share, and adds
// m = 0.48·2.2·idf·weight on average with the second moment 1.15·m² where it
// does; terms are taken as independent:
//
//	mean = Σ p·m    deviation² = Σ p·1.15·m² − (p·m)²
func TextMoments(terms []TermStatistics) Moments {
	mean, variance := 0.0, 0.0
	for _, t := range terms {
		p := clamp(t.Share, 1)
		m := meanShare * BM25Factor * t.IDF * t.Weight
		mean += p * m
		variance += p*secondShare*m*m - p*m*p*m
	}
	return Moments{Mean: mean, Deviation: math.Sqrt(max(variance, 0))}
}

// momentsOf takes finite values only, and overwrites them. It gives the same for
// every order.
func momentsOf(values []float64) Moments {
	if len(values) == 0 {
		return Moments{}
	}
	n := float64(len(values))
	mean := addUpAll(values) / n
	for i, v := range values {
		values[i] = (v - mean) * (v - mean)
	}
	return Moments{Mean: mean, Deviation: math.Sqrt(addUpAll(values) / n)}
}
