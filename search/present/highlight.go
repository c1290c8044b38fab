package present

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/hybridge-search/hybridge/analysis/highlight"
	"github.com/hybridge-search/hybridge/search/answer"
	"github.com/hybridge-search/hybridge/search/ask"
	"github.com/hybridge-search/hybridge/search/engines"
	"github.com/hybridge-search/hybridge/search/plan"
	"github.com/hybridge-search/hybridge/search/refine"
)

// marker marks the query's words, and their synonyms, in the chunks of a page.
type marker struct {
	wanted   bool
	options  highlight.Options
	matchers []*highlight.Matcher // by retrieval: knowledge bases differ in their synonyms
	matched  []bool               // by hit, once marked: its text has words of the query
}

func (s *Presenter) newMarker(r *ask.Asked, set *refine.Set) *marker {
	m := &marker{matchers: make([]*highlight.Matcher, len(set.Retrievals))}
	m.options, m.wanted = highlightOptions(r.Request.Highlight)
	for i := range set.Retrievals {
		rt := &set.Retrievals[i]
		m.matchers[i] = highlight.NewMatcher(&rt.Question.Parsed, rt.Words(s.Asker), s.Asker.Analyzer)
	}
	return m
}

// largePage is the size in bytes from which marking takes longer than waking
// another processor. A page of ten chunks has a tenth of it.
const largePage = 1 << 17

// mark sets the highlights of hits, given the retrieval of each; of a large page on
// all processors. It ends early with ctx, and if the fragments exceed the byte budget.
func (m *marker) mark(ctx context.Context, hits []answer.Hit, sources []int, bytes *answer.Allowance) error {
	size := 0
	for i := range hits {
		size += len(m.text(&hits[i]))
	}
	m.matched = make([]bool, len(hits))
	var next atomic.Int64
	var tooLarge atomic.Pointer[error]
	work := func() {
		for i := next.Add(1) - 1; int(i) < len(hits); i = next.Add(1) - 1 {
			if ctx.Err() != nil || tooLarge.Load() != nil {
				return
			}
			m.matched[i] = m.markHit(sources[i], &hits[i])
			if err := bytes.Take(sizeOfMarked(&hits[i])); err != nil {
				tooLarge.Store(&err)
			}
		}
	}
	var helpers sync.WaitGroup
	if size > largePage {
		for range min(runtime.GOMAXPROCS(0), len(hits)) - 1 {
			helpers.Go(work)
		}
	}
	work()
	helpers.Wait()
	if err := tooLarge.Load(); err != nil {
		return *err
	}
	if ctx.Err() != nil {
		return engines.ContextFault(ctx)
	}
	return nil
}

// sizeOfMarked is the size of a hit's highlighted texts, in bytes.
func sizeOfMarked(hit *answer.Hit) int {
	size := len(hit.TitleHighlight) + len(hit.QuestionHighlight)
	for _, fragment := range hit.Highlights {
		size += len(fragment)
	}
	return size
}

// text is the highlighted part of a hit: its content, or the answer of a
// question-answer pair; empty if no highlights are wanted.
func (m *marker) text(hit *answer.Hit) string {
	switch {
	case !m.wanted:
		return ""
	case hit.QA != nil:
		return hit.Answer
	}
	return hit.Content
}

// markHit reports whether the text of the hit has words of the query.
func (m *marker) markHit(source int, hit *answer.Hit) (matched bool) {
	hit.Highlights = []string{}
	if !m.wanted {
		return false
	}
	words := m.matchers[source]
	hit.TitleHighlight = words.Whole(hit.Title, m.options)
	if hit.QA != nil {
		hit.QuestionHighlight = words.Whole(hit.Question, m.options)
	}
	if text := m.text(hit); text != "" {
		hit.Highlights, matched = words.Fragments(text, m.options)
	}
	return matched
}

// highlightOptions gives the requested options, and whether any fragment is wanted.
// Options not given are left to the highlighter's defaults.
func highlightOptions(asked *plan.Highlight) (options highlight.Options, wanted bool) {
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
