package search

import (
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search/answer"
	"github.com/hybridge-search/hybridge/search/relevance"
	"github.com/hybridge-search/hybridge/search/retrieve"
)

// answerSet is the best candidates of all knowledge bases that pass the thresholds:
// what totals, documents and facets count, and what pages are cut from.
type answerSet struct {
	retrievals []retrieve.Retrieval
	entries    []scoring.Fused // Source is the place of their retrieval
	counted    []scoring.Fused // the same with the copies that are folded: what totals count
	more       bool            // chunks beyond the entries may pass
	mergedBy   string
	boosts     []float64      // per knowledge base, in (0, 1]; nil: none is preferred
	dropped    map[string]int // hits dropped, per threshold
	relaxed    *string
	degraded   []answer.Degraded
	bytes      *answer.Allowance // of the answer
	known      *float64
	parents    map[chunkOf]*answer.Parent      // of hits that bring their sections along
	copies     map[chunkOf]standIn             // chunks dropped as copies: the better one
	folded     map[chunkOf][]scoring.Fused     // the copies that a chunk stands for, of those that are counted
	uncut      []scoring.Fused                 // the entries before thresholds on the reranked score
	reranked   map[chunkOf]*answer.Reranked    // of the chunks that a reranker read
	second     map[chunkOf]*answer.SecondScore // of the chunks of a second stage
	diversity  map[chunkOf]*answer.Diversity   // of the chunks that a diverse answer is chosen from
	read       map[chunkOf]*engine.Chunk       // chunks that copies were looked for in
	calibrated *relevance.Calibrated
}

// from is the retrieval that found an entry.
func (set *answerSet) from(entry *scoring.Fused) *retrieve.Retrieval {
	return &set.retrievals[entry.Source]
}

// hit is the entry as the engine found it.
func (set *answerSet) hit(entry *scoring.Fused) *engine.Hit {
	rt := set.from(entry)
	return &rt.Hits[int(entry.Index)-rt.Offset]
}

// document is the one that an entry is a chunk of.
func (set *answerSet) document(entry *scoring.Fused) documentKey {
	return documentKey{int(entry.Source), set.hit(entry).DocumentID}
}

// chunkOf names a chunk over all knowledge bases of a request.
type chunkOf struct {
	from *retrieve.Retrieval
	id   string
}

// chunkOf is the name of an entry.
func (set *answerSet) chunkOf(entry *scoring.Fused) chunkOf {
	return chunkOf{set.from(entry), entry.ID()}
}

// documentKey names a document over all knowledge bases of a request.
type documentKey struct {
	source int
	id     string
}
