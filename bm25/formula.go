package bm25

import "math"

// Formulas by variant. Lucene: org.apache.lucene.search.similarities.
// BM25Similarity, in its float32 arithmetic, under Elasticsearch's
// LegacyBM25Similarity, which multiplies by k1 + 1. Okapi: rank_bm25's BM25Okapi.

// docs is how many of the chunks count in N: Lucene's docCount leaves out chunks
// without the field.
func (s statistic) docs(v Variant) int {
	if v == Okapi {
		return s.chunks
	}
	return s.nonEmpty
}

// inverseNorm is 1/(k1·(1 - b + b·length/average)); a score is then
// weight - weight/(1 + freq·inverse).
func inverseNorm(o Options, length uint32, average float32) float32 {
	k1, b := float32(o.K1), float32(o.B)
	return 1 / (k1 * ((1 - b) + float32(b*float32(length)/average)))
}

// idf is the weight of a term with a document frequency above 0.
func (s *Snapshot) idf(df int) float32 {
	n, d := float64(s.docs), float64(df)
	if s.opts.Variant == Lucene {
		return float32(math.Log(1 + (n-d+0.5)/(d+0.5)))
	}
	idf := okapiIDF(n, d)
	if idf < 0 {
		idf = s.floor()
	}
	return float32(idf)
}

// okapiIDF is negative for a term in over half of the chunks.
func okapiIDF(n, df float64) float64 { return math.Log(n-df+0.5) - math.Log(df+0.5) }

// okapiFloor is what replaces a negative idf: epsilon times the average idf of
// all distinct terms, the negative ones included.
func (s *Snapshot) okapiFloor() float64 {
	sum, count := 0.0, 0
	walk := newDictionaryWalk(s.views)
	for holders, ok := walk.next(); ok; holders, ok = walk.next() {
		df := 0
		for _, i := range holders {
			df += s.views[i].df(walk.at[i]-1, s.opts)
		}
		if df == 0 {
			continue // in deleted chunks only
		}
		sum += okapiIDF(float64(s.docs), float64(df))
		count++
	}
	if count == 0 {
		return 0
	}
	return s.opts.Epsilon * sum / float64(count)
}
