package rag

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"
	"github.com/clipperhouse/uax29/v2/sentences"

	"github.com/hybridge-search/hybridge/search"
)

// Context is text for a prompt and the sources of its numbered parts.
type Context struct {
	Text      string     `json:"context"`
	Citations []Citation `json:"citations"`
	// Truncated means that hits, or the end of the last one, did not fit.
	Truncated bool `json:"truncated"`
	// Of the answer that the text is of, see FormatAnswer.
	Answerable  *float64 `json:"answerable" doc:"Probability in [0, 1] that the answer, before thresholds on relevance, answers the question; null where it is not known."`
	Empty       string   `json:"empty,omitempty" enum:"nothing_relevant,threshold,words,filter,match" doc:"Why there is no hit, stable."`
	EmptyReason string   `json:"empty_reason,omitempty" locale:"text" doc:"The same in a sentence."`
}

// NothingRelevant is Context.Empty, and search.Response.Empty, where the knowledge bases
// have nothing that answers the question well enough for the thresholds that were asked.
const NothingRelevant = "nothing_relevant"

// Citation is the source of one numbered part of a context.
type Citation struct {
	Number        int    `json:"number"` // as in the text, from 1
	ID            string `json:"id"`     // of the chunk
	KnowledgeBase string `json:"knowledge_base"`
	DocumentID    string `json:"document_id"`
	Source        string `json:"source"` // the document's name, title or id
	Page          *int   `json:"page"`   // where the chunk begins; null: not known
	// Heading and Lines are where a chunk of a split file was; empty and null otherwise.
	Heading string  `json:"heading,omitempty" doc:"Of a chunk of a split file: the headings that lead to it."`
	Lines   *Lines  `json:"lines" doc:"Of a chunk of a split file: where it was in it."`
	Score   float64 `json:"score" minimum:"0" maximum:"1"`
	// Relevance is the probability that the chunk answers the question.
	Relevance *float64 `json:"relevance" minimum:"0" maximum:"1" doc:"Probability in [0, 1] that the chunk answers the question; null where it is not known."`
	URL       string   `json:"url,omitempty"`
	// Copies are the other places of the text.
	Copies []search.Copy `json:"copies,omitempty" doc:"Where else the text stands."`
}

// Lines is a range of lines of a file, counted from 1, inclusive.
type Lines struct {
	First int `json:"first"`
	Last  int `json:"last"`
}

// FormatForContext writes hits in their order, each as a part with a numbered head
//
//	[1] guide.md, page 3 (score 0.87)
//	Refunds take a week.
//
// (a chunk of a split file has: guide.md, "Refunds", lines 12–30)
// and an empty line between parts, in at most maxChars characters (runes). The text ends
// after a whole chunk or a whole sentence. Only if not even the first sentence fits does it
// end within that sentence, after a whole grapheme. Hits without text are skipped.
func FormatForContext(hits []search.Hit, maxChars int) Context {
	passages, truncated := Passages(hits, maxChars)
	c := Context{Citations: make([]Citation, len(passages)), Truncated: truncated}
	var text strings.Builder
	for i := range passages {
		c.Citations[i] = passages[i].Citation
		text.WriteString(passages[i].lead() + passages[i].Text)
	}
	c.Text = text.String()
	return c
}

// Passage is a numbered part of a context: its source, and its text without a head.
type Passage struct {
	Citation
	Text string
}

// Passages are the parts of FormatForContext, which counts their heads too, for a prompt that has another form.
// truncated means that hits, or the end of the last one, did not fit.
func Passages(hits []search.Hit, maxChars int) (passages []Passage, truncated bool) {
	room := maxChars
	for i := range hits {
		text := Text(&hits[i])
		if text == "" {
			continue
		}
		p := Passage{Citation: Cite(&hits[i], len(passages)+1)}
		room -= utf8.RuneCountInString(p.lead())
		p.Text = wholeSentences(text, room)
		if p.Text == "" && p.Number == 1 {
			p.Text = wholeGraphemes(text, room)
		}
		if p.Text == "" {
			return passages, true
		}
		room -= utf8.RuneCountInString(p.Text)
		passages = append(passages, p)
		if len(p.Text) < len(text) {
			return passages, true
		}
	}
	return passages, false
}

// FormatAnswer is FormatForContext of an answer, with what the answer says of itself. Where
// nothing in the knowledge bases answers the question, the text is empty.
func FormatAnswer(answer *search.Response, maxChars int) Context {
	c := FormatForContext(answer.Hits, maxChars)
	c.describe(answer)
	return c
}

