package search

import (
	"cmp"
	"slices"

	"github.com/hybridge-search/hybridge/search/answer"
)

// documents counts the chunks of each document, most first, then best first.
func (set *answerSet) documents() []answer.DocumentCount {
	counts := []answer.DocumentCount{}
	places := map[documentKey]int{}
	for i := range set.counted {
		document, hit := set.document(&set.counted[i]), set.hit(&set.counted[i])
		at, counted := places[document]
		if !counted {
			at = len(counts)
			places[document] = at
			counts = append(counts, answer.DocumentCount{DocumentID: hit.DocumentID, DocumentName: hit.DocumentName})
		}
		counts[at].Count++
	}
	slices.SortStableFunc(counts, func(a, b answer.DocumentCount) int { return b.Count - a.Count })
	return counts
}

// facets counts the values of each field asked for, most first, then by value.
func (set *answerSet) facets(fields []string) map[string][]answer.FacetCount {
	if len(fields) == 0 {
		return nil
	}
	facets := make(map[string][]answer.FacetCount, len(fields))
	for _, field := range fields {
		count := map[string]int{}
		for i := range set.counted {
			for _, value := range set.hit(&set.counted[i]).Facets[field] {
				count[value]++
			}
		}
		list := make([]answer.FacetCount, 0, len(count))
		for value, n := range count {
			list = append(list, answer.FacetCount{Value: value, Count: n})
		}
		slices.SortFunc(list, func(a, b answer.FacetCount) int {
			return cmp.Or(b.Count-a.Count, cmp.Compare(a.Value, b.Value))
		})
		facets[field] = list
	}
	return facets
}
