package analysis

import "unicode/utf8"

const (
	// maxTokenRunes bounds a token: what is longer is cut. Elasticsearch's
	// whitespace tokenizer would split it behind 255 UTF-16 units.
	maxTokenRunes = 120
	// maxBlockBytes bounds what gojieba sees at once; its memory grows with it.
	maxBlockBytes = 2048
	// maxJoinedBytes bounds an ASCII word that the dictionary may join with
	// ideographs.
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

// scanner cuts folded text into pieces.
type scanner struct {
	*Analyzer
	folded
	runs      []run
	pieces    []piece
	lattice   lattice
	tokens    []Token // the caller's
	selecting bool    // few of the pieces are wanted: they are cut in Go and get no terms
	inGo      bool    // the lexicon cuts, not gojieba
}

func (s *scanner) scan() {
	for i := 0; i < len(s.text); {
		switch c, size := s.class(i); c {
		case han:
			i = s.block(i)
		case word:
			end, _ := s.wordEnd(i)
			if next, _ := s.class(end); next == han {
				i = s.block(i)
				continue
			}
			s.word(run{start: i, end: end})
			i = end
		case pair:
			i = s.pairs(i)
		case mark, other:
			i += size
		}
	}
}

// class looks at the rune at i; behind the end it is other.
func (s *scanner) class(i int) (class, int) {
	if i >= len(s.text) {
		return other, 0
	}
	if b := s.text[i]; b < utf8.RuneSelf {
		return s.folding.classes[b], 1
	}
	if ideograph(s.text, i) != 0 {
		return han, ideographBytes
	}
	r, size := utf8.DecodeRuneInString(s.text[i:])
	return s.folding.class(r), size
}

// block cuts a stretch of ideographs and words without anything between them.
// ASCII words go to gojieba together with the ideographs beside them, because
// its dictionary has words such as T恤.
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
			s.word(r)
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
	case han:
		return run{start: i, end: s.hanEnd(i), han: true}, true
	case word:
		end, ascii := s.wordEnd(i)
		return run{start: i, end: end, ascii: ascii && end-i <= maxJoinedBytes}, true
	case pair, mark, other:
	}
	return run{}, false
}

func (s *scanner) hanEnd(start int) int {
	i := start
	for i-start < maxBlockBytes {
		if ideograph(s.text, i) != 0 {
			i += ideographBytes
			continue
		}
		c, size := s.class(i)
		if c != han {
			break
		}
		i += size
	}
	return i
}

