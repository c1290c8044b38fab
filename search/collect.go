package search

import (
	"sort"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/scoring"
)

// answerSet is the best candidates of all knowledge bases after thresholds:
// what totals, documents and facets count, and what pages are cut from.
type answerSet struct {
	entries  []entry
	more     bool   // chunks beyond the entries may pass
	relation string // eq, or gte when more chunks may pass
	mergedBy string
	cut      map[string]int
	relaxed  *string
	degraded []Degraded
	known    *float64
	answers  []answer
	copies   map[chunkOf]string // chunks dropped, and the better one like each
}

// entry is one chunk of the answer set.
type entry struct {
	scoring.Fused
	hit  *engine.Hit
	from *answer
}

func (e *entry) kb() *engine.KnowledgeBase { return &e.from.target.kb }

// collect merges the answers, cuts by the thresholds on the fused score and groups.
func collect(r *run, found []answer) *answerSet {
	plan := r.plan()
	set := &answerSet{relation: "eq", cut: map[string]int{}, answers: found, degraded: []Degraded{}}
	full := false
	rankings := make([]scoring.Answer, len(found))
	for i := range found {
		full = full || found[i].full
		rankings[i] = scoring.Answer{Legs: found[i].planned(), Fused: found[i].fused}
		set.note(&found[i])
	}
	merged, basis := plan.Fusion.Merge(rankings...)
	if len(found) > 1 {
		set.mergedBy = string(basis)
	}
	passed := set.threshold(plan, merged)
	set.more = full && len(passed) == len(merged)
	set.entries = make([]entry, len(passed))
	for i, chunk := range passed {
		a := &found[chunk.Source]
		set.entries[i] = entry{Fused: chunk, hit: &a.hits[chunk.Index], from: a}
	}
	if plan.GroupBy != "" {
		set.entries = bestOfDocuments(set.entries)
	}
	return set
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
		set.cut[name] += count
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
		set.cut[c.Threshold] += c.Count
	}
	return passing
}

// bestOfDocuments keeps the first, so the best, chunk of each document.
func bestOfDocuments(entries []entry) []entry {
	seen := make(map[documentKey]bool, len(entries))
	kept := entries[:0:0]
	for _, e := range entries {
		if !seen[e.document()] {
			seen[e.document()] = true
			kept = append(kept, e)
		}
	}
	return kept
}

// documents counts the chunks of each document, most first.
func (set *answerSet) documents() []DocumentCount {
	at := make([]map[string]int, len(set.answers)) // by source, a document's place in counts
	for i := range at {
		at[i] = make(map[string]int, len(set.entries)/len(at))
	}
	counts := []DocumentCount{}
	for i := range set.entries {
		e := &set.entries[i]
		place, ok := at[e.Source][e.hit.DocumentID]
		if !ok {
			place = len(counts)
			at[e.Source][e.hit.DocumentID] = place
			counts = append(counts, DocumentCount{DocumentID: e.hit.DocumentID, DocumentName: e.hit.DocumentName})
		}
		counts[place].Count++
	}
	return mostFirst(counts)
}

// mostFirst orders counts, those that are equal as they stand. It counts the
// counts: most of a thousand are 1, which sorting takes its time to find out.
func mostFirst(counts []DocumentCount) []DocumentCount {
	most := 0
	for i := range counts {
		most = max(most, counts[i].Count)
	}
	next := make([]int, most+1) // by count, where the next one goes
	for i := range counts {
		next[counts[i].Count]++
	}
	before := 0
	for count := most; count >= 0; count-- {
		next[count], before = before, before+next[count]
	}
	ordered := make([]DocumentCount, len(counts))
	for i := range counts {
		place := &next[counts[i].Count]
		ordered[*place] = counts[i]
		*place++
	}
	return ordered
}

// facets counts the values of each field asked for, most first, then by value.
func (set *answerSet) facets(fields []string) map[string][]FacetCount {
	if len(fields) == 0 {
		return nil
	}
	facets := make(map[string][]FacetCount, len(fields))
	for _, field := range fields {
		count := map[string]int{}
		for _, e := range set.entries {
			for _, value := range e.hit.Facets[field] {
				count[value]++
			}
		}
		list := make([]FacetCount, 0, len(count))
		for value, n := range count {
			list = append(list, FacetCount{Value: value, Count: n})
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
