package engine

import "github.com/hybridge-search/hybridge/fault"

// BM25Lucene and BM25Okapi are the formulas that a knowledge base's text legs may
// score by: Lucene's (k1 1.2, b 0.75, factor k1 + 1), which is the default, and
// BM25Okapi of the Python package rank_bm25 (k1 1.5, b 0.75, epsilon 0.25).
const (
	BM25Lucene = "lucene"
	BM25Okapi  = "okapi"
)

// CheckBM25 refuses an unknown formula; empty means Lucene's.
func CheckBM25(formula string) error {
	switch formula {
	case "", BM25Lucene, BM25Okapi:
		return nil
	default:
		return fault.Invalid("bm25", formula, "lucene or okapi")
	}
}
