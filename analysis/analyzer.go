// Package analysis turns text into tokens, and a question into the
// engine-neutral text query.
//
// Text is folded (NFKC, case, full width to half width, traditional Chinese to
// simplified), Chinese is segmented by gojieba in search mode (the parts of a
// long word, then the word; questions, and where only a few words of many texts are
// asked for, by the same rules in Go), English words are stemmed by Snowball,
// everything that is neither letter nor digit separates. Chunks and queries go the same
// way; stop words are indexed and left out of queries only, so that phrases
// are exact and a query of nothing but stop words still finds.
package analysis

import (
	"strings"
	"sync"
	"unicode/utf8"
)

// Options configure an Analyzer.
type Options struct {
	// DictionaryDir is where the embedded dictionaries are unpacked, once per
	// version. Empty: to a temporary folder while they are loaded.
	DictionaryDir string
	// UserDictionary is a file of additional words, `word [frequency] [tag]`
	// a line, # comments; empty for none. It is for words with ideographs:
	// those of ASCII alone are whole without it.
	UserDictionary string
}

// Analyzer makes tokens and queries. It is safe for concurrent use; all
// Analyzers of a process with the same dictionaries share one gojieba.
type Analyzer struct {
	folding   *folding
	segmenter *segmenter
	terms     *termCache
	scanners  sync.Pool
	close     sync.Once
}

// New loads the dictionaries (half a second, 150 MB, once per process). A bad
// user dictionary is an InvalidArgument that names the line.
func New(o Options) (*Analyzer, error) {
	f, err := loadFolding()
	if err != nil {
		return nil, err
	}
	stops, err := loadStops()
	if err != nil {
		return nil, err
	}
	s, err := acquire(o, f)
	if err != nil {
		return nil, err
	}
	a := &Analyzer{folding: f, segmenter: s, terms: newTermCache(stops)}
	a.scanners.New = func() any { return &scanner{Analyzer: a} }
	return a, nil
}

// Close gives the dictionaries up; the Analyzer must not be used afterwards.
func (a *Analyzer) Close() { a.close.Do(a.segmenter.release) }

// Fingerprint changes whenever the same text may give other tokens: an index
// made under another fingerprint must be built anew.
func (a *Analyzer) Fingerprint() string { return a.segmenter.fingerprint }

// Token is one emitted token. Start and End are byte offsets, RuneStart and
// RuneEnd rune offsets, into the original text (an invalid byte is one rune).
type Token struct {
	Text      string `json:"text"`
	Start     int    `json:"start"`
	End       int    `json:"end"`
	RuneStart int    `json:"rune_start"`
	RuneEnd   int    `json:"rune_end"`
	Position  int    `json:"position"`       // ordinal of the emitted tokens, from 0
	Part      bool   `json:"part,omitempty"` // a part of the longer word that follows
	Stop      bool   `json:"stop,omitempty"` // a stop word: indexed, not asked for
}

// Tokens gives every token of a text with its place, in time linear in the
// text's length. Any bytes are accepted.
func (a *Analyzer) Tokens(text string) []Token {
	s := a.scanners.Get().(*scanner)
	defer a.put(s)
	place := placement{locator: locator{spans: s.run(text, true)}, runes: runeCounter{text: text}}
	tokens := make([]Token, len(s.pieces))
	for i, p := range s.pieces {
		tokens[i] = place.token(i, p)
	}
	return tokens
}

// Terms gives the texts of Tokens, faster: what is indexed.
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

// placement says where the pieces of a stretch are in the whole text.
type placement struct {
	locator
	runes          runeCounter
	base, position int
}

func (p *placement) token(i int, of piece) Token {
	start, end := p.base+p.start(of.start), p.base+p.end(of.end)
	return Token{
		Text: of.term, Start: start, End: end, RuneStart: p.runes.at(start), RuneEnd: p.runes.at(end),
		Position: p.position + i, Part: of.part, Stop: of.stop,
	}
}

// Fold is the text as it is matched: normalised, case folded, simplified.
func (a *Analyzer) Fold(text string) string { return a.folding.String(text) }

// run scans a text; the pieces, and the spans if offsets are asked for, are valid
// until the next run.
func (s *scanner) run(text string, offsets bool) []span {
	s.folded = s.folding.fold(text, s.folded, offsets)
	s.pieces = s.pieces[:0]
	s.scan()
	return s.spans
}

// maxKept bounds the scratch space that an idle scanner holds, in elements.
const maxKept = 1 << 16

func (a *Analyzer) put(s *scanner) {
	clear(s.pieces)
	s.text, s.tokens, s.selecting, s.inGo = "", nil, false, false
	if cap(s.pieces) <= maxKept && cap(s.buf) <= 8*maxKept {
		a.scanners.Put(s)
	}
}

// runeCounter turns byte offsets into rune offsets, asked in nearly rising
// order.
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

// Join is the text of a *_ltks field: terms separated by spaces.
func Join(terms []string) string { return strings.Join(terms, " ") }
