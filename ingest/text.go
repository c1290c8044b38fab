package ingest

import (
	"sort"
	"strings"
)

// headings collects sections under the path of headings that leads to them.
type headings struct {
	sections []section
	path     []string // by level; "" for a level that was skipped
}

// enter begins a section under a heading of a level from 1.
func (h *headings) enter(level int, text string) {
	for len(h.path) < level {
		h.path = append(h.path, "")
	}
	h.path = append(h.path[:level-1], strings.Join(strings.Fields(text), " "))
	h.sections = append(h.sections, section{title: h.title()})
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
	if len(h.sections) == 0 {
		h.sections = []section{{}}
	}
	last := &h.sections[len(h.sections)-1]
	last.blocks = append(last.blocks, b)
}

// filled returns the sections that have text. A heading without text is still part of the
// titles below it.
func (h *headings) filled() []section {
	var filled []section
	for _, s := range h.sections {
		if len(s.blocks) > 0 {
			filled = append(filled, s)
		}
	}
	return filled
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
func readText(source []byte) []section {
	var h headings
	var paragraph []string
	lines := strings.Split(string(source), "\n")
	for i, line := range append(lines, "") {
		if !blank(line) {
			paragraph = append(paragraph, line)
			continue
		}
		if len(paragraph) > 0 {
			h.add(block{text: strings.Join(paragraph, "\n"), first: i - len(paragraph) + 1, last: i})
			paragraph = nil
		}
	}
	return h.filled()
}
