package rank

import (
	"strings"

	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/search/answer"
	"github.com/hybridge-search/hybridge/search/plan"
)

// Weighted weighs words and cosine, in [0, 1].
func Weighted(p *plan.SecondStage, s *answer.SecondScore) float64 {
	if s.Cosine == nil || p.Text+p.Vector == 0 {
		return s.Words
	}
	return max(0, min(1, (p.Text*s.Words+p.Vector**s.Cosine)/(p.Text+p.Vector)))
}

// WordsHeld is, for each wording, the share of the weights whose words, or pairs of neighbours,
// the tokens of a chunk have.
func WordsHeld(wordings []map[string]float64, tokens []analysis.Token) []float64 {
	shares := make([]float64, len(wordings))
	found, before := map[string]bool{}, ""
	for _, t := range tokens {
		if !t.Part {
			found[t.Text], found[before+t.Text] = true, true
			before = t.Text
		}
	}
	for query, weights := range wordings {
		held, all := 0.0, 0.0
		for word, weight := range weights {
			all += weight
			if found[word] {
				held += weight
			}
		}
		if all > 0 {
			shares[query] = min(held/all, 1)
		}
	}
	return shares
}

// WholeText is all that a chunk is found by.
func WholeText(chunk *engine.Chunk) string {
	parts := append([]string{TextOf(chunk)}, chunk.ImportantKeywords...)
	return strings.Join(append(parts, chunk.Questions...), "\n")
}
