package search

import (
	"hash/maphash"
	"math/bits"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/scoring"
)

// answerSet is the best candidates of all knowledge bases after thresholds:
// what totals, documents and facets count, and what pages are cut from.
type answerSet struct {
	entries  []scoring.Fused // by their Source, of which answer
	more     bool            // chunks beyond the entries may pass
	relation string          // eq, or gte when more chunks may pass
	mergedBy string
	cut      map[string]int // hits dropped by threshold
	relaxed  *string
	degraded []Degraded
	known    *float64
	answers  []answer
	copies   map[chunkOf]string // chunks dropped, and the better one like each
	tallies  *tallySpace        // that the documents are written in, where the set keeps it
}

// release gives back the memory of what was found; nothing is in the set then. A set of
// nil has none.
func (set *answerSet) release() {
	if set == nil {
		return
	}
	for i := range set.answers {
		set.answers[i].giveBack()
	}
	if set.tallies != nil {
		tallySpaces.Put(set.tallies)
	}
	set.entries, set.answers, set.tallies = nil, nil, nil
}

// giveBack gives back the memory of the hits, once nobody looks at them any more.
func (a *answer) giveBack() {
	scoring.Recycle(a.ranking)
	if a.release != nil {
		a.release()
	}
}

// from is the answer that a chunk of the set is in.
func (set *answerSet) from(chunk *scoring.Fused) *answer { return &set.answers[chunk.Source] }

// hit is the chunk as the engine found it.
func (set *answerSet) hit(chunk *scoring.Fused) *engine.Hit {
	return &set.from(chunk).hits[chunk.Index]
}

// collect merges the answers, cuts by the thresholds on the fused score and groups.
func collect(r *run, found []answer) *answerSet {
	plan := r.plan()
	set := &answerSet{relation: "eq", answers: found, degraded: []Degraded{}}
	full := false
	for i := range found {
		full = full || found[i].full
		set.note(&found[i])
	}
	merged := found[0].fused
	if len(found) > 1 {
		merged = set.merge(plan)
	}
	set.entries = set.threshold(plan, merged)
	set.more = full && len(set.entries) == len(merged)
	if plan.GroupBy != "" {
		set.group()
	}
	return set
}

// merge makes one ranking of those of several knowledge bases.
func (set *answerSet) merge(plan *Plan) []scoring.Fused {
	rankings := make([]scoring.Answer, len(set.answers))
	for i := range set.answers {
		a := &set.answers[i]
		rankings[i] = scoring.Answer{Legs: a.planned(), Fused: a.fused}
	}
	merged, basis := plan.Fusion.Merge(rankings...)
	set.mergedBy = string(basis)
	return merged
}

// close keeps the best candidates.
func (set *answerSet) close(candidates int) {
	if len(set.entries) > candidates {
		set.entries, set.more = set.entries[:candidates], true
	}
	if set.more {
		set.relation = "gte"
	}
}

// note takes over what an answer tells beside its hits.
func (set *answerSet) note(a *answer) {
	set.degraded = append(set.degraded, a.degraded...)
	for name, count := range a.cut {
		set.drop(name, count)
	}
	if a.relaxed != "" {
		set.relaxed = &a.relaxed
	}
	if set.known == nil {
		set.known = a.known
	}
}

// threshold cuts by the fused score, over all knowledge bases together.
func (set *answerSet) threshold(plan *Plan, merged []scoring.Fused) []scoring.Fused {
	thresholds := scoring.Thresholds{Score: plan.Threshold.Score, Relative: plan.Threshold.Relative}
	passing, cuts := thresholds.Cut(merged, nil)
	for _, c := range cuts {
		set.drop(c.Threshold, c.Count)
	}
	return passing
}

// drop counts hits that a threshold cut.
func (set *answerSet) drop(threshold string, count int) {
	if set.cut == nil {
		set.cut = map[string]int{}
	}
	set.cut[threshold] += count
}

// group keeps the first, so the best, chunk of each document.
func (set *answerSet) group() {
	seen := make(map[documentKey]bool, len(set.entries))
	var kept []scoring.Fused
	for i := range set.entries {
		e := &set.entries[i]
		if document := set.document(e); !seen[document] {
			seen[document] = true
			kept = append(kept, *e)
		}
	}
	set.entries = kept
}

// documents counts the chunks of each document, most first. What it gives is for who
// is passing gone with the set.
func (set *answerSet) documents(passing bool) []DocumentCount {
	space := tallySpaces.Get().(*tallySpace)
	counts := space.mostFirst(set, set.tally(space))
	if passing {
		set.tallies = space
		return counts
	}
	counts = slices.Clone(counts)
	tallySpaces.Put(space)
	if set.fleeting() {
		ownTexts(counts)
	}
	return counts
}

