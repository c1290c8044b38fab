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
	copies     map[chunkOf]string // chunks dropped by Distinct: the id of the better one
}

// collect takes over what a retrieval tells beside its hits.
func (set *answerSet) collect(rt *retrieval) {
	set.more = set.more || rt.full
	set.degraded = append(set.degraded, rt.degraded...)
	set.drop(rt.cuts)
	if rt.relaxed != "" {
		set.relaxed = &rt.relaxed
	}
	if set.known == nil {
		set.known = rt.known
	}
}

// cut drops what is below the thresholds on the fused score, over all knowledge bases.
func (set *answerSet) cut(threshold *Threshold) {
	thresholds := scoring.Thresholds{Score: threshold.Score, Relative: threshold.Relative}
	passing, cuts := thresholds.Cut(set.entries)
	set.drop(cuts)
	// Chunks beyond those found rank below them: once one is cut, none of them passes.
	set.more = set.more && len(passing) == len(set.entries)
	set.entries = passing
}

// drop counts hits that thresholds dropped.
func (set *answerSet) drop(cuts []scoring.Cut) {
	for _, c := range cuts {
		set.dropped[c.Threshold] += c.Count
	}
}

// truncate keeps the best candidates.
func (set *answerSet) truncate(candidates int) {
	if len(set.entries) > candidates {
		set.entries, set.more = set.entries[:candidates], true
	}
}

// from is the retrieval that found an entry.
func (set *answerSet) from(entry *scoring.Fused) *retrieval { return &set.retrievals[entry.Source] }

// hit is the entry as the engine found it.
func (set *answerSet) hit(entry *scoring.Fused) *engine.Hit {
	return &set.from(entry).hits[entry.Index]
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
