package highlight

import (
	"iter"
	"sync"
	"unicode/utf8"

	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/textquery"
)

// Tokenizer finds the wanted tokens of texts; tokens.Analyzer is one.
type Tokenizer interface {
	// Selector gives what selects the tokens that keep accepts, each of which contains
	// one of the parts; without keep, those that are one.
	Selector(parts []string, keep func(term string) bool) analysis.Selector
}

// Matcher knows what of a text matches a query: its terms and synonyms, those
// of several words only where the words stand together. It is safe for concurrent
// use.
type Matcher struct {
	words    []string             // of the query and its synonyms
	meanings map[string][]meaning // of each
	exact    analysis.Selector
	alike    func() *likeness // made when it is first needed
}

// meaning is what a word of a query, or of its synonyms, stands for.
type meaning struct {
	term   int      // of the query that it satisfies
	phrase sequence // that it begins, and has to be followed by; empty for one word
}

// sequence is a synonym of several words.
type sequence []string

// NewMatcher makes the matcher of a text query.
func NewMatcher(q textquery.Query, t Tokenizer) *Matcher {
	m := &Matcher{words: make([]string, 0, len(q.Terms)), meanings: make(map[string][]meaning, len(q.Terms))}
	for i := range q.Terms {
		term := &q.Terms[i]
		m.add(i, term.Text)
		for _, s := range term.Synonyms {
			m.add(i, s.Terms...)
		}
	}
	m.exact = t.Selector(m.words, nil)
	m.alike = sync.OnceValue(func() *likeness { return newLikeness(m.words, t) })
	return m
}

// add adds what satisfies a term: a word, or several that stand together.
func (m *Matcher) add(term int, words ...string) {
	if len(words) == 0 {
		return
	}
	of := meaning{term: term}
	if len(words) > 1 {
		of.phrase = words
	}
	m.words = append(m.words, words...)
	m.meanings[words[0]] = append(m.meanings[words[0]], of)
}

// find adds the hits in the order of the tokens. Words longer than a fragment
// cannot be shown and are left out.
func (m *Matcher) find(tokens []analysis.Token, size int, hits []hit) []hit {
	for i := range tokens {
		for _, of := range m.meanings[tokens[i].Text] {
			hits = of.add(hits, tokens[i:], size)
		}
	}
	return inOrder(hits)
}

// add adds what the first of the tokens, and those behind it, are hits of.
func (of *meaning) add(hits []hit, tokens []analysis.Token, size int) []hit {
	switch {
	case of.phrase == nil:
		hits = addShown(hits, &tokens[0], of.term, size)
	case of.phrase.at(tokens):
		for i := range of.phrase {
			hits = addShown(hits, &tokens[i], of.term, size)
		}
	}
	return hits
}

func addShown(hits []hit, t *analysis.Token, term, size int) []hit {
	if runes := t.RuneEnd - t.RuneStart; runes <= size {
		hits = append(hits, hit{start: t.Start, end: t.End, runes: runes, term: term})
	}
	return hits
}

func (s sequence) at(tokens []analysis.Token) bool {
	if len(tokens) < len(s) {
		return false
	}
	for i, w := range s {
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
	tokens analysis.Selector
}

func newLikeness(words []string, t Tokenizer) *likeness {
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
	l.tokens = t.Selector(parts, func(term string) bool {
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