// tally counts the chunks of each document.
func (set *answerSet) tally(space *tallySpace) []tally {
	// A table by the hash of the document, of places in tallies from 1: a map takes
	// twice as long for a thousand.
	table := space.emptyTable(1 << bits.Len(uint(len(set.entries))))
	tallies, hashes := space.tallies[:0], space.hashes[:0]
	// The hashes first: none waits for another, so the ids, which lie anywhere, are
	// brought near side by side.
	for i := range set.entries {
		hashes = append(hashes, uint32(maphash.String(documentSeed, set.hit(&set.entries[i]).DocumentID)))
	}
	for i := range set.entries {
		slot := int(hashes[i]) & (len(table) - 1)
		for table[slot] > 0 {
			best := int(tallies[table[slot]-1].best)
			if hashes[best] == hashes[i] && set.sameDocument(best, i) {
				break
			}
			slot = (slot + 1) & (len(table) - 1)
		}
		if table[slot] == 0 {
			tallies = append(tallies, tally{best: int32(i)})
			table[slot] = int32(len(tallies))
		}
		tallies[table[slot]-1].count++
	}
	space.tallies, space.hashes = tallies, hashes
	return tallies
}

// tallySpace is where the documents of a search are counted; the next one writes over it.
type tallySpace struct {
	table   []int32
	tallies []tally
	hashes  []uint32
	next    []int
	counts  []DocumentCount
}

var tallySpaces = sync.Pool{New: func() any { return new(tallySpace) }}

func (s *tallySpace) emptyTable(n int) []int32 {
	if cap(s.table) < n {
		s.table = make([]int32, n)
	}
	s.table = s.table[:n]
	clear(s.table)
	return s.table
}

var documentSeed = maphash.MakeSeed()

// tally counts the chunks of a document, of which one is the best.
type tally struct{ best, count int32 }

// sameDocument reports whether two entries are chunks of one document.
func (set *answerSet) sameDocument(i, j int) bool {
	return set.document(&set.entries[i]) == set.document(&set.entries[j])
}

// mostFirst writes out tallies in order, those that are equal as they stand. It
// counts the counts: most of a thousand are 1, which sorting takes its time to
// find out.
func (s *tallySpace) mostFirst(set *answerSet, tallies []tally) []DocumentCount {
	most := int32(0)
	for _, t := range tallies {
		most = max(most, t.count)
	}
	next := slices.Grow(s.next[:0], int(most)+1)[:most+1] // by count, where the next one goes
	clear(next)
	for _, t := range tallies {
		next[t.count]++
	}
	before := 0
	for count := most; count >= 0; count-- {
		next[count], before = before, before+next[count]
	}
	if s.counts == nil {
		s.counts = []DocumentCount{} // not null, also where there is none
	}
	counts := slices.Grow(s.counts[:0], len(tallies))[:len(tallies)]
	for _, t := range tallies {
		hit := set.hit(&set.entries[t.best])
		counts[next[t.count]] = DocumentCount{
			DocumentID: hit.DocumentID, DocumentName: hit.DocumentName, Count: int(t.count),
		}
		next[t.count]++
	}
	s.next, s.counts = next, counts
	return counts
}

// fleeting: texts of hits are gone after the search.
func (set *answerSet) fleeting() bool {
	return slices.ContainsFunc(set.answers, func(a answer) bool { return a.release != nil })
}

// ownTexts copies the texts of counts, all into one.
func ownTexts(counts []DocumentCount) {
	size := 0
	for i := range counts {
		size += len(counts[i].DocumentID) + len(counts[i].DocumentName)
	}
	var all strings.Builder
	all.Grow(size)
	for i := range counts {
		all.WriteString(counts[i].DocumentID)
		all.WriteString(counts[i].DocumentName)
	}
	texts := all.String()
	for i := range counts {
		id, name := len(counts[i].DocumentID), len(counts[i].DocumentName)
		counts[i].DocumentID, counts[i].DocumentName = texts[:id], texts[id:id+name]
		texts = texts[id+name:]
	}
}

// facets counts the values of each field asked for, most first, then by value.
func (set *answerSet) facets(fields []string) map[string][]FacetCount {
	if len(fields) == 0 {
		return nil
	}
	facets := make(map[string][]FacetCount, len(fields))
	for _, field := range fields {
		count := map[string]int{}
		for i := range set.entries {
			for _, value := range set.hit(&set.entries[i]).Facets[field] {
				count[value]++
			}
		}
		list := make([]FacetCount, 0, len(count))
		for value, n := range count {
			list = append(list, FacetCount{Value: strings.Clone(value), Count: n}) // the hit's goes with it
		}
		sort.Slice(list, func(i, j int) bool {
			if list[i].Count != list[j].Count {
				return list[i].Count > list[j].Count
			}
			return list[i].Value < list[j].Value
		})
		facets[field] = list
	}
	return facets
}
