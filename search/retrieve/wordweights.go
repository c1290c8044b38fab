package retrieve

import (
	"github.com/hybridge-search/hybridge/search/rank"
)

// WeightsOfWords are, for each wording of the question, what its words count, and the pairs of
// neighbours among them, by what they are.
func (rt *Retrieval) WeightsOfWords() []map[string]float64 {
	wordings := rt.Question.Wordings()
	all := make([]map[string]float64, len(wordings))
	for query, wording := range wordings {
		all[query] = rank.WeightsOfWords(&wording.Parsed, rt.frequencies(query))
	}
	return all
}
