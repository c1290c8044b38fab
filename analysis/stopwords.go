package analysis

import (
	_ "embed" // the lists
	"strings"
)

// The words that a query is better off without: Lucene's English set, and
// Chinese function words. A query of nothing else keeps them.
var (
	//go:embed stopwords/en.txt
	englishStopWords string
	//go:embed stopwords/zh.txt
	chineseStopWords string
)

func stopWords(f *folding) map[string]bool {
	stops := map[string]bool{}
	for _, w := range strings.Fields(englishStopWords + " " + chineseStopWords) {
		stops[f.String(w)] = true
	}
	return stops
}
