package ingest

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/sentences"
)

// SplitOptions say how large the chunks of files are, in letters. A Chinese, Japanese or
// Korean character counts as two: it says as much, and costs an embedding model as much.
type SplitOptions struct {
	Target  int // the largest size (800)
	Overlap int // whole sentences repeated from the chunk before, at most (100; negative: none)
}

func (o SplitOptions) withDefaults() SplitOptions {
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
	byLines     bool // to be split at line ends: code and tables
	tight       bool // there is no blank line before it
}

// passage is the text of a chunk.
type passage struct {
	title, content string
	first, last    int
}

// piece is text that is not split further.
type piece struct {
	glue, text  string // glue separates it from the piece before
	first, last int
	size        int
}

// split fills passages up to the target size. They end where blocks end. A larger block is
// split into sentences, and a larger sentence into words.
func (o SplitOptions) split(sections []section) []passage {
	var passages []passage
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
	}
	return passages
}

// overlap returns the pieces at the end of a passage that the next one repeats.
func (o SplitOptions) overlap(before []piece, next int) (again []piece, size int) {
	from := len(before)
	for from > 1 && size+before[from-1].size <= min(o.Overlap, o.Target-next) {
		from--
		size += before[from].size
	}
	return append([]piece(nil), before[from:]...), size
}

func join(title string, pieces []piece) passage {
	var content strings.Builder
	for i, p := range pieces {
		if i > 0 {
			content.WriteString(p.glue)
		}
		content.WriteString(p.text)
	}
	return passage{
		title: title, content: strings.TrimSpace(content.String()),
		first: pieces[0].first, last: pieces[len(pieces)-1].last,
	}
}

func (o SplitOptions) pieces(blocks []block) []piece {
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
func (o SplitOptions) cut(b block, glue string) []piece {
	if size := letters(b.text); size <= o.Target {
		return []piece{{glue: glue, text: b.text, first: b.first, last: b.last, size: size}}
	}
	var pieces []piece
	line := b.first
	for _, part := range b.parts() {
		for _, text := range o.atWords(part) {
			p := piece{glue: glue, text: text, first: line, last: line, size: letters(text)}
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
	// A line end within a paragraph ends no sentence; offsets stay the same.
	var parts []string
	boundaries := sentences.FromString(strings.ReplaceAll(b.text, "\n", " "))
	for boundaries.Next() {
		parts = append(parts, b.text[boundaries.Start():boundaries.End()])
	}
	return parts
}

// atWords splits text larger than the target at spaces, or anywhere if it has none.
func (o SplitOptions) atWords(text string) []string {
	var parts []string
	for letters(text) > o.Target {
		end, size, space := 0, 0, 0
		for i, r := range text {
			if size += width(r); size > o.Target {
				end = i
				break
			}
			if unicode.IsSpace(r) {
				space = i + utf8.RuneLen(r)
			}
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

func letters(s string) int {
	n := 0
	for _, r := range s {
		n += width(r)
	}
	return n
}

func width(r rune) int {
	if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) {
		return 2
	}
	return 1
}
