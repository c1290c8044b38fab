package tokens

import (
	_ "embed" // the lists
	"strings"

	"github.com/hybridge-search/hybridge/analysis/fold"
)

// Words that a query ignores unless it has no others: Lucene's English set, and Chinese
// function words.
var (
	//go:embed stopwords/en.txt
	englishStopWords string
	//go:embed stopwords/zh.txt
	chineseStopWords string
)

func stopWords(t *fold.Table) map[string]bool {
	stops := map[string]bool{}
	for _, w := range strings.Fields(englishStopWords + " " + chineseStopWords) {
		stops[t.String(w)] = true
	}
	return stops
}
