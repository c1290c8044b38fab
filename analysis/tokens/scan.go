package tokens

import (
	"unicode"
	"unicode/utf8"

	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/analysis/fold"
	"github.com/hybridge-search/hybridge/analysis/segment"
)

const (
	// maxTokenRunes bounds a token; longer ones are cut off. Elasticsearch's whitespace
	// tokenizer would split them after 255 UTF-16 units.
	maxTokenRunes = 120
	// maxBlockBytes bounds what is segmented at once, and so the memory that this takes.
	maxBlockBytes = 2048
	// maxJoinedBytes bounds ASCII words that the dictionary may join with ideographs.
	maxJoinedBytes = 32
)

// piece is a token in folded text.
type piece struct {
	start, end int
	term       string
	stop, part bool
}

// run is a stretch of ideographs, or one word, in folded text.
type run struct {
	start, end int
	han, ascii bool
}

// mode selects the way that a text is scanned.
type mode uint8

const (
	bySegmenter mode = iota
	byLexicon        // for a question
	selecting        // by the lexicon, without terms: few of the pieces are wanted
)

// scanner cuts folded text into pieces.
type scanner struct {
	*Analyzer
	fold.Folded
	mode    mode
	runs    []run
	pieces  []piece
	lattice segment.Lattice
	words   []segment.Word
	buf     []byte           // a folded word of ASCII
	tokens  []analysis.Token // the caller's
}

// run folds and scans a text. The pieces are valid until the next run.
func (s *scanner) run(text string, offsets bool) {
	s.Folded = s.folding.Fold(text, s.Folded, offsets)
	s.pieces = s.pieces[:0]
	s.scan()
}

func (s *scanner) scan() {
	for i := 0; i < len(s.Text); {
		switch c, size := s.class(i); c {
		case fold.Han:
			i = s.block(i)
		case fold.Word:
			end, _ := s.wordEnd(i)
			if next, _ := s.class(end); next == fold.Han {
				i = s.block(i)
				continue
			}
			s.word(run{start: i, end: end}, false)
			i = end
		case fold.Kana, fold.Hangul, fold.Pair:
			i = s.pairs(i, c)
		case fold.Mark, fold.Other:
			i += size
		}
	}
}

// class returns the class and the length of the rune at i: other, 0 at the end.
func (s *scanner) class(i int) (fold.Class, int) {
	if i >= len(s.Text) {
		return fold.Other, 0
	}
	if b := s.Text[i]; b < utf8.RuneSelf {
		return s.folding.Class(rune(b)), 1
	}
	if fold.Ideograph(s.Text, i) != 0 {
		return fold.Han, fold.IdeographBytes
	}
	r, size := utf8.DecodeRuneInString(s.Text[i:])
	return s.folding.Class(r), size
}

// block cuts a stretch of ideographs and words with nothing between them. ASCII words are
// segmented together with the ideographs next to them, because the dictionary has words
// such as T恤.
func (s *scanner) block(start int) int {
	i, from := start, 0
	s.runs = s.runs[:0]
	for i-start < maxBlockBytes {
		r, ok := s.nextRun(i)
		if !ok {
			break
		}
		if !r.han && !r.ascii {
			s.mixed(s.runs[from:])
			s.word(r, false)
			from = len(s.runs) + 1
		}
		s.runs = append(s.runs, r)
		i = r.end
	}
	if from < len(s.runs) {
		s.mixed(s.runs[from:])
	}
	return i
}

func (s *scanner) nextRun(i int) (run, bool) {
	switch c, _ := s.class(i); c {
	case fold.Han:
		return run{start: i, end: s.hanEnd(i), han: true}, true
	case fold.Word:
		end, ascii := s.wordEnd(i)
		return run{start: i, end: end, ascii: ascii && end-i <= maxJoinedBytes}, true
	case fold.Kana, fold.Hangul, fold.Pair, fold.Mark, fold.Other:
	}
	return run{}, false
}

func (s *scanner) hanEnd(start int) int {
	i := start
	for i-start < maxBlockBytes {
		if fold.Ideograph(s.Text, i) != 0 {
			i += fold.IdeographBytes
			continue
		}
		c, size := s.class(i)
		if c != fold.Han {
			break
		}
		i += size
	}
	return i
}

// wordEnd finds the end of a word. A word is letters, digits and marks, with apostrophes
// between letters (user's) and points between digits (3.14), or C++ and C#.
func (s *scanner) wordEnd(start int) (end int, ascii bool) {
	i := s.asciiEnd(start)
	ascii = true
	for i < len(s.Text) {
		c, size := s.class(i)
		if c != fold.Word && c != fold.Mark && !s.connects(i) {
			break
		}
		ascii = ascii && size == 1
		i += size
	}
	if i-start == 1 && ascii {
		i = s.sharpEnd(i)
	}
	return i, ascii
}

// asciiEnd returns the end of the ASCII letters and digits from start on.
func (s *scanner) asciiEnd(start int) int {
	i := start
	for i < len(s.Text) && s.folding.Alphanumeric(s.Text[i]) {
		i++
	}
	return i
}

