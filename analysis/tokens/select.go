package tokens

import (
	"unicode/utf8"

	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/analysis/fold"
)

// Selector gives a function that appends those of Tokens that are wanted, many times
// faster where they are few. Their positions differ by one exactly where they are
// neighbours in Tokens; otherwise they are not those of Tokens.
//
// keep accepts the text of a wanted token; nil accepts the parts and nothing else, which
// is faster. Each wanted token contains one of the parts, and one that begins with ASCII
// begins with a part: stretches of text that cannot are not looked at. Both must be safe
// for concurrent use.
func (a *Analyzer) Selector(parts []string, keep func(term string) bool) analysis.Selector {
	w := a.newWanted(parts, keep)
	return func(tokens []analysis.Token, text string) []analysis.Token { return a.selected(tokens, text, w) }
}

func (a *Analyzer) selected(tokens []analysis.Token, text string, w *wanted) []analysis.Token {
	s := a.scanners.Get().(*scanner)
	defer a.put(s)
	s.way, s.tokens = selecting, tokens
	g := gaze{Table: a.folding, wanted: w, text: text}
	position := 0
	for g.at < len(text) {
		found := g.next()
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

// pick keeps the wanted tokens of a stretch and returns how many it has in all.
func (s *scanner) pick(w *wanted, place *placement, text string) int {
	if s.isPlainWord(text) {
		s.keepPlain(w, place)
		return 1
	}
	if pieces, ok := s.pickRuns(w, place, text); ok {
		return pieces
	}
	s.run(text, true)
	place.Locator = s.Locator()
	s.choose(w, place)
	return len(s.pieces)
}

// keepPlain keeps the word in buf, one of ASCII, if its term is wanted.
func (s *scanner) keepPlain(w *wanted, place *placement) {
	if e := s.terms.lookup(string(s.buf)); w.wants(e.term) {
		n := len(s.buf)
		s.tokens = append(s.tokens, analysis.Token{
			Text: e.term, Start: place.base, End: place.base + n,
			RuneStart: place.runes.runes, RuneEnd: place.runes.runes + n,
			Position: place.position, Stop: e.stop,
		})
	}
}

// maxPlainBytes is what the compiler keeps of a short-lived string on the stack.
const maxPlainBytes = 32

// isPlainWord reports whether a stretch is one word of ASCII letters and digits, with a
// point behind it or without, and then leaves the word, folded, in buf: most
// stretches of English are.
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

// choose keeps the wanted of the pieces. Only ASCII words are stemmed, all other
// terms are in the text as they are.
func (s *scanner) choose(w *wanted, place *placement) {
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

// stretch is text between signs that no token lies across and no rune combines
// with: it gives the same tokens whatever is around it.
type stretch struct {
	start, end int
	runes      int  // of the text in front of it
	skipped    bool // there are tokens in front of it, behind the stretch before
}

// gaze is a first look at a text, stretch by stretch, without folding or cutting it.
// What does not fold rune by rune is taken for wanted.
type gaze struct {
	*fold.Table
	wanted *wanted
	text   string
	at     int // how far it has looked
	wide   int // how many bytes up to there begin no rune

	// Of the stretch that it looks at:
	begins  bool // ASCII here begins a word
	joined  bool // ASCII here may be joined to a letter before it
	words   bool // there are tokens
	hopeful bool // there may be a wanted one
}

// next looks for the next stretch that may give a wanted token: an empty one
// behind the last.
func (g *gaze) next() stretch {
	g.words = false
	found := g.begin(stretch{})
	for g.at < len(g.text) {
		end := g.at
		if separates := g.step(); !separates {
			continue
		}
		if g.hopeful {
			found.end = end
			return found
		}
		found = g.begin(found)
	}
	if g.hopeful {
		found.end = len(g.text)
	}
	return found
}

// begin lets a stretch begin behind one that is passed over, at the first place where
// ASCII may give a wanted token.
func (g *gaze) begin(before stretch) stretch {
	skipped := before.skipped || g.words
	from := g.at
	g.at = g.pass()
	for end := g.at; end > from && !skipped; end-- {
		skipped = g.Alphanumeric(g.text[end-1])
	}
	g.begins, g.joined, g.words, g.hopeful = true, false, false, false
	return stretch{start: g.at, runes: g.at - g.wide, skipped: skipped}
}

// pass is the place behind the stretches of ASCII from here on that cannot give a
// wanted token. Most English text ends here: the loop hardly branches.
func (g *gaze) pass() int {
	text, i := g.text, g.at
	if i+2 < len(text) && text[i]|text[i+1] < utf8.RuneSelf {
		i = g.passThrees()
	}
	for i > g.at && (g.Alphanumeric(text[i-1]) || connector(rune(text[i-1]))) {
		i--
	}
	return i
}

// passThrees is the first place from here on, where two bytes of ASCII are, at which
// three may begin a wanted word or are not all ASCII.
func (g *gaze) passThrees() int {
	text, i, begins := g.text, g.at+2, g.wanted.begins
	two := firstTwo(text[i-2], text[i-1])
	for ; i < len(text); i++ {
		third := text[i]
		if third >= utf8.RuneSelf || begins.mayGoOn(two, third) && (i-2 == g.at || !g.Alphanumeric(text[i-3])) {
			break
		}
		two = two<<5 | uint32(third&31)
	}
	return i - 2
}

// step looks at a word of ASCII, a run of ideographs or one other rune, and reports
// whether that was a sign between two stretches.
func (g *gaze) step() (separates bool) {
	b := g.text[g.at]
	switch {
	case g.Alphanumeric(b):
		g.letters()
	case b >= utf8.RuneSelf:
		return g.beyond()
	default:
		g.at++
		return g.sign(rune(b))
	}
	return false
}

// sign reports whether a sign in front of the place looked at separates stretches.
func (g *gaze) sign(r rune) bool {
	if connector(r) || g.Joins(g.text, g.at) {
		g.begins = true
		return false
	}
	return true
}

// letters looks at the ASCII letters and digits from here on. Where none joins
// them to what is before, only their first may begin a word.
func (g *gaze) letters() {
	text, i := g.text, g.at
	if !g.hopeful && g.begins {
		g.hopeful = g.wanted.beginsWord(g.ASCII(text[i]), text[i+1:])
	}
	for ; i < len(text) && g.Alphanumeric(text[i]); i++ {
		if g.joined && !g.hopeful {
			g.hopeful = g.wanted.beginsWord(g.ASCII(text[i]), text[i+1:])
		}
	}
	g.at, g.begins, g.words = i, false, true
}

// beyond looks at what is not ASCII.
func (g *gaze) beyond() (separates bool) {
	if fold.Ideograph(g.text, g.at) != 0 {
		g.ideographs()
		return false
	}
	at := g.at
	r, size := utf8.DecodeRuneInString(g.text[at:])
	g.at, g.wide = at+size, g.wide+size-1
	switch look := g.Look(r); {
	case look.Uneven():
		g.hopeful = true
	case look.Separates():
		return g.sign(look.Rune())
	case look.Rune() < utf8.RuneSelf:
		g.hopeful = g.hopeful || (g.begins || g.joined) && g.wanted.beginsWord(byte(look.Rune()), g.text[g.at:])
		g.begins, g.words = false, true
	default:
		g.hopeful = g.hopeful || g.wanted.beginsPart(look.Rune(), g.text[at:])
		g.joined, g.words = true, g.words || g.Class(look.Rune()) != fold.Mark // a mark alone is no token
	}
	return false
}

// ideographs looks at the ideographs from here on: most are no first of a part.
func (g *gaze) ideographs() {
	from := g.at
	for {
		r := fold.Ideograph(g.text, g.at)
		if r == 0 {
			break
		}
		if !g.hopeful && g.wanted.Firsts.May(r) {
			to, _ := g.Simplified(r)
			g.hopeful = g.wanted.beginsPart(to, g.text[g.at:])
		}
		g.at += fold.IdeographBytes
	}
	g.wide += (g.at - from) / fold.IdeographBytes * (fold.IdeographBytes - 1)
	g.joined, g.words = true, true
}

// connector reports a sign that may be within a word.
func connector(r rune) bool { return r == '\'' || r == '.' || r == '+' || r == '#' }