// wordEnd finds the end of a word: letters, digits and marks, an apostrophe
// between letters (user's), a point between digits (3.14), C++ and C#.
func (s *scanner) wordEnd(start int) (end int, ascii bool) {
	i := s.asciiEnd(start)
	ascii = true
	for i < len(s.text) {
		c, size := s.class(i)
		if c != word && c != mark && !s.connects(i) {
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

// asciiEnd is the end of the ASCII letters and digits from start on.
func (s *scanner) asciiEnd(start int) int {
	classes := &s.folding.classes
	i := start
	for i < len(s.text) && s.text[i] < utf8.RuneSelf && classes[s.text[i]] == word {
		i++
	}
	return i
}

// connects reports whether the byte at i holds two halves of a word together.
func (s *scanner) connects(i int) bool {
	if i == 0 || i+1 >= len(s.text) {
		return false
	}
	before, after := s.text[i-1], s.text[i+1]
	switch s.text[i] {
	case '\'':
		return isLetter(before) && isLetter(after)
	case '.':
		return isDigit(before) && isDigit(after)
	}
	return false
}

// sharpEnd takes the ++ of C++ and the # of C# to the letter before i.
func (s *scanner) sharpEnd(i int) int {
	if !isLetter(s.text[i-1]) {
		return i
	}
	end := i
	switch rest := s.text[i:]; {
	case len(rest) >= 2 && rest[:2] == "++":
		end = i + 2
	case rest != "" && rest[0] == '#':
		end = i + 1
	}
	if c, _ := s.class(end); c == word {
		return i
	}
	return end
}

func isLetter(b byte) bool { return 'a' <= b && b <= 'z' }
func isDigit(b byte) bool  { return '0' <= b && b <= '9' }

// mixed cuts neighbouring runs of ideographs and ASCII words.
func (s *scanner) mixed(runs []run) {
	hasHan := false
	for _, r := range runs {
		hasHan = hasHan || r.han
	}
	if !hasHan {
		for _, r := range runs {
			s.word(r)
		}
		return
	}
	base := runs[0].start
	words := s.cut(s.text[base:runs[len(runs)-1].end])
	if len(runs) > 1 && s.cutsWord(words, runs, base) {
		for i := range runs {
			s.mixed(runs[i : i+1])
		}
		return
	}
	s.words(words, runs, base)
}

// cut segments a text; the words are valid until the next cut.
func (s *scanner) cut(text string) []extent {
	if (s.selecting || s.inGo) && s.segmenter.lexicon != nil {
		return s.segmenter.lexicon.cut(text, &s.lattice)
	}
	s.lattice.words = s.segmenter.cut(text, s.lattice.words[:0])
	return s.lattice.words
}

// words takes over gojieba's words; ASCII words are taken whole from the runs.
func (s *scanner) words(words []extent, runs []run, base int) {
	first := len(s.pieces)
	next := 0
	for _, w := range words {
		start, end := base+w.start, base+w.end
		for runs[next].end <= start {
			next++
		}
		switch r := runs[next]; {
		case r.han, end > r.end:
			s.add(start, end, s.text[start:end])
		case start == r.start:
			s.word(r)
		}
		// Parts come before their word and may lie behind its beginning.
		for next > 0 && runs[next].start > start {
			next--
		}
	}
	markParts(s.pieces[first:])
}

// cutsWord reports whether gojieba joined ideographs with a part of a word
// (web超时 as we|b超|时).
func (s *scanner) cutsWord(words []extent, runs []run, base int) bool {
	for _, w := range words {
		start, end := base+w.start, base+w.end
		if isASCII(s.text[start:end]) {
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

// markParts finds the parts: what overlaps the word behind it.
func markParts(pieces []piece) {
	if len(pieces) == 0 {
		return
	}
	whole := pieces[len(pieces)-1]
	for i := len(pieces) - 2; i >= 0; i-- {
		if pieces[i].end > whole.start {
			pieces[i].part = true
			continue
		}
		whole = pieces[i]
	}
}

func (s *scanner) word(r run) {
	end := r.start + min(r.end-r.start, maxTokenRunes) // of ASCII
	if end < r.end {
		end = r.start + len(firstRunes(s.text[r.start:r.end], maxTokenRunes))
	}
	surface := s.text[r.start:end]
	s.add(r.start, end, surface)
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

// pairs cuts a stretch of a script that has neither spaces nor a dictionary
// here into overlapping pairs of letters, as Lucene's CJK analyzer does.
func (s *scanner) pairs(start int) int {
	var letters [3]int // begin of the letter before last, of the last, end
	count := 0
	i := start
	for {
		c, size := s.class(i)
		if c != pair {
			break
		}
		if r, _ := utf8.DecodeRuneInString(s.text[i:]); count > 0 && isMarkRune(r) {
			i += size
			letters[2] = i
			continue
		}
		if count >= 2 {
			s.add(letters[0], letters[2], s.text[letters[0]:letters[2]])
		}
		letters[0], letters[1] = letters[1], i
		i += size
		letters[2] = i
		count++
	}
	if count == 1 {
		letters[0] = letters[1]
	}
	s.add(letters[0], letters[2], s.text[letters[0]:letters[2]])
	return i
}

func (s *scanner) add(start, end int, surface string) {
	if s.selecting {
		s.pieces = append(s.pieces, piece{start: start, end: end})
		return
	}
	e := s.terms.lookup(surface)
	s.pieces = append(s.pieces, piece{start: start, end: end, term: e.term, stop: e.stop})
}
