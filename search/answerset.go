package search

import (
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/scoring"
)

// answerSet is the best candidates of all knowledge bases that pass the thresholds:
// what totals, documents and facets count, and what pages are cut from.
type answerSet struct {
	retrievals []retrieval
	entries    []scoring.Fused // Source is the place of their retrieval
	more       bool            // chunks beyond the entries may pass
	mergedBy   string
	dropped    map[string]int // hits dropped, per threshold
	relaxed    *string
	degraded   []Degraded
	known      *float64
	copies     map[chunkOf]string        // chunks dropped by Distinct: the id of the better one
	chunks     [kindsOfEvidence]int      // how many chunks that is the largest of
	best       [kindsOfEvidence]*float64 // the largest evidence of any hit, also of those cut since
}

// from is the retrieval that found an entry.
func (set *answerSet) from(entry *scoring.Fused) *retrieval { return &set.retrievals[entry.Source] }

// hit is the entry as the engine found it.
func (set *answerSet) hit(entry *scoring.Fused) *engine.Hit {
	rt := set.from(entry)
	return &rt.hits[int(entry.Index)-rt.offset]
}

// document is the one that an entry is a chunk of.
func (set *answerSet) document(entry *scoring.Fused) documentKey {
	return documentKey{int(entry.Source), set.hit(entry).DocumentID}
}

// documentKey names a document over all knowledge bases of a request.
type documentKey struct {
	source int
	id     string
}
