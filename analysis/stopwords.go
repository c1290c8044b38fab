package analysis

import (
	_ "embed" // the lists
	"strings"
	"sync"
)

// The words that a query is better off without: Lucene's English set, and
// Chinese function words. A query of nothing else keeps them.
var (
	//go:embed stopwords/en.txt
	englishStopWords string
	//go:embed stopwords/zh.txt
	chineseStopWords string
)

// loadStops folds the lists once for the process.
var loadStops = sync.OnceValues(func() (map[string]bool, error) {
	f, err := loadFolding()
	if err != nil {
		return nil, err
	}
	return stopWords(f), nil
})

func stopWords(f *folding) map[string]bool {
	stops := map[string]bool{}
	for _, w := range strings.Fields(englishStopWords + " " + chineseStopWords) {
		stops[f.String(w)] = true
	}
	return stops
}
