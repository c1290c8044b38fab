package scoring

import "math"

// Moments are a mean and a standard deviation (of the whole population).
type Moments struct {
	Mean      float64 `json:"mean"`
	Deviation float64 `json:"deviation"`
}

const (
	// factor is BM25's k1 + 1 with k1 = 1.2, as in Elasticsearch's _score.
	factor = 2.2
	// meanShare is what a term adds to a chunk that matches it, on average and
	// over idf·factor; secondShare is the second moment over the mean's square.
	// Measured on eleven retrieval sets, passages of English and Chinese.
	meanShare   = 0.48
	secondShare = 1.15
)

// IDF is Lucene's ln(1 + (docs − df + 0.5)/(df + 0.5)), always > 0. df is taken
// within [0, docs].
// https://lucene.apache.org/core/9_12_0/core/org/apache/lucene/search/similarities/BM25Similarity.html
func IDF(docs, df int) float64 {
	n := float64(max(docs, 0))
	f := clamp(float64(df), n)
	return math.Log1p((n - f + 0.5) / (f + 0.5))
}

// TextBound is the largest BM25 score, with the factor k1 + 1, that a query's
// terms can add up to: Σ weight·idf·(k1 + 1). df and weights are per term;
// missing weights are 1.
func TextBound(docs int, df []int, weights []float64) float64 {
	bound := 0.0
	for i, f := range df {
		bound += weightAt(weights, i) * IDF(docs, f) * factor
	}
	return bound
}

// TextMoments estimates the moments of a query's BM25 score over a whole
// knowledge base from document frequencies alone. A term matches with
// probability p = df/docs, and adds m = 0.48·2.2·idf·weight on average with the
// second moment 1.15·m² where it does; terms are taken as independent:
//
//	mean = Σ p·m    deviation² = Σ p·1.15·m² − (p·m)²
//
// df and weights are per term; missing weights are 1.
func TextMoments(docs int, df []int, weights []float64) Moments {
	if docs <= 0 {
		return Moments{}
	}
	mean, variance := 0.0, 0.0
	for i, f := range df {
		p := clamp(float64(f)/float64(docs), 1)
		m := meanShare * factor * IDF(docs, f) * weightAt(weights, i)
		mean += p * m
		variance += p*secondShare*m*m - p*m*p*m
	}
	return Moments{Mean: mean, Deviation: math.Sqrt(max(variance, 0))}
}

// Known is how much of a query the text index knows: the weighted idf mass of
// the terms with df > 0 over that of all terms, in [0, 1]; 0 without terms.
// Missing weights are 1.
func Known(docs int, df []int, weights []float64) float64 {
	known, all := 0.0, 0.0
	for i, f := range df {
		mass := weightAt(weights, i) * IDF(docs, f)
		all += mass
		if f > 0 {
			known += mass
		}
	}
	return ratio(known, all)
}

func weightAt(weights []float64, i int) float64 {
	if i >= len(weights) {
		return 1
	}
	return clamp(weights[i], maxWeight)
}

// CosineMoments gives the moments of the cosines between a query [dim]float32
// and a sample [n][dim]float32 of a knowledge base's vectors. Vectors without a
// cosine (zero, of another dimension, not finite) are passed over.
func CosineMoments(query []float32, sample [][]float32) Moments {
	cosines := make([]float64, 0, len(sample))
	for _, v := range sample {
		cosines = append(cosines, cosine(query, v))
	}
	return MomentsOf(cosines)
}

// MomentsOf gives the moments of values, passing over those that are not
// finite; zero for none. The order of the values does not matter.
func MomentsOf(values []float64) Moments {
	kept := make([]float64, 0, len(values))
	for _, v := range values {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			kept = append(kept, v)
		}
	}
	return momentsOf(kept)
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

// cosine is NaN where there is none.
func cosine(a, b []float32) float64 {
	if len(a) != len(b) {
		return math.NaN()
	}
	dot, aa, bb := 0.0, 0.0, 0.0
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		dot += x * y
		aa += x * x
		bb += y * y
	}
	return dot / (math.Sqrt(aa) * math.Sqrt(bb))
}
