package rank

import (
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search/relevance"
)

// Ranked is the best candidates of all knowledge bases that pass the thresholds:
// the entries that pages are cut from, and that totals, documents and facets count.
type Ranked struct {
	Bases      []*Base
	Entries    []scoring.Fused // Source is the place of their knowledge base
	Counted    []scoring.Fused // the entries and their near-duplicates: for totals
	More       bool            // chunks beyond the entries may pass
	MergedBy   string
	Boosts     []float64      // per knowledge base, in (0, 1]; nil: none is preferred
	Dropped    map[string]int // hits dropped, per threshold
	Calibrated *relevance.Calibrated
	Copies     map[Key]StandIn         // near-duplicates dropped: the better chunk
	Folded     map[Key][]scoring.Fused // the near-duplicates of a chunk, among the counted
	Uncut      []scoring.Fused         // the entries before thresholds on the reranked score
}

// base is the knowledge base that an entry was found in.
func (set *Ranked) base(entry *scoring.Fused) *Base { return set.Bases[entry.Source] }

// Hit is the entry as the engine found it.
func (set *Ranked) Hit(entry *scoring.Fused) *engine.Hit {
	base := set.base(entry)
	return &base.Found.Hits[int(entry.Index)-base.Offset]
}

// Document returns the document of the chunk that an entry ranks.
func (set *Ranked) Document(entry *scoring.Fused) documentKey {
	return documentKey{int(entry.Source), set.Hit(entry).DocumentID}
}

// Key names a chunk over all knowledge bases of a request.
type Key struct {
	Source int32
	ID     string
}

// Key is the name of an entry.
func (set *Ranked) Key(entry *scoring.Fused) Key {
	return Key{entry.Source, entry.ID()}
}

// documentKey names a document over all knowledge bases of a request.
type documentKey struct {
	source int
	id     string
}

// StandIn is the better chunk that stands for a copy.
type StandIn struct {
	Key
	Fields string // that are alike; empty: the whole text is
}

// Base is the part of a knowledge base's result that ranking needs.
type Base struct {
	Found    *relevance.Found
	Ranking  []scoring.Fused
	Full     bool              // an engine stopped at its limit: more may match
	Source   int32             // its place among the knowledge bases
	Offset   int               // of its hits among the candidates that it was fused with
	PinnedBy map[string]string // the chunks that query rules pin: the rule
}
