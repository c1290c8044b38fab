package tokens

import (
	"unicode/utf8"

	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/analysis/fold"
)

// Selector returns a function that appends the wanted ones of Tokens, many times faster
// than Tokens if they are few. Two positions differ by one exactly if the tokens are
// neighbours in Tokens; otherwise positions differ from those of Tokens.
//
// keep accepts the text of a wanted token. A nil keep accepts just the parts, which is
// faster. Each wanted token must contain one of the parts, and begin with it if it begins
// with ASCII, as text that cannot give such a token is skipped. keep must be safe for
// concurrent use; the function is.
func (a *Analyzer) Selector(parts []string, keep func(term string) bool) analysis.Selector {
	w := a.newWanted(parts, keep)
	return func(tokens []analysis.Token, text string) []analysis.Token { return a.selected(tokens, text, w) }
}

func (a *Analyzer) selected(tokens []analysis.Token, text string, w *wanted) []analysis.Token {
	s := a.scanners.Get().(*scanner)
	defer a.put(s)
	s.mode, s.tokens = selecting, tokens
	p := prescan{Table: a.folding, wanted: w, text: text}
	position := 0
	for p.at < len(text) {
		found := p.next()
		if found.skipped {
			position++
		}
		if found.start < found.end {
			position += s.pick(w, &placement{
				base: found.start, position: position,
				runes: runeCounter{text: text, byte: found.start, runes: found.runes},
			}, text[found.start:found.end])
		}
	}
	return s.tokens
}

// pick appends the wanted tokens of a stretch and returns how many tokens it has in all.
func (s *scanner) pick(w *wanted, place *placement, text string) int {
	if s.isPlainWord(text) {
		s.pickPlain(w, place)
		return 1
	}
	if pieces, ok := s.pickRuns(w, place, text); ok {
		return pieces
	}
	s.run(text, true)
	place.Locator = s.Locator()
	s.pickPieces(w, place)
	return len(s.pieces)
}

// pickPlain appends the ASCII word in buf, if its term is wanted.
func (s *scanner) pickPlain(w *wanted, place *placement) {
	if e := s.terms.lookup(string(s.buf)); w.wants(e.term) {
		n := len(s.buf)
		s.tokens = append(s.tokens, analysis.Token{
			Text: e.term, Start: place.base, End: place.base + n,
			RuneStart: place.runes.runes, RuneEnd: place.runes.runes + n,
			Position: place.position, Stop: e.stop,
		})
	}
}

// maxPlainBytes is the longest short-lived string that the compiler keeps on the stack.
const maxPlainBytes = 32

// isPlainWord reports whether a stretch is one word of ASCII letters and digits, perhaps
// with a point after it, as most stretches of English are. It leaves the folded word in
// buf.
func (s *scanner) isPlainWord(text string) bool {
	if n := len(text); n > 1 && text[n-1] == '.' {
		text = text[:n-1]
	}
	if len(text) > maxPlainBytes {
		return false
	}
	s.buf = s.buf[:0]
	for i := range len(text) {
		if !s.folding.Alphanumeric(text[i]) {
			return false
		}
		s.buf = append(s.buf, s.folding.ASCII(text[i]))
	}
	return true
}

// pickPieces appends the wanted pieces. Only ASCII words are stemmed; any other term is in
// the text as it is.
func (s *scanner) pickPieces(w *wanted, place *placement) {
	for i, p := range s.pieces {
		surface := s.Text[p.start:p.end]
		if surface[0] >= utf8.RuneSelf && (!w.mayHoldPart(surface) || !w.wants(surface)) {
			continue
		}
		if e := s.terms.lookup(surface); w.wants(e.term) {
			p.term, p.stop = e.term, e.stop
			s.tokens = append(s.tokens, place.token(i, p))
		}
	}
}

// stretch is text between two separators: signs that no token extends across and no rune
// combines with. Its tokens do not depend on what is around it.
type stretch struct {
	start, end int
	runes      int  // in the text before it
	skipped    bool // there are tokens between the stretch before and this one
}

// prescan finds the stretches of a text that may have a wanted token, without folding or
// cutting the text. It takes whatever does not fold rune by rune for wanted.
type prescan struct {
	*fold.Table
	wanted *wanted
	text   string
	at     int // how far it has looked
	wide   int // how many bytes before at do not begin a rune

	// Of the current stretch:
	wordStart bool // ASCII here begins a word
	joined    bool // ASCII here may be joined to a letter before it
	hasTokens bool
	mayMatch  bool // a token may be wanted
}

// next returns the next stretch that may have a wanted token, or an empty one at the end.
func (p *prescan) next() stretch {
	p.hasTokens = false
	found := p.begin(stretch{})
	for p.at < len(p.text) {
		end := p.at
		if separates := p.step(); !separates {
			continue
		}
		if p.mayMatch {
			found.end = end
			return found
		}
		found = p.begin(found)
	}
	if p.mayMatch {
		found.end = len(p.text)
	}
	return found
}

