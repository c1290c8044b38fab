package rag

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/hybridge-search/hybridge/search"
)

// Context is text for a prompt and the sources of its numbered parts.
type Context struct {
	Text      string     `json:"context"`
	Citations []Citation `json:"citations"`
	// Truncated means that hits, or the end of the last one, did not fit.
	Truncated bool `json:"truncated"`
}

// Citation is the source of one numbered part of a context.
type Citation struct {
	Number        int     `json:"number"` // as in the text, from 1
	ID            string  `json:"id"`     // of the chunk
	KnowledgeBase string  `json:"knowledge_base"`
	DocumentID    string  `json:"document_id"`
	Source        string  `json:"source"` // the document's name, title or id
	Page          *int    `json:"page"`   // where the chunk begins; null: not known
	Score         float64 `json:"score"`
	URL           string  `json:"url,omitempty"`
}

// FormatForContext writes hits in their order, each as a part with a numbered head
//
//	[1] guide.md, page 3 (score 0.87)
//	Refunds take a week.
//
// and an empty line between parts, in at most maxChars characters (runes). The text ends
// after a whole chunk or a whole sentence. Only if not even the first sentence fits does it
// end within that sentence, after a whole grapheme. Hits without text are left out.
func FormatForContext(hits []search.Hit, maxChars int) Context {
	w := writer{left: maxChars}
	c := Context{Citations: []Citation{}}
	for i := range hits {
		text := Text(&hits[i])
		if text == "" {
			continue
		}
		citation := Cite(&hits[i], len(c.Citations)+1)
		if !w.part(citation.head(), text) {
			c.Truncated = true
			break
		}
		c.Citations = append(c.Citations, citation)
		if w.cut {
			c.Truncated = true
			break
		}
	}
	c.Text = w.text.String()
	return c
}

// FormatForToolOutput writes the first hits as the output of a tool that a model called:
// how many there are, then each in full with its source.
func FormatForToolOutput(hits []search.Hit, maxChunks int) string {
	shown := hits[:max(min(maxChunks, len(hits)), 0)]
	if len(hits) == 0 {
		return "No results."
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Results: %d of %d.", len(shown), len(hits))
	for i := range shown {
		citation := Cite(&shown[i], i+1)
		b.WriteString("\n\n" + citation.head() + "\n" + Text(&shown[i]))
	}
	return b.String()
}

// writer writes parts while there is room.
type writer struct {
	text strings.Builder
	left int  // characters
	cut  bool // the last part is incomplete
}

// part writes a part, or as many of its sentences as fit. It reports false if none does.
func (w *writer) part(head, text string) bool {
	first := w.text.Len() == 0
	lead := head + "\n"
	if !first {
		lead = "\n\n" + lead
	}
	room := w.left - utf8.RuneCountInString(lead)
	fitting := sentences(text, room)
	if fitting == "" && first {
		fitting = graphemes(text, room)
	}
	if fitting == "" {
		return false
	}
	w.cut = len(fitting) < len(text)
	w.left = room - utf8.RuneCountInString(fitting)
	w.text.WriteString(lead + fitting)
	return true
}

// sentences returns the whole sentences at the beginning of a text that fit.
func sentences(text string, room int) string {
	end, state, rest := 0, -1, text
	for rest != "" && room > 0 {
		var sentence string
		sentence, rest, state = uniseg.FirstSentenceInString(rest, state)
		room -= utf8.RuneCountInString(strings.TrimRightFunc(sentence, unicode.IsSpace))
		if room < 0 {
			break
		}
		room -= utf8.RuneCountInString(sentence) - utf8.RuneCountInString(strings.TrimRightFunc(sentence, unicode.IsSpace))
		end += len(sentence)
	}
	return strings.TrimRightFunc(text[:end], unicode.IsSpace)
}

// graphemes returns the whole graphemes at the beginning of a text that fit.
func graphemes(text string, room int) string {
	end, state, rest := 0, -1, text
	for rest != "" {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if room -= utf8.RuneCountInString(cluster); room < 0 {
			break
		}
		end += len(cluster)
	}
	return strings.TrimRightFunc(text[:end], unicode.IsSpace)
}

// Cite returns the source of a hit.
func Cite(hit *search.Hit, number int) Citation {
	c := Citation{
		Number: number, ID: hit.ID, KnowledgeBase: hit.KnowledgeBase, DocumentID: hit.DocumentID,
		Source: line(cmp.Or(hit.DocumentName, hit.Title, hit.DocumentID)), Page: pageOf(hit), Score: hit.Score,
	}
	if hit.QA != nil {
		c.URL = hit.URL
	}
	return c
}

// head is the line before a part.
func (c *Citation) head() string {
	var b strings.Builder
	b.WriteString("[" + strconv.Itoa(c.Number) + "] " + c.Source)
	if c.Page != nil {
		b.WriteString(", page " + strconv.Itoa(*c.Page))
	}
	fmt.Fprintf(&b, " (score %.2f)", c.Score)
	return b.String()
}

// pageOf returns the page of the first position [page, left, right, top, bottom].
func pageOf(hit *search.Hit) *int {
	if len(hit.Positions) == 0 || len(hit.Positions[0]) == 0 {
		return nil
	}
	page := hit.Positions[0][0]
	if page < 0 || page > math.MaxInt32 || page != math.Trunc(page) {
		return nil
	}
	number := int(page)
	return &number
}

// Text returns the content of a hit, or its question and answer, as valid UTF-8.
func Text(hit *search.Hit) string {
	text := hit.Content
	if hit.QA != nil {
		text = hit.Question + "\n" + cmp.Or(hit.FullAnswer, hit.Answer)
	}
	return strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD"))
}

// maxSource is the most characters of a source's name in a head.
const maxSource = 200

// line puts a name on one line, so that it cannot look like a part of its own.
func line(name string) string {
	name = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(name, "\uFFFD"), func(r rune) bool {
		return unicode.IsControl(r) || unicode.IsSpace(r)
	}), " ")
	return graphemes(name, maxSource)
}
