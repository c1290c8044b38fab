package parse

import (
	"sort"
	"strings"
)

func init() {
	for _, extension := range []string{".txt", ".text"} {
		formats[extension] = ofText(readText)
	}
}

// headings collects sections under the path of headings that leads to them.
type headings struct {
	sections []section // each has text
	path     []string  // by level; "" for a level that was skipped
	entered  bool      // the next block begins a section
}

// enter begins a section under a heading of a level from 1. A heading without text below it
// is still part of the titles of deeper ones.
func (h *headings) enter(level int, text string) {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > maxHeading {
		h.add(block{text: text})
		return
	}
	for len(h.path) < level {
		h.path = append(h.path, "")
	}
	h.path = append(h.path[:level-1], text)
	h.entered = true
}

// title joins the path, without repeating a heading twice in a row.
func (h *headings) title() string {
	var parts []string
	for _, heading := range h.path {
		if heading != "" && (len(parts) == 0 || parts[len(parts)-1] != heading) {
			parts = append(parts, heading)
		}
	}
	return strings.Join(parts, " > ")
}

func (h *headings) add(b block) {
	if h.entered || len(h.sections) == 0 {
		h.sections = append(h.sections, section{title: h.title()})
		h.entered = false
	}
	last := &h.sections[len(h.sections)-1]
	last.blocks = append(last.blocks, b)
}

// lineIndex finds the line of a byte offset.
type lineIndex []int // offsets of the newlines

func indexLines(source []byte) lineIndex {
	var index lineIndex
	for i, b := range source {
		if b == '\n' {
			index = append(index, i)
		}
	}
	return index
}

// line counts from 1.
func (l lineIndex) line(offset int) int { return sort.SearchInts(l, offset) + 1 }

// readText splits plain text into paragraphs at blank lines.
func readText(f *file) ([]section, error) {
	var h headings
	var paragraph struct{ from, to, first, last int }
	text, number, offset := string(f.source), 0, 0
	end := func() {
		if paragraph.first > 0 {
			h.add(block{text: text[paragraph.from:paragraph.to], first: paragraph.first, last: paragraph.last})
			paragraph.first = 0
		}
	}
	for line := range strings.Lines(text) {
		number++
		offset += len(line)
		if blank(line) {
			end()
			continue
		}
		if paragraph.first == 0 {
			paragraph.from, paragraph.first = offset-len(line), number
		}
		paragraph.to, paragraph.last = offset-len(line)+len(strings.TrimSuffix(line, "\n")), number
	}
	end()
	return h.sections, nil
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }
