package enginetest

import (
	"math"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/textquery"
)

func bm25Cases() []testCase {
	return []testCase{
		{"bm25/term", bm25Term},
		{"bm25/weights and synonyms", bm25Weights},
		{"bm25/phrase", bm25Phrase},
		{"bm25/sloppy phrase", bm25Sloppy},
	}
}

// corpus is small enough to do the sums by hand: lengths under 24 are stored
// without rounding.
func corpus() []engine.Chunk {
	return []engine.Chunk{
		passage("a", "red fox runs"),                   // 3 tokens
		passage("b", "red fox red"),                    // 3
		passage("c", "the quick brown fox jumps over"), // 6
		passage("d", "blue whale"),                     // 2
	}
}

const (
	corpusDocs    = 4
	corpusAverage = (3 + 3 + 6 + 2) / 4.0
)

// idf is Lucene's BM25Similarity.idf.
func idf(df int) float64 { return math.Log(1 + (corpusDocs-float64(df)+0.5)/(float64(df)+0.5)) }

// saturated is the tf part of BM25 with k1 1.2 and b 0.75, times k1 + 1.
func saturated(frequency, length float64) float64 {
	return 2.2 * frequency / (frequency + 1.2*(1-0.75+0.75*length/corpusAverage))
}

// scores wants the raw scores of a query over the corpus, and nothing else found.
func scores(t *testing.T, b *base, query *textquery.Query, want map[string]float64) {
	t.Helper()
	result := b.search(engine.Request{Legs: []engine.Leg{{Name: "text", Field: engine.FieldText, K: 10, Text: query}}})
	sameSet(t, "hits", hitIDs(result.Hits), sortedKeys(want))
	for _, hit := range result.Hits {
		near64(t, "score of "+hit.ID, hit.Observations[0].Raw, want[hit.ID], 1e-5)
	}
}

func bm25Term(t *testing.T, s *suite) {
	b := s.base(t, schema{})
	b.write(corpus()...)
	scores(t, b, queryOf("red"), map[string]float64{
		"a": idf(2) * saturated(1, 3),
		"b": idf(2) * saturated(2, 3),
	})
	scores(t, b, queryOf("fox blue"), map[string]float64{
		"a": idf(3) * saturated(1, 3),
		"b": idf(3) * saturated(1, 3),
		"c": idf(3) * saturated(1, 6),
		"d": idf(1) * saturated(1, 2),
	})
}

func bm25Weights(t *testing.T, s *suite) {
	b := s.base(t, schema{})
	b.write(corpus()...)
	scores(t, b, &textquery.Query{Terms: []textquery.Term{{
		Text: "whale", Weight: 2.5,
		Synonyms: []textquery.Phrase{{Terms: []string{"red"}, Weight: 0.8}, {Terms: []string{"fox"}, Weight: 0.1}},
	}}}, map[string]float64{
		"a": 0.8 * idf(2) * saturated(1, 3), // the best alternative counts
		"b": 0.8 * idf(2) * saturated(2, 3),
		"c": 0.1 * idf(3) * saturated(1, 6),
		"d": 2.5 * idf(1) * saturated(1, 2),
	})
}

func bm25Phrase(t *testing.T, s *suite) {
	b := s.base(t, schema{})
	b.write(corpus()...)
	both := idf(2) + idf(3)
	scores(t, b, phrase("fox", 0, "red", "fox"), map[string]float64{
		"a": idf(3)*saturated(1, 3) + both*saturated(1, 3),
		"b": idf(3)*saturated(1, 3) + both*saturated(1, 3),
		"c": idf(3) * saturated(1, 6),
	})
}

// bm25Sloppy: "quick fox" with "brown" between is at distance 1, "the brown"
// too, so each counts 1/2; "fox red" needs two moves in "red fox": 1/3.
func bm25Sloppy(t *testing.T, s *suite) {
	b := s.base(t, schema{})
	b.write(corpus()...)
	fox := idf(3) * saturated(1, 6)
	scores(t, b, phrase("fox", 2, "quick", "fox"), map[string]float64{
		"a": idf(3) * saturated(1, 3),
		"b": idf(3) * saturated(1, 3),
		"c": fox + (idf(1)+idf(3))*saturated(1/2.0, 6),
	})
	scores(t, b, phrase("runs", 2, "fox", "red"), map[string]float64{
		"a": idf(1)*saturated(1, 3) + (idf(2)+idf(3))*saturated(1/3.0, 3),
	})
	scores(t, b, phrase("jumps", 1, "quick", "jumps"), map[string]float64{
		"c": idf(1) * saturated(1, 6), // two apart, slop 1
	})
}