// FormatAnswerForTool is FormatForToolOutput of an answer, with its sources and what the
// answer says of itself. Where nothing in the knowledge bases answers the question, the
// text says so, for the model to say the same instead of guessing.
func FormatAnswerForTool(answer *search.Response, maxChunks int) Context {
	n := max(min(maxChunks, len(answer.Hits)), 0)
	c := Context{
		Text: FormatForToolOutput(answer.Hits, n), Citations: make([]Citation, n), Truncated: n < len(answer.Hits),
	}
	for i := range c.Citations {
		c.Citations[i] = Cite(&answer.Hits[i], i+1)
	}
	if answer.Empty == NothingRelevant {
		c.Text = "Nothing in the knowledge bases answers this question."
	}
	c.describe(answer)
	return c
}

func (c *Context) describe(answer *search.Response) {
	c.Answerable, c.Empty, c.EmptyReason = answer.Answerable, answer.Empty, answer.EmptyReason
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

// wholeSentences returns the whole sentences at the beginning of a text that fit.
func wholeSentences(text string, room int) string {
	end := 0
	for sentence := sentences.FromString(text); room > 0 && sentence.Next(); {
		visible := strings.TrimRightFunc(sentence.Value(), unicode.IsSpace)
		if utf8.RuneCountInString(visible) > room {
			break
		}
		room -= utf8.RuneCountInString(sentence.Value())
		end = sentence.End()
	}
	return strings.TrimRightFunc(text[:end], unicode.IsSpace)
}

// wholeGraphemes returns the whole graphemes at the beginning of a text that fit.
func wholeGraphemes(text string, room int) string {
	end := 0
	for cluster := graphemes.FromString(text); cluster.Next(); {
		if room -= utf8.RuneCountInString(cluster.Value()); room < 0 {
			break
		}
		end = cluster.End()
	}
	return strings.TrimRightFunc(text[:end], unicode.IsSpace)
}

// Cite returns the source of a hit.
func Cite(hit *search.Hit, number int) Citation {
	c := Citation{
		Number: number, ID: hit.ID, KnowledgeBase: hit.KnowledgeBase, DocumentID: hit.DocumentID,
		Source: line(cmp.Or(hit.DocumentName, hit.Title, hit.DocumentID)), Score: hit.Score, Relevance: hit.Relevance,
		Copies: hit.Copies,
	}
	c.locate(hit)
	if hit.QA != nil {
		c.URL = hit.URL
	}
	return c
}

// lead is the prefix of a part's text.
func (c *Citation) lead() string {
	if c.Number == 1 {
		return c.head() + "\n"
	}
	return "\n\n" + c.head() + "\n"
}

// head is the line before a part.
func (c *Citation) head() string {
	return fmt.Sprintf("[%d] %s (score %.2f)", c.Number, c.Where(), c.Score)
}

// Where is the source and the place in it, as far as it is known: guide.md, "Refunds", lines 12–30.
func (c *Citation) Where() string {
	var b strings.Builder
	b.WriteString(c.Source)
	if c.Page != nil {
		b.WriteString(", page " + strconv.Itoa(*c.Page))
	}
	if c.Heading != "" {
		b.WriteString(`, "` + c.Heading + `"`)
	}
	switch l := c.Lines; {
	case l == nil:
	case l.First == l.Last:
		b.WriteString(", line " + strconv.Itoa(l.First))
	default:
		fmt.Fprintf(&b, ", lines %d–%d", l.First, l.Last)
	}
	return b.String()
}

// locate says where a hit was, by the first of its positions: on a page, as
// [page, left, right, top, bottom] or as [page], or in a split file, as
// [first line, last line]. Whatever else stands there is not cited.
func (c *Citation) locate(hit *search.Hit) {
	if len(hit.Positions) == 0 {
		return
	}
	switch position := hit.Positions[0]; len(position) {
	case 1, 5:
		if page, ok := whole(position[0]); ok {
			c.Page = &page
		}
	case 2:
		first, begins := whole(position[0])
		last, ends := whole(position[1])
		if !begins || !ends || first < 1 || last < first {
			return
		}
		c.Lines = &Lines{First: first, Last: last}
		if hit.DocumentName != "" { // else the title is the source already
			c.Heading = line(hit.Title)
		}
	}
}

// whole returns a number that can be one of a page or a line.
func whole(n float64) (number int, ok bool) {
	if n < 0 || n > math.MaxInt32 || n != math.Trunc(n) {
		return 0, false
	}
	return int(n), true
}

// Text returns the content of a hit, of its section where that came along, or its question and
// answer, as valid UTF-8.
func Text(hit *search.Hit) string {
	text := hit.Content
	switch {
	case hit.QA != nil:
		text = hit.Question + "\n" + cmp.Or(hit.FullAnswer, hit.Answer)
	case hit.Parent != nil:
		text = hit.Parent.Content
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
	return wholeGraphemes(name, maxSource)
}
