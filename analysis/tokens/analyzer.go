// Package tokens turns text into tokens.
//
// Package fold folds the text, a dictionary segments Chinese in search mode (the parts of
// a long word, then the word), kana and hangul become overlapping pairs of letters,
// Snowball stems English words, and whatever is neither letter nor digit separates tokens.
// Chunks and queries are treated alike, except that queries ignore stop words. Stop words
// are indexed, so phrases are exact and a query of nothing but stop words still finds
// something.
package tokens

import (
	"sync"
	"unicode/utf8"

	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/analysis/fold"
	"github.com/hybridge-search/hybridge/analysis/segment"
)

// Analyzer makes tokens and queries. It is safe for concurrent use.
type Analyzer struct {
	segmenter segment.Segmenter
	folding   *fold.Table
	terms     *termCache
	scanners  sync.Pool
}

// New makes an Analyzer. The segmenter cuts Chinese that is indexed; its lexicon cuts
// questions, and texts of which only few tokens are wanted.
func New(s segment.Segmenter) *Analyzer {
	table := fold.Load()
	a := &Analyzer{segmenter: s, folding: table, terms: newTermCache(stopWords(table))}
	a.scanners.New = func() any { return &scanner{Analyzer: a} }
	return a
}

// Fingerprint changes whenever the same text may give other tokens. An index with
// another fingerprint must be rebuilt.
func (a *Analyzer) Fingerprint() string { return a.segmenter.Fingerprint() + rules }

// rules is raised when this package makes other tokens of the same words of the
// dictionary: 2 has pairs of hangul, and ー in those of kana.
const rules = "-2"

// Parse analyses a question with operators, as analysis.Parse does.
func (a *Analyzer) Parse(query string) analysis.Query { return analysis.Parse(query, a.questionTokens) }

// ParsePlain analyses a question without operators.
func (a *Analyzer) ParsePlain(query string) analysis.Query {
	return analysis.ParsePlain(query, a.questionTokens)
}

// questionTokens is Tokens by the lexicon, which is faster for a short text.
func (a *Analyzer) questionTokens(text string) []analysis.Token { return a.tokenize(text, byLexicon) }

// Tokens returns all tokens of a text with their places, in time linear in its length.
// It accepts any bytes.
func (a *Analyzer) Tokens(text string) []analysis.Token { return a.tokenize(text, bySegmenter) }

func (a *Analyzer) tokenize(text string, by mode) []analysis.Token {
	s := a.scanners.Get().(*scanner)
	defer a.put(s)
	s.mode = by
	s.run(text, true)
	place := placement{Locator: s.Locator(), runes: runeCounter{text: text}}
	tokens := make([]analysis.Token, len(s.pieces))
	for i, p := range s.pieces {
		tokens[i] = place.token(i, p)
	}
	return tokens
}

// Terms returns only the texts of Tokens, which is faster: what is indexed.
func (a *Analyzer) Terms(text string) []string {
	s := a.scanners.Get().(*scanner)
	defer a.put(s)
	s.run(text, false)
	terms := make([]string, len(s.pieces))
	for i, p := range s.pieces {
		terms[i] = p.term
	}
	return terms
}

// placement turns the places of pieces of a stretch into places of the whole text.
type placement struct {
	fold.Locator
	runes          runeCounter
	base, position int // the offset and the token number at which the stretch begins
}

func (p *placement) token(i int, of piece) analysis.Token {
	start, end := p.base+p.Start(of.start), p.base+p.End(of.end)
	return analysis.Token{
		Text: of.term, Start: start, End: end, RuneStart: p.runes.at(start), RuneEnd: p.runes.at(end),
		Position: p.position + i, Part: of.part, Stop: of.stop,
	}
}

// Fold is the text as it is matched: normalised, case folded, simplified.
func (a *Analyzer) Fold(text string) string { return a.folding.String(text) }

// maxKept bounds the scratch space of an idle scanner, in elements.
const maxKept = 1 << 16

func (a *Analyzer) put(s *scanner) {
	clear(s.pieces)
	s.Text, s.tokens, s.mode = "", nil, bySegmenter
	if cap(s.pieces) <= maxKept && s.Size() <= 8*maxKept {
		a.scanners.Put(s)
	}
}

// runeCounter turns byte offsets into rune offsets. It is fast while the offsets rise,
// or nearly do.
type runeCounter struct {
	text        string
	byte, runes int
}

func (c *runeCounter) at(offset int) int {
	if offset >= c.byte {
		c.runes += utf8.RuneCountInString(c.text[c.byte:offset])
	} else {
		c.runes -= utf8.RuneCountInString(c.text[offset:c.byte])
	}
	c.byte = offset
	return c.runes
}
