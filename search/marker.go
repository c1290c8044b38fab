package search

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/highlight"
	"github.com/hybridge-search/hybridge/textquery"
)

// marker marks the query's words, and their synonyms, in the chunks of a page.
type marker struct {
	analyzer Analyzer
	wanted   bool
	options  highlight.Options
	matchers []*highlight.Matcher // by answer: synonyms differ between knowledge bases
}

func (s *Searcher) marker(r *run, set *answerSet) *marker {
	m := &marker{analyzer: s.Analyzer, matchers: make([]*highlight.Matcher, len(set.answers))}
	m.options, m.wanted = highlightOptions(r.req.Highlight)
	for i := range set.answers {
		m.matchers[i] = highlight.NewMatcher(s.words(&set.answers[i], r.question.parsed))
	}
	return m
}

// words are the query as a text leg has it, or without one its plain terms.
func (s *Searcher) words(a *answer, parsed analysis.Query) textquery.Query {
	for i := range a.legs {
		if a.legs[i].text != nil {
			return *a.legs[i].text
		}
	}
	return analysis.Compose(parsed, analysis.Frequencies{}, s.expander(&a.target.kb), a.target.plan.Text)
}

// mark fills in the highlights of hits, each of an answer, on all processors.
func (m *marker) mark(hits []Hit, sources []int) {
	var next atomic.Int64
	work := func() {
		for i := next.Add(1) - 1; int(i) < len(hits); i = next.Add(1) - 1 {
			hits[i].Highlights = m.fragments(sources[i], &hits[i])
		}
	}
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(hits)) - 1 {
		workers.Go(work)
	}
	work()
	workers.Wait()
}

// fragments marks the part of a hit that answers: its content, or the answer of a
// question-answer pair.
func (m *marker) fragments(source int, hit *Hit) []string {
	text := hit.Content
	if hit.QA != nil {
		text = hit.Answer
	}
	if text == "" || !m.wanted {
		return []string{}
	}
	return highlight.Text(text, m.analyzer, m.matchers[source], m.options)
}

// highlightOptions gives what is asked for, and whether any fragment is; where
// nothing is asked the highlighter's defaults hold.
func highlightOptions(asked *Highlight) (options highlight.Options, wanted bool) {
	if asked == nil {
		return options, true
	}
	assign(&options.FragmentSize, asked.FragmentSize)
	assign(&options.Fragments, asked.Fragments)
	assign(&options.Pre, asked.Pre)
	assign(&options.Post, asked.Post)
	return options, asked.Fragments == nil || *asked.Fragments > 0
}

func assign[T any](into, value *T) {
	if value != nil {
		*into = *value
	}
}
