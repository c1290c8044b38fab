package rank

import (
	"github.com/hybridge-search/hybridge/analysis"
)

// Weights of a word, and of two that are neighbours in question and chunk, over the larger idf.
const (
	wordWeight = 0.4
	pairWeight = 0.6
)

// WeightsOfWords says what the words of a question count, and the pairs of neighbours among them, by what they are.
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
