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

// WordsHeld is, for each wording, the share of the weights of the words and pairs of neighbours
// that occur in the tokens of a chunk.
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

// WholeText is all searchable text of a chunk.
func WholeText(chunk *engine.Chunk) string {
	parts := append([]string{TextOf(chunk)}, chunk.ImportantKeywords...)
	return strings.Join(append(parts, chunk.Questions...), "\n")
}

// Weights of a word, and of two that are neighbours in question and chunk, over the larger idf.
const (
	wordWeight = 0.4
	pairWeight = 0.6
)

// WeightsOfWords gives the weights of the words of a question, and of the pairs of neighbours among them.
func WeightsOfWords(parsed *analysis.Query, frequencies analysis.Frequencies) map[string]float64 {
	idf, onlyStops := make(map[string]float64, len(parsed.Terms)), true
	for i, term := range parsed.Terms {
		idf[term.Text] = frequencies.IDF(i)
		onlyStops = onlyStops && term.Stop
	}
	var words []string
	for _, t := range parsed.Tokens {
		if !t.Part && (!t.Stop || onlyStops) {
			words = append(words, t.Text)
		}
	}
	weights := make(map[string]float64, 2*len(words))
	for i, word := range words {
		weights[word] += wordWeight * idf[word]
		if i+1 < len(words) {
			weights[word+words[i+1]] += pairWeight * max(idf[word], idf[words[i+1]])
		}
	}
	return weights
}
