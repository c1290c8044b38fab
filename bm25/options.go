package bm25

import "math"

// Variant is the family of BM25 formulas that an index scores by.
type Variant uint8

const (
	// Lucene is BM25 as Elasticsearch 8 computes it, factor k1 + 1 included.
	Lucene Variant = iota
	// Okapi is BM25Okapi of the Python package rank_bm25.
	Okapi
)

// Options set how an index scores and what it stores.
type Options struct {
	Variant Variant
	// K1 (> 0, finite) and B (0..1) are used as given; when one of them is out of
	// its range, or K1 is 0, both are the variant's defaults: Lucene 1.2 and 0.75,
	// Okapi 1.5 and 0.75.
	K1, B float64
	// Epsilon is Okapi's floor for negative idfs, as a share of the average idf;
	// 0 means 0.25.
	Epsilon float64
	// WithoutPositions leaves positions out: about half the size, and no phrase of
	// two or more tokens ever matches.
	WithoutPositions bool
	// LiveStatistics leaves deleted chunks out of the statistics at once, so that
	// scores depend on the live chunks alone, not on when segments were merged. It
	// costs a look at the deleted chunks of each term asked for.
	LiveStatistics bool
	// Fingerprint names what the tokens depend on (analyzer, dictionary version).
	// It is stored with the index; Read refuses an index with another one.
	Fingerprint string
}

// withDefaults fills in the variant's parameters.
func (o Options) withDefaults() Options {
	usable := o.K1 > 0 && !math.IsInf(o.K1, 0) && o.B >= 0 && o.B <= 1
	if !usable {
		o.K1, o.B = 1.2, 0.75
		if o.Variant == Okapi {
			o.K1 = 1.5
		}
	}
	if o.Epsilon == 0 {
		o.Epsilon = 0.25
	}
	return o
}
