package parse

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/sentences"
)

// Options say how large the chunks of files are, in letters. A Chinese, Japanese or
// Korean character counts as two: it says as much, and costs an embedding model as much.
type Options struct {
	Target  int // the largest size (800)
	Overlap int // whole sentences repeated from the chunk before, at most (100; negative: none)
}

// WithDefaults returns the options with the defaults in place of what is 0.
func (o Options) WithDefaults() Options {
	if o.Target <= 0 {
		o.Target = 800
	}
	if o.Overlap == 0 {
		o.Overlap = 100
	}
	o.Overlap = min(max(o.Overlap, 0), o.Target/2)
	return o
}

// section is the text under one heading.
type section struct {
	title  string // the headings that lead to it
	blocks []block
}

// block is a paragraph, list item, table or piece of code.
type block struct {
	text string
	// The first and the last line in the file, from 1; 0: not known.
	first, last int
	page        int  // from 1; 0: there are none
	box         box  // on the page; empty: not known
	byLines     bool // to be split at line ends: code and tables
	tight       bool // there is no blank line before it
}

// piece is text that is not split further.
type piece struct {
	glue, text  string // glue separates it from the piece before
	first, last int
	page        int
	box         box
	size        int
}

// split fills passages up to the target size. They end where blocks end. A larger block is
// split into sentences, and a larger sentence into words.
func (o Options) split(sections []section) ([]Passage, error) {
	var passages []Passage
	for _, s := range sections {
		var current []piece
		size := 0
		for _, p := range o.pieces(s.blocks) {
			if size+p.size > o.Target && size > 0 {
				passages = append(passages, join(s.title, current))
				current, size = o.overlap(current, p.size)
			}
			current = append(current, p)
			size += p.size
		}
		if len(current) > 0 {
			passages = append(passages, join(s.title, current))
		}
		if len(passages) > maxPassages {
			return nil, refused("more than %d passages, one for each heading with text at least; split the file", maxPassages)
		}
	}
	return passages, nil
}

// overlap returns the pieces at the end of a passage that the next one repeats.
func (o Options) overlap(before []piece, next int) (again []piece, size int) {
	from := len(before)
	for from > 1 && size+before[from-1].size <= min(o.Overlap, o.Target-next) {
		from--
		size += before[from].size
	}
	return append([]piece(nil), before[from:]...), size
}

func join(title string, pieces []piece) Passage {
	var content strings.Builder
	var boxes [][]float64
	for i, p := range pieces {
		if i > 0 {
			content.WriteString(p.glue)
		}
		content.WriteString(p.text)
		boxes = p.around(boxes)
	}
	return Passage{
		Title: title, Content: strings.TrimSpace(content.String()),
		First: pieces[0].first, Last: pieces[len(pieces)-1].last,
		FirstPage: pieces[0].page, LastPage: pieces[len(pieces)-1].page, Boxes: boxes,
	}
}

// around adds the piece to the boxes of a passage, of which each page has one.
func (p *piece) around(boxes [][]float64) [][]float64 {
	if p.box == (box{}) {
		return boxes
	}
	on := p.box
	if last := len(boxes) - 1; last >= 0 && boxes[last][0] == float64(p.page) {
		b := boxes[last]
		on, boxes = on.with(box{b[1], b[2], b[3], b[4]}), boxes[:last]
	}
	return append(boxes, []float64{float64(p.page), on.left, on.right, on.top, on.bottom})
}

func (o Options) pieces(blocks []block) []piece {
	var pieces []piece
	for _, b := range blocks {
		if blank(b.text) {
			continue
		}
		glue := "\n\n"
		if b.tight {
			glue = "\n"
		}
		pieces = append(pieces, o.cut(b, glue)...)
	}
	return pieces
}

// cut returns a block as it is, or in parts without glue between them.
func (o Options) cut(b block, glue string) []piece {
	if size := letters(b.text); size <= o.Target {
		return []piece{{glue: glue, text: b.text, first: b.first, last: b.last, page: b.page, box: b.box, size: size}}
	}
	var pieces []piece
	line := b.first
	for _, part := range b.parts() {
		for _, text := range o.atWords(part) {
			p := piece{glue: glue, text: text, first: line, last: line, page: b.page, box: b.box, size: letters(text)}
			if b.first > 0 {
				line = min(line+strings.Count(text, "\n"), b.last)
				p.last = min(p.first+strings.Count(strings.TrimRight(text, "\n"), "\n"), b.last)
			}
			pieces, glue = append(pieces, p), ""
		}
	}
	return pieces
}

// parts returns the lines or the sentences of a block, which together are its text.
func (b *block) parts() []string {
	if b.byLines {
		return strings.SplitAfter(b.text, "\n")
	}
	var parts []string
	boundaries := sentences.FromString(forSentences(b.text))
	for boundaries.Next() {
		parts = append(parts, b.text[boundaries.Start():boundaries.End()])
	}
	return parts
}

// maxUnlettered is how many bytes without a letter stay as they are for the rules of
// sentences, which look for the next letter from each of them.
const maxUnlettered = 200

// forSentences returns a text with the same offsets for finding sentences. A line end within
// a paragraph ends none, and a long stretch without letters gets some.
func forSentences(s string) string {
	same := []byte(strings.ReplaceAll(s, "\n", " "))
	stretch := 0
	for i, r := range s {
		length := utf8.RuneLen(r)
		switch {
		case unicode.In(r, unicode.Lo, unicode.Ll, unicode.Lu):
			stretch = 0
		case stretch >= maxUnlettered:
			stretch = 0
			for j := range length {
				same[i+j] = 'a'
			}
		default:
			stretch += length
		}
	}
	return string(same)
}

// atWords splits text larger than the target at spaces, or anywhere if it has none.
func (o Options) atWords(text string) []string {
	var parts []string
	for {
		end, space := o.fits(text)
		if end == len(text) {
			break
		}
		if space > end/2 {
			end = space
		}
		if end == 0 { // a target smaller than one letter
			_, end = utf8.DecodeRuneInString(text)
		}
		parts = append(parts, text[:end])
		text = text[end:]
	}
	if text != "" {
		parts = append(parts, text)
	}
	return parts
}

// fits returns how much of a text is within the target, and where the last space of that ends.
func (o Options) fits(text string) (end, space int) {
	size := 0
	for i, r := range text {
		if size += width(r); size > o.Target {
			return i, space
		}
		if unicode.IsSpace(r) {
			space = i + utf8.RuneLen(r)
		}
	}
	return len(text), space
}

func letters(s string) int {
	n := 0
	for _, r := range s {
		n += width(r)
	}
	return n
}

func width(r rune) int {
	const firstOfTwo = 0x1100 // Hangul; nothing below it counts twice
	if r >= firstOfTwo && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) {
		return 2
	}
	return 1
}
