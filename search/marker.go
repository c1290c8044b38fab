package search

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/analysis/highlight"
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
	m := &marker{
		analyzer: s.Analyzer, matchers: make([]*highlight.Matcher, len(set.answers)),
	}
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

// largePage is how many bytes of text take longer to mark than another processor
// takes to wake up: a page of ten chunks has a tenth of it.
const largePage = 1 << 17

// mark fills in the highlights of hits, each of an answer; those of a large page on
// all processors.
func (m *marker) mark(hits []Hit, sources []int) {
	size := 0
	for i := range hits {
		size += len(m.text(&hits[i]))
	}
	if size > largePage {
		m.markTogether(hits, sources)
		return
	}
	for i := range hits {
		hits[i].Highlights = m.fragments(sources[i], &hits[i])
	}
}

func (m *marker) markTogether(hits []Hit, sources []int) {
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

// text is the part of a hit that answers: its content, or the answer of a
// question-answer pair; empty where no mark is wanted.
func (m *marker) text(hit *Hit) string {
	switch {
	case !m.wanted:
		return ""
	case hit.QA != nil:
		return hit.Answer
	}
	return hit.Content
}

func (m *marker) fragments(source int, hit *Hit) []string {
	text := m.text(hit)
	if text == "" {
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
