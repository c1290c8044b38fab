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
	words    []string  // of the query and its synonyms
	meanings []meaning // of each
	exact    *analysis.Wanted

	once  sync.Once
	alike *likeness // made when it is first needed
}

// meaning is what a word of a query, or of its synonyms, stands for.
type meaning struct {
	term   int      // of the query that it satisfies
	phrase sequence // that it begins, and has to be followed by; empty for one word
	later  bool     // it only follows in a phrase
}

// sequence is a synonym of several words.
type sequence []string

// NewMatcher makes the matcher of a text query.
func NewMatcher(q textquery.Query) *Matcher {
	m := &Matcher{words: make([]string, 0, len(q.Terms)), meanings: make([]meaning, 0, len(q.Terms))}
	for i := range q.Terms {
		t := &q.Terms[i]
		m.add(t.Text, meaning{term: i})
		for _, s := range t.Synonyms {
			m.addSynonym(i, s.Terms)
		}
	}
	m.exact = analysis.NewWanted(m.words, nil)
	return m
}

func (m *Matcher) add(word string, of meaning) {
	m.words, m.meanings = append(m.words, word), append(m.meanings, of)
}

func (m *Matcher) addSynonym(term int, words []string) {
	if len(words) == 1 {
		m.add(words[0], meaning{term: term})
		return
	}
	for i, w := range words {
		m.add(w, meaning{term: term, phrase: words, later: i > 0})
	}
}

// find adds the hits in the order of the tokens. Words longer than a fragment
// cannot be shown and are left out.
func (m *Matcher) find(tokens []analysis.Token, size int, hits []hit) []hit {
	for i := range tokens {
		parts := m.exact.Parts(tokens[i].Text)
		for p := range parts {
			hits = m.meanings[parts[p].Number].add(hits, tokens[i:], size)
		}
	}
	return inOrder(hits)
}

// add adds what the first of the tokens, and those behind it, are hits of.
func (of *meaning) add(hits []hit, tokens []analysis.Token, size int) []hit {
	switch {
	case of.later:
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

// like is the likeness of the words.
func (m *Matcher) like() *likeness {
	m.once.Do(func() { m.alike = newLikeness(m.words) })
	return m.alike
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
