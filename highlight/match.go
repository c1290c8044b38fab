package highlight

import (
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/textquery"
)

// Matcher knows what of a text matches a query: its terms and synonyms, those
// of several words only where the words stand together. It never changes and
// is safe for concurrent use.
type Matcher struct {
	words   map[string][]int // term → the query's terms it satisfies
	phrases map[string][]sequence
	alike   map[string]int // a trace of a term → its number
	exact   *analysis.Wanted
	similar *analysis.Wanted
}

// sequence is a synonym of several words.
type sequence struct {
	words []string
	term  int
}

// NewMatcher makes the matcher of a text query.
func NewMatcher(q textquery.Query) *Matcher {
	m := &Matcher{words: map[string][]int{}, phrases: map[string][]sequence{}, alike: map[string]int{}}
	for i, t := range q.Terms {
		m.add(i, t.Text)
		for _, s := range t.Synonyms {
			m.add(i, s.Terms...)
		}
	}
	m.want()
	return m
}

// want says which tokens find and findAlike need.
func (m *Matcher) want() {
	needed := make(map[string]bool, len(m.words))
	for w := range m.words {
		needed[w] = true
	}
	for _, all := range m.phrases {
		for _, s := range all {
			for _, w := range s.words {
				needed[w] = true
			}
		}
	}
	m.exact = analysis.NewWanted(slices.Collect(maps.Keys(needed)), func(term string) bool { return needed[term] })
	m.similar = analysis.NewWanted(slices.Collect(maps.Keys(m.alike)), m.isAlike)
}

// isAlike reports whether a term shares a trace with the query.
func (m *Matcher) isAlike(term string) bool {
	return slices.ContainsFunc(traces(term), func(trace string) bool {
		_, known := m.alike[trace]
		return known
	})
}

func (m *Matcher) add(term int, words ...string) {
	switch len(words) {
	case 0:
		return
	case 1:
		m.words[words[0]] = append(m.words[words[0]], term)
	default:
		m.phrases[words[0]] = append(m.phrases[words[0]], sequence{words: words, term: term})
	}
	for _, w := range words {
		for _, trace := range traces(w) {
			if _, known := m.alike[trace]; !known {
				m.alike[trace] = len(m.alike)
			}
		}
	}
}

// find gives the hits in the order of the tokens. Words longer than a fragment
// cannot be shown and are left out.
func (m *Matcher) find(tokens []analysis.Token, size int) []hit {
	var hits []hit
	add := func(t analysis.Token, term int) {
		if runes := t.RuneEnd - t.RuneStart; runes <= size {
			hits = append(hits, hit{start: t.Start, end: t.End, runes: runes, term: term})
		}
	}
	for i, t := range tokens {
		for _, term := range m.words[t.Text] {
			add(t, term)
		}
		for _, s := range m.phrases[t.Text] {
			if !s.at(tokens[i:]) {
				continue
			}
			for _, t := range tokens[i : i+len(s.words)] {
				add(t, s.term)
			}
		}
	}
	return inOrder(hits)
}

func (s sequence) at(tokens []analysis.Token) bool {
	if len(tokens) < len(s.words) {
		return false
	}
	for i, w := range s.words {
		if tokens[i].Text != w || tokens[i].Position != tokens[0].Position+i {
			return false
		}
	}
	return true
}

// findAlike gives the tokens that share a trace with the query.
func (m *Matcher) findAlike(tokens []analysis.Token, size int) []hit {
	var hits []hit
	for _, t := range tokens {
		runes := t.RuneEnd - t.RuneStart
		if t.Stop || runes > size {
			continue
		}
		for _, trace := range traces(t.Text) {
			if number, ok := m.alike[trace]; ok {
				hits = append(hits, hit{start: t.Start, end: t.End, runes: runes, term: number})
			}
		}
	}
	return inOrder(hits)
}

// prefix is how many letters two related words of an alphabet share.
const prefix = 4

// traces of a term: its first letters, or each of its ideographs.
func traces(term string) []string {
	first, size := utf8.DecodeRuneInString(term)
	if first < 0x2e80 {
		if len(term) < prefix || !utf8.FullRuneInString(term) {
			return nil
		}
		return []string{head(term, prefix)}
	}
	all := []string{term[:size]}
	for i, r := range term[size:] {
		all = append(all, term[size+i:size+i+utf8.RuneLen(r)])
	}
	return all
}

// head is the first n runes of a text.
func head(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