// connects reports whether the byte at i joins two halves of a word.
func (s *scanner) connects(i int) bool {
	if i == 0 || i+1 >= len(s.Text) {
		return false
	}
	before, after := s.Text[i-1], s.Text[i+1]
	switch s.Text[i] {
	case '\'':
		return isLetter(before) && isLetter(after)
	case '.':
		return isDigit(before) && isDigit(after)
	}
	return false
}

// sharpEnd adds the ++ of C++ or the # of C# to the letter before i.
func (s *scanner) sharpEnd(i int) int {
	if !isLetter(s.Text[i-1]) {
		return i
	}
	end := i
	switch rest := s.Text[i:]; {
	case len(rest) >= 2 && rest[:2] == "++":
		end = i + 2
	case rest != "" && rest[0] == '#':
		end = i + 1
	}
	if c, _ := s.class(end); c == fold.Word {
		return i
	}
	return end
}

func isLetter(b byte) bool { return 'a' <= b && b <= 'z' }
func isDigit(b byte) bool  { return '0' <= b && b <= '9' }

// mixed cuts adjacent runs of ideographs and ASCII words.
func (s *scanner) mixed(runs []run) {
	hasHan := false
	for _, r := range runs {
		hasHan = hasHan || r.han
	}
	if !hasHan {
		for _, r := range runs {
			s.word(r, false)
		}
		return
	}
	base := runs[0].start
	words := s.cut(s.Text[base:runs[len(runs)-1].end])
	if len(runs) > 1 && s.cutsWord(words, runs, base) {
		for i := range runs {
			s.mixed(runs[i : i+1])
		}
		return
	}
	s.addWords(words, runs, base)
}

// cut segments a text; the words are valid until the next cut.
func (s *scanner) cut(text string) []segment.Word {
	if s.mode != bySegmenter {
		if lexicon := s.segmenter.Lexicon(); lexicon != nil {
			return lexicon.Cut(text, &s.lattice)
		}
	}
	s.words = s.segmenter.Segment(text, s.words[:0])
	return s.words
}

// addWords adds the words of a cut, but ASCII words whole, as the runs have them.
func (s *scanner) addWords(words []segment.Word, runs []run, base int) {
	next := 0
	for _, w := range words {
		start, end := base+w.Start, base+w.End
		for runs[next].end <= start {
			next++
		}
		switch r := runs[next]; {
		case r.han, end > r.end:
			s.add(start, end, w.Part)
		case start == r.start:
			s.word(r, w.Part)
		}
		// Parts come before their word, and may start after it does.
		for next > 0 && runs[next].start > start {
			next--
		}
	}
}

// cutsWord reports whether ideographs were joined with a piece of an ASCII word (web超时
// as we|b超|时).
func (s *scanner) cutsWord(words []segment.Word, runs []run, base int) bool {
	for _, w := range words {
		start, end := base+w.Start, base+w.End
		if fold.IsASCII(s.Text[start:end]) {
			continue
		}
		for _, r := range runs {
			if !r.han && (r.start < start && start < r.end || r.start < end && end < r.end) {
				return true
			}
		}
	}
	return false
}

// word adds a word, or as much of it as fits into a token.
func (s *scanner) word(r run, part bool) {
	end := r.start + min(r.end-r.start, maxTokenRunes) // right for ASCII
	if end < r.end {
		end = r.start + len(firstRunes(s.Text[r.start:r.end], maxTokenRunes))
	}
	s.add(r.start, end, part)
}

func firstRunes(text string, n int) string {
	for i := range text {
		if n == 0 {
			return text[:i]
		}
		n--
	}
	return text
}

// pairs cuts a stretch of one class into overlapping pairs of letters, as Lucene's CJK
// analyzer does; a letter alone is a token. A letter has the marks behind it.
func (s *scanner) pairs(start int, of fold.Class) int {
	var letters [3]int // the start of the letter before last, of the last, and its end
	count := 0
	i := start
	for {
		c, size := s.class(i)
		if c != of && (c != fold.Mark || count == 0) {
			break
		}
		if r, _ := utf8.DecodeRuneInString(s.Text[i:]); count > 0 && unicode.IsMark(r) {
			i += size
			letters[2] = i
			continue
		}
		if count >= 2 {
			s.pair(letters[0], letters[2])
		}
		letters[0], letters[1] = letters[1], i
		i += size
		letters[2] = i
		count++
	}
	if count == 1 {
		letters[0] = letters[1]
	}
	s.pair(letters[0], letters[2])
	return i
}

// pair adds two letters, or one; marks may make them longer than a token may be.
func (s *scanner) pair(start, end int) { s.word(run{start: start, end: end}, false) }

func (s *scanner) add(start, end int, part bool) {
	p := piece{start: start, end: end, part: part}
	if s.mode != selecting {
		e := s.terms.lookup(s.Text[start:end])
		p.term, p.stop = e.term, e.stop
	}
	s.pieces = append(s.pieces, p)
}
