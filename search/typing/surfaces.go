package typing

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/search/ask"
	"github.com/hybridge-search/hybridge/search/engines"
)

// surfaces are the forms in texts of the words of an index, which are folded and
// stemmed there: forms that can be shown to a person.
type surfaces struct {
	analyzer ask.Analyzer
	forms    map[string]map[string]int // by word: how often each form was seen
	selector analysis.Selector
}

// newSurfaces looks for some words.
func newSurfaces(a ask.Analyzer, words []engine.Word) *surfaces {
	s := &surfaces{analyzer: a, forms: make(map[string]map[string]int, len(words))}
	parts := make([]string, len(words))
	for i := range words {
		parts[i] = words[i].Text
		s.forms[parts[i]] = map[string]int{}
	}
	if len(parts) > 0 {
		s.selector = a.Selector(parts, func(string) bool { return true })
	}
	return s
}

// surfaceBytes is how much of a chunk is read for the forms of its words.
const surfaceBytes = 64 << 10

// read counts the forms in a chunk.
func (s *surfaces) read(c *engine.Chunk, field string) {
	if s.selector == nil {
		return
	}
	text := c.FieldText(field)
	if len(text) > surfaceBytes {
		end := surfaceBytes
		for !utf8.RuneStart(text[end]) {
			end--
		}
		text = text[:end]
	}
	for _, t := range s.selector(nil, text) {
		form := text[t.Start:t.End]
		if forms := s.forms[t.Text]; forms != nil {
			forms[form]++
		} else if forms := s.forms[s.analyzer.Fold(form)]; forms != nil { // of an index without stems
			forms[form]++
		}
	}
}

// best is the most frequent form of a word that keep accepts; of equal ones, lower case before
// others, then the shortest. It is empty where there is none.
func (s *surfaces) best(word string, keep func(form string) bool) string {
	seen := s.forms[word]
	var kept []string
	for form := range seen {
		if keep(form) {
			kept = append(kept, form)
		}
	}
	slices.SortFunc(kept, func(a, b string) int {
		return cmp.Or(cmp.Compare(seen[b], seen[a]), compareCase(a, b), cmp.Compare(len(a), len(b)), strings.Compare(a, b))
	})
	if len(kept) == 0 {
		return ""
	}
	return kept[0]
}

// compareCase puts words without capitals first.
func compareCase(a, b string) int {
	capitals := func(s string) int { return min(strings.IndexFunc(s, unicode.IsUpper), 0) }
	return cmp.Compare(capitals(a), capitals(b))
}

// visible reads chunks that the question may show; those that changed meanwhile and may
// no longer be shown are skipped.
func visible(ctx context.Context, subject *engines.Subject, q *ask.Question, ids []string) ([]engine.Chunk, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	req := engine.ChunksRequest{KB: subject.KB, IDs: ids}
	chunks, err := engines.Ask(ctx, subject, engines.CallChunks, subject.Engine.Chunks, req)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(chunks, func(c engine.Chunk) bool { return !q.Passes(&c) }), nil
}