// begin starts a stretch after one that is skipped, at the first place where ASCII may
// begin a wanted token.
func (p *prescan) begin(before stretch) stretch {
	skipped := before.skipped || p.hasTokens
	from := p.at
	p.at = p.skipASCII()
	for end := p.at; end > from && !skipped; end-- {
		skipped = p.Alphanumeric(p.text[end-1])
	}
	p.wordStart, p.joined, p.hasTokens, p.mayMatch = true, false, false, false
	return stretch{start: p.at, runes: p.at - p.wide, skipped: skipped}
}

// skipASCII returns the end of the stretches of ASCII from here on that have no wanted
// token. Most of an English text is skipped here, in a loop that hardly branches.
func (p *prescan) skipASCII() int {
	text, i := p.text, p.at
	if i+2 < len(text) && text[i]|text[i+1] < utf8.RuneSelf {
		i = p.skipTriples()
	}
	for i > p.at && (p.Alphanumeric(text[i-1]) || connector(rune(text[i-1]))) {
		i--
	}
	return i
}

// skipTriples returns the first place from here on, where two bytes of ASCII are, at which
// three bytes may begin a wanted word or are not all ASCII.
func (p *prescan) skipTriples() int {
	text, i, prefixes := p.text, p.at+2, p.wanted.prefixes
	pair := pairIndex(text[i-2], text[i-1])
	for ; i < len(text); i++ {
		third := text[i]
		if third >= utf8.RuneSelf || prefixes.mayFollow(pair, third) && (i-2 == p.at || !p.Alphanumeric(text[i-3])) {
			break
		}
		pair = pair<<5 | uint32(third&31)
	}
	return i - 2
}

// step looks at an ASCII word, a run of ideographs or one other rune, and reports whether
// that was a separator of stretches.
func (p *prescan) step() (separates bool) {
	b := p.text[p.at]
	switch {
	case p.Alphanumeric(b):
		p.letters()
	case b >= utf8.RuneSelf:
		return p.nonASCII()
	default:
		p.at++
		return p.sign(rune(b))
	}
	return false
}

// sign reports whether the sign just passed separates stretches.
func (p *prescan) sign(r rune) bool {
	if connector(r) || p.Joins(p.text, p.at) {
		p.wordStart = true
		return false
	}
	return true
}

// letters looks at the ASCII letters and digits from here on. Only the first can begin a
// word, unless they may be joined to what is before them.
func (p *prescan) letters() {
	text, i := p.text, p.at
	if !p.mayMatch && p.wordStart {
		p.mayMatch = p.wanted.mayBeginWord(p.ASCII(text[i]), text[i+1:])
	}
	for ; i < len(text) && p.Alphanumeric(text[i]); i++ {
		if p.joined && !p.mayMatch {
			p.mayMatch = p.wanted.mayBeginWord(p.ASCII(text[i]), text[i+1:])
		}
	}
	p.at, p.wordStart, p.hasTokens = i, false, true
}

// nonASCII looks at a rune beyond ASCII, or a run of ideographs.
func (p *prescan) nonASCII() (separates bool) {
	if fold.Ideograph(p.text, p.at) != 0 {
		p.ideographs()
		return false
	}
	at := p.at
	r, size := utf8.DecodeRuneInString(p.text[at:])
	p.at, p.wide = at+size, p.wide+size-1
	switch look := p.Look(r); {
	case look.Uneven():
		p.mayMatch = true
	case look.Separates():
		return p.sign(look.Rune())
	case look.Rune() < utf8.RuneSelf:
		p.mayMatch = p.mayMatch || (p.wordStart || p.joined) && p.wanted.mayBeginWord(byte(look.Rune()), p.text[p.at:])
		p.wordStart, p.hasTokens = false, true
	default:
		p.mayMatch = p.mayMatch || p.wanted.mayBeginPart(look.Rune(), p.text[at:])
		p.joined, p.hasTokens = true, p.hasTokens || p.Class(look.Rune()) != fold.Mark // a mark alone is no token
	}
	return false
}

// ideographs looks at the ideographs from here on. Most begin no part.
func (p *prescan) ideographs() {
	from := p.at
	for {
		r := fold.Ideograph(p.text, p.at)
		if r == 0 {
			break
		}
		if !p.mayMatch && p.wanted.Firsts.May(r) {
			to, _ := p.Simplified(r)
			p.mayMatch = p.wanted.mayBeginPart(to, p.text[p.at:])
		}
		p.at += fold.IdeographBytes
	}
	p.wide += (p.at - from) / fold.IdeographBytes * (fold.IdeographBytes - 1)
	p.joined, p.hasTokens = true, true
}

// connector reports whether a sign may be within a word.
func connector(r rune) bool { return r == '\'' || r == '.' || r == '+' || r == '#' }
