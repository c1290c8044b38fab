package search

import (
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/highlight"
	"github.com/hybridge-search/hybridge/textquery"
)

// marker marks the query's words, and their synonyms, in the chunks of a page.
type marker struct {
	analyzer Analyzer
	options  highlight.Options
	terms    map[string]bool
}

func (s *Searcher) marker(r *run, set *answerSet) *marker {
	m := &marker{analyzer: s.Analyzer, options: highlightOptions(r.req.Highlight), terms: map[string]bool{}}
	for _, term := range r.question.parsed.Terms {
		m.terms[term.Text] = true
	}
	for i := range set.answers {
		for l := range set.answers[i].legs {
			m.synonyms(set.answers[i].legs[l].text)
		}
	}
	return m
}

func (m *marker) synonyms(query *textquery.Query) {
	if query == nil {
		return
	}
	for _, term := range query.Terms {
		for _, synonym := range term.Synonyms {
			for _, word := range synonym.Terms {
				m.terms[word] = true
			}
		}
	}
}

// fragments marks the part of a chunk that answers: its content, or the answer
// of a question-answer pair.
func (m *marker) fragments(chunk *engine.Chunk) []string {
	text := chunk.Content
	if chunk.QA != nil {
		text = chunk.Answer
	}
	if text == "" || m.options.Fragments == 0 {
		return []string{}
	}
	return highlight.Highlight(text, m.analyzer.Tokens(text), m.terms, m.options)
}

func highlightOptions(asked *Highlight) highlight.Options {
	options := highlight.Defaults()
	if asked == nil {
		return options
	}
	set(&options.FragmentSize, asked.FragmentSize)
	set(&options.Fragments, asked.Fragments)
	set(&options.Pre, asked.Pre)
	set(&options.Post, asked.Post)
	return options
}

func set[T any](into, value *T) {
	if value != nil {
		*into = *value
	}
}
