// Package scoring is the arithmetic of the gateway: score scales, normalisers,
// fusion, thresholds and contributions. Everything in it is a pure function of
// values: no I/O, no clock, no state.
//
// The function that adds points to a chunk is the one that explains them, from the
// same observation, so an explanation cannot drift from the sum it explains.
package scoring

import "math"

// Kind is the kind of a leg, which decides the scale of its raw scores.
type Kind string

// A text leg's raw score is BM25 with Lucene's factor k1 + 1, >= 0. A vector
// leg's raw score is the cosine, in [-1, 1]. A signal's is the value of a field of the chunk,
// whatever the question, in [0, 1], 0 if it has none.
const (
	Text   Kind = "text"
	Vector Kind = "vector"
	Signal Kind = "signal"
)

// Observation is one leg's observation of one chunk.
type Observation struct {
	// Rank is 1 for the leg's best chunk, 0 when the leg did not return the
	// chunk among its best K, Unranked when it has the chunk and no ranking of its
	// own.
	Rank int
	// Raw is the score on the leg's own scale, known also for chunks that the
	// leg did not return (0 for a text leg that the chunk does not match), NaN
	// where there is none (a chunk without a vector).
	Raw float64
}

// Unranked is the rank of a leg's chunk in a joint ranking. Whoever wants to know gets
// its rank among the candidates, by raw score, then by id.
const Unranked = -1

// Joint is a leg's observation of a candidate of a joint ranking: a leg returns the chunks whose
// raw score it knows, a text leg only those that it matches.
func Joint(kind Kind, raw float64) Observation {
	if raw > 0 || kind == Vector && raw <= 0 {
		return Observation{Rank: Unranked, Raw: raw}
	}
	return Observation{Raw: raw}
}

// Known reports whether the leg has a raw score for the chunk.
func (o Observation) Known() bool { return !math.IsNaN(o.Raw) }

// returned reports whether the leg has the chunk.
func (o Observation) returned() bool { return o.Rank != 0 }

// Candidate is a chunk that at least one leg returned, with every leg's observation
// of it, in the order of the legs.
type Candidate struct {
	ID           string
	Observations []Observation
}
