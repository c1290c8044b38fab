package highlight

import (
	"iter"
	"sync"
	"unicode/utf8"

	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/textquery"
)

// Matcher knows what of a text matches a query: its terms and synonyms, those
// of several words only where the words stand together. It never changes and
// is safe for concurrent use.
type Matcher struct {
	words map[string]meaning
	exact *analysis.Wanted
	alike func() *likeness // made when it is first needed
}

// meaning is what a word of a query, or of its synonyms, stands for.
type meaning struct {
	terms   []int      // of the query that it satisfies
	phrases []sequence // that begin with it
}

// sequence is a synonym of several words.
type sequence struct {
	words []string
	term  int
}

// NewMatcher makes the matcher of a text query.
func NewMatcher(q textquery.Query) *Matcher {
	m := &Matcher{words: make(map[string]meaning, len(q.Terms))}
	parts := make([]string, 0, len(q.Terms))
	add := func(term int, words ...string) {
		for _, w := range words {
			if _, known := m.words[w]; !known {
				m.words[w] = meaning{}
				parts = append(parts, w)
			}
		}
		m.add(term, words)
	}
	for i, t := range q.Terms {
		add(i, t.Text)
		for _, s := range t.Synonyms {
			add(i, s.Terms...)
		}
	}
	m.exact = analysis.NewWanted(parts, func(term string) bool {
		_, needed := m.words[term]
		return needed
	})
	m.alike = sync.OnceValue(func() *likeness { return newLikeness(parts) })
	return m
}

func (m *Matcher) add(term int, words []string) {
	if len(words) == 0 {
		return
	}
	of := m.words[words[0]]
	if len(words) == 1 {
		of.terms = append(of.terms, term)
	} else {
		of.phrases = append(of.phrases, sequence{words: words, term: term})
	}
	m.words[words[0]] = of
}

// find adds the hits in the order of the tokens. Words longer than a fragment
// cannot be shown and are left out.
func (m *Matcher) find(tokens []analysis.Token, size int, hits []hit) []hit {
	add := func(t *analysis.Token, term int) {
		if runes := t.RuneEnd - t.RuneStart; runes <= size {
			hits = append(hits, hit{start: t.Start, end: t.End, runes: runes, term: term})
		}
	}
	for i := range tokens {
		of := m.words[tokens[i].Text]
		for _, term := range of.terms {
			add(&tokens[i], term)
		}
		for _, s := range of.phrases {
			if !s.at(tokens[i:]) {
				continue
			}
			for j := range s.words {
				add(&tokens[i+j], s.term)
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

// likeness knows the words that share a trace with a query: their first letters,
// or an ideograph.
type likeness struct {
	traces map[string]int // a trace of a word → its number
	wanted *analysis.Wanted
}

func newLikeness(words []string) *likeness {
	l := &likeness{traces: make(map[string]int, len(words))}
	parts := make([]string, 0, len(words))
	for _, w := range words {
		for trace := range traces(w) {
			if _, known := l.traces[trace]; !known {
				l.traces[trace] = len(l.traces)
				parts = append(parts, trace)
			}
		}
	}
	l.wanted = analysis.NewWanted(parts, func(term string) bool {
		for trace := range traces(term) {
			if _, known := l.traces[trace]; known {
				return true
			}
		}
		return false
	})
	return l
}

// find adds the tokens that share a trace with the query.
func (l *likeness) find(tokens []analysis.Token, size int, hits []hit) []hit {
	for i := range tokens {
		t := &tokens[i]
		runes := t.RuneEnd - t.RuneStart
		if t.Stop || runes > size {
			continue
		}
		for trace := range traces(t.Text) {
			if number, ok := l.traces[trace]; ok {
				hits = append(hits, hit{start: t.Start, end: t.End, runes: runes, term: number})
			}
		}
	}
	return inOrder(hits)
}

// prefix is how many letters two related words of an alphabet share.
const prefix = 4

// traces of a term: its first letters, or each of its ideographs.
func traces(term string) iter.Seq[string] {
	return func(yield func(string) bool) {
		first, _ := utf8.DecodeRuneInString(term)
		if first < 0x2e80 {
			if len(term) >= prefix {
				yield(head(term, prefix))
			}
			return
		}
		for term != "" {
			_, size := utf8.DecodeRuneInString(term)
			if !yield(term[:size]) {
				return
			}
			term = term[size:]
		}
	}
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
