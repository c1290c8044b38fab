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
	// Selector selects the tokens that keep accepts, each of which must contain one of
	// the parts. With a nil keep it selects the tokens that equal a part.
	Selector(parts []string, keep func(term string) bool) analysis.Selector
}

// Matcher finds what matches a query in a text: its terms and synonyms. A synonym of
// several words matches only where these stand together. Stop words match as part of a
// quoted phrase alone; those of a question that has no other words, where all of it
// stands together. It is safe for concurrent use.
type Matcher struct {
	words   []string               // of the query, its synonyms and phrases
	targets map[string][]target    // by their first word
	exact   analysis.Selector      // of the words
	similar func() *similarMatcher // made when it is first needed
}

// target is a word or a phrase that matches a term of the query.
type target struct {
	term   int      // its index
	phrase sequence // nil for a single word
}

// sequence is a synonym of several words.
type sequence []string

// NewMatcher makes the matcher of a question and the text query made of it.
func NewMatcher(asked *analysis.Query, q textquery.Query, t Tokenizer) *Matcher {
	m := &Matcher{words: make([]string, 0, len(q.Terms)), targets: make(map[string][]target, len(q.Terms))}
	onlyStops := len(asked.Terms) > 0 && asked.Terms[0].Stop // all of them are then
	for i := range q.Terms {
		term := &q.Terms[i]
		if !onlyStops && !commonWords[term.Text] {
			m.add(i, term.Text)
		}
		for _, s := range term.Synonyms {
			m.add(i, s.Terms...)
		}
	}
	alike := len(m.words)
	for i := range asked.Required {
		m.add(len(q.Terms)+i, asked.Required[i].Terms...)
	}
	if len(m.words) == 0 {
		m.add(len(q.Terms), asked.Sequence()...)
	}
	m.exact = t.Selector(m.words, nil)
	m.similar = sync.OnceValue(func() *similarMatcher { return newSimilarMatcher(m.words[:alike], t) })
	return m
}

// add adds a word, or several that must stand together, as a match of a term.
func (m *Matcher) add(term int, words ...string) {
	if len(words) == 0 {
		return
	}
	to := target{term: term}
	if len(words) > 1 {
		to.phrase = words
	}
	m.words = append(m.words, words...)
	m.targets[words[0]] = append(m.targets[words[0]], to)
}

// find appends the hits among the tokens. Words longer than a fragment cannot be shown and
// are skipped.
func (m *Matcher) find(tokens []analysis.Token, size int, hits []hit) []hit {
	for i := range tokens {
		for _, to := range m.targets[tokens[i].Text] {
			hits = to.appendHits(hits, tokens[i:], size)
		}
	}
	return sortHits(hits)
}

// appendHits appends the tokens from the first on that are the target, if they are.
func (t *target) appendHits(hits []hit, tokens []analysis.Token, size int) []hit {
	switch {
	case t.phrase == nil:
		hits = appendHit(hits, &tokens[0], t.term, size)
	case t.phrase.begins(tokens):
		for i := range t.phrase {
			hits = appendHit(hits, &tokens[i], t.term, size)
		}
	}
	return hits
}

func appendHit(hits []hit, t *analysis.Token, term, size int) []hit {
	if runes := t.RuneEnd - t.RuneStart; runes <= size {
		hits = append(hits, hit{start: t.Start, end: t.End, runes: runes, term: term})
	}
	return hits
}

// begins reports whether tokens begin with the sequence.
func (s sequence) begins(tokens []analysis.Token) bool {
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

// similarMatcher finds words that share a feature with a word of the query: the first
// letters, or an ideograph.
type similarMatcher struct {
	features map[string]int // feature → its number
	tokens   analysis.Selector
}

func newSimilarMatcher(words []string, t Tokenizer) *similarMatcher {
	m := &similarMatcher{features: make(map[string]int, len(words))}
	parts := make([]string, 0, len(words))
	for _, w := range words {
		for feature := range features(w) {
			if _, known := m.features[feature]; !known {
				m.features[feature] = len(m.features)
				parts = append(parts, feature)
			}
		}
	}
	m.tokens = t.Selector(parts, func(term string) bool {
		for feature := range features(term) {
			if _, known := m.features[feature]; known {
				return true
			}
		}
		return false
	})
	return m
}

// find appends the tokens that share a feature with the query.
func (m *similarMatcher) find(tokens []analysis.Token, size int, hits []hit) []hit {
	for i := range tokens {
		t := &tokens[i]
		runes := t.RuneEnd - t.RuneStart
		if t.Stop || runes > size {
			continue
		}
		for feature := range features(t.Text) {
			if number, ok := m.features[feature]; ok {
				hits = append(hits, hit{start: t.Start, end: t.End, runes: runes, term: number})
			}
		}
	}
	return sortHits(hits)
}

// prefix is the number of letters that similar words of an alphabet share.
const prefix = 4

// features of a term are its first letters, or each of its ideographs.
func features(term string) iter.Seq[string] {
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

// head returns the first n runes of a text.
func head(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
