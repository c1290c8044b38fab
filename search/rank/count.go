package rank

import (
	"cmp"
	"slices"

	"github.com/hybridge-search/hybridge/search/answer"
)

// DocumentCounts counts the chunks of each document, most first, then best first.
func (set *Ranked) DocumentCounts() []answer.DocumentCount {
	counts := []answer.DocumentCount{}
	places := map[documentKey]int{}
	for i := range set.Counted {
		document, hit := set.Document(&set.Counted[i]), set.Hit(&set.Counted[i])
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

// FacetCounts counts the values of each requested field, most first, then by value.
func (set *Ranked) FacetCounts(fields []string) map[string][]answer.FacetCount {
	if len(fields) == 0 {
		return nil
	}
	facets := make(map[string][]answer.FacetCount, len(fields))
	for _, field := range fields {
		count := map[string]int{}
		for i := range set.Counted {
			for _, value := range set.Hit(&set.Counted[i]).Facets[field] {
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
