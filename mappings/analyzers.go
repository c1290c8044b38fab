package mappings

import (
	"strings"

	"github.com/hybridge-search/hybridge/engine"
)

// The analyzers besides engine.AnalyzerJieba run in Elasticsearch, over the
// plain text. ik_* need the IK plugin.
const (
	AnalyzerStandard = "standard"
	AnalyzerCJK      = "cjk"
	AnalyzerIKMax    = "ik_max_word"
	AnalyzerIKSmart  = "ik_smart"
)

// Analyzers lists the accepted values of a knowledge base's analyzer.
func Analyzers() []string {
	return []string{engine.AnalyzerJieba, AnalyzerStandard, AnalyzerCJK, AnalyzerIKMax, AnalyzerIKSmart}
}

// SearchAnalyzers lists the accepted values of a knowledge base's search analyzer: a text is cut into
// all words that it may have (ik_max_word), a question into those that it most likely means.
func SearchAnalyzers() []string { return []string{AnalyzerIKMax, AnalyzerIKSmart} }

// NeedsIK reports whether an analyzer comes from the IK plugin.
func NeedsIK(analyzer string) bool { return strings.HasPrefix(analyzer, "ik_") }

// Pretokenised reports whether the gateway makes the tokens.
func Pretokenised(analyzer string) bool { return analyzer == engine.AnalyzerJieba }

// Analysis defines an index's own analyzers.
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/analysis-custom-analyzer.html
type Analysis struct {
	Analyzer  map[string]Analyzer  `json:"analyzer"`
	Tokenizer map[string]Tokenizer `json:"tokenizer,omitempty"`
	Filter    map[string]Filter    `json:"filter,omitempty"`
}

// Analyzer is a tokenizer with token filters.
type Analyzer struct {
	Type      string   `json:"type"`
	Tokenizer string   `json:"tokenizer"`
	Filter    []string `json:"filter,omitempty"`
}

// Tokenizer splits a text.
type Tokenizer struct {
	Type           string `json:"type"`
	MaxTokenLength int    `json:"max_token_length,omitempty"`
}

// Filter changes tokens.
type Filter struct {
	Type     string `json:"type"`
	Language string `json:"language,omitempty"`
}

const (
	analyzerTokens = "hybridge_tokens"
	analyzerText   = "hybridge_text"
	analyzerSearch = "hybridge_search" // of questions, where they are analysed another way
	stemmer        = "hybridge_stemmer"
	// maxTokenLength in UTF-16 units keeps any token under Lucene's limit of
	// 32,766 bytes; longer ones are split.
	maxTokenLength = 10_000
)

func indexAnalyzer(analyzer string) string {
	if Pretokenised(analyzer) {
		return analyzerTokens
	}
	return analyzerText
}

// analysisOf defines the analyzer of the text fields. The gateway's tokens are
// joined by single spaces and only split at them again. For the analyzers that
// run in Elasticsearch a stemmer is added, because the words of a query come
// stemmed from the gateway.
func analysisOf(kb *engine.KnowledgeBase) *Analysis {
	analyzer := kb.Analyzer
	if Pretokenised(analyzer) {
		return &Analysis{
			Analyzer:  map[string]Analyzer{analyzerTokens: {Type: "custom", Tokenizer: analyzerTokens}},
			Tokenizer: map[string]Tokenizer{analyzerTokens: {Type: "whitespace", MaxTokenLength: maxTokenLength}},
		}
	}
	text := Analyzer{Type: "custom", Tokenizer: AnalyzerStandard, Filter: []string{"cjk_width", "lowercase", stemmer}}
	switch {
	case analyzer == AnalyzerCJK:
		text.Filter = []string{"cjk_width", "lowercase", "cjk_bigram", stemmer}
	case NeedsIK(analyzer):
		text.Tokenizer = analyzer
	}
	all := map[string]Analyzer{analyzerText: text}
	if kb.SearchAnalyzer != "" {
		search := text
		search.Tokenizer = kb.SearchAnalyzer
		all[analyzerSearch] = search
	}
	return &Analysis{
		Analyzer: all,
		Filter:   map[string]Filter{stemmer: {Type: "snowball", Language: "English"}},
	}
}
