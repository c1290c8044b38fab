package search

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hybridge-search/hybridge/scoring"
)

// WriteJSON writes the response and a line break, byte for byte as an
// encoding/json.Encoder that leaves HTML as it is.
func (r *Response) WriteJSON(to io.Writer) error {
	a := answerTexts.Get().(*answerText)
	a.out, a.err = a.out[:0], nil
	a.response(r)
	a.raw("\n")
	err := a.err
	if err == nil {
		_, err = to.Write(a.out)
	}
	if cap(a.out) <= keptText {
		answerTexts.Put(a)
	}
	return err
}

// answerText is the JSON of a response. encoding/json looks the shape of each of
// some hundred documents up anew; here it is written down, and what is small or
// rare is left to that package.
type answerText struct {
	out  []byte
	rest *json.Encoder // to out
	err  error
}

var answerTexts = sync.Pool{New: func() any {
	a := new(answerText)
	a.rest = json.NewEncoder(a)
	a.rest.SetEscapeHTML(false)
	return a
}}

// keptText is how long a response may be for its memory to serve the next one.
const keptText = 256 << 10

func (a *answerText) response(r *Response) {
	a.text(`{"query_id":`, r.QueryID)
	a.value(`,"cached":`, r.Cached)
	a.text(`,"preset":`, r.Preset)
	a.text(`,"engine":`, r.Engine)
	a.number(`,"took_ms":`, r.TookMS)
	a.value(`,"timings_ms":`, &r.Timings)
	a.value(`,"total":`, &r.Total)
	a.number(`,"max_score":`, r.MaxScore)
	list(a, `,"hits":`, r.Hits, a.hit)
	list(a, `,"documents":`, r.Documents, a.document)
	if len(r.Facets) > 0 {
		a.value(`,"facets":`, r.Facets)
	}
	a.value(`,"relaxed":`, r.Relaxed)
	a.value(`,"degraded":`, r.Degraded)
	if r.MergedBy != "" {
		a.text(`,"merged_by":`, r.MergedBy)
	}
	if r.Empty != "" {
		a.text(`,"empty":`, r.Empty)
	}
	if r.Explain != nil {
		a.value(`,"explain":`, r.Explain)
	}
	a.raw(`}`)
}

func (a *answerText) hit(h *Hit) {
	a.text(`{"id":`, h.ID)
	a.text(`,"document_id":`, h.DocumentID)
	a.text(`,"document_name":`, h.DocumentName)
	a.text(`,"knowledge_base":`, h.KnowledgeBase)
	a.whole(`,"ordinal":`, h.Ordinal)
	a.text(`,"title":`, h.Title)
	a.text(`,"content":`, h.Content)
	a.number(`,"score":`, h.Score)
	a.number(`,"raw_score":`, h.RawScore)
	a.known(`,"vector_similarity":`, h.VectorSimilarity)
	a.known(`,"term_similarity":`, h.TermSimilarity)
	list(a, `,"highlights":`, h.Highlights, func(fragment *string) { a.text(``, *fragment) })
	a.value(`,"positions":`, h.Positions)
	a.value(`,"metadata":`, h.Metadata)
	list(a, `,"legs":`, h.Legs, a.leg)
	if len(h.Neighbours) > 0 {
		a.value(`,"neighbours":`, h.Neighbours)
	}
	if h.QA != nil {
		a.members(h.QA)
	}
	a.raw(`}`)
}

func (a *answerText) leg(l *scoring.Contribution) {
	a.text(`{"leg":`, l.Leg)
	if l.Rank == nil {
		a.raw(`,"rank":null`)
	} else {
		a.whole(`,"rank":`, *l.Rank)
	}
	a.known(`,"raw":`, l.Raw)
	a.known(`,"normalized":`, l.Normalized)
	a.number(`,"weight":`, l.Weight)
	a.number(`,"contribution":`, l.Contribution)
	a.raw(`}`)
}

func (a *answerText) document(d *DocumentCount) {
	a.text(`{"document_id":`, d.DocumentID)
	a.text(`,"document_name":`, d.DocumentName)
	a.whole(`,"count":`, d.Count)
	a.raw(`}`)
}

func list[T any](a *answerText, name string, values []T, write func(*T)) {
	a.raw(name)
	if values == nil {
		a.raw(`null`)
		return
	}
	a.raw(`[`)
	for i := range values {
		if i > 0 {
			a.raw(`,`)
		}
		write(&values[i])
	}
	a.raw(`]`)
}

func (a *answerText) raw(text string) { a.out = append(a.out, text...) }

func (a *answerText) text(name, text string) {
	a.raw(name)
	if isPlain(text) {
		a.out = append(append(append(a.out, '"'), text...), '"')
		return
	}
	before := len(a.out)
	var err error
	a.out, err = jsontext.AppendQuote(a.out, text)
	if err != nil || holdsSeparator(text) {
		a.out = a.out[:before]
		a.value(``, text) // which escapes more than JSON asks for
	}
}

// isPlain reports whether a text is ASCII that stands in JSON as it is.
func isPlain(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// holdsSeparator reports whether a text has a line or paragraph separator.
func holdsSeparator(text string) bool {
	for {
		at := strings.Index(text, "\u2028"[:2])
		if at < 0 {
			return false
		}
		if text = text[at:]; strings.HasPrefix(text, "\u2028") || strings.HasPrefix(text, "\u2029") {
			return true
		}
		text = text[2:]
	}
}

func (a *answerText) whole(name string, n int) {
	a.raw(name)
	a.out = strconv.AppendInt(a.out, int64(n), 10)
}

func (a *answerText) number(name string, f float64) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		a.err = fmt.Errorf("%v is no number of JSON", f)
	}
	a.raw(name)
	a.out = jsontext.AppendFloat(a.out, f, 64)
}

func (a *answerText) known(name string, f *float64) {
	if f == nil {
		a.raw(name)
		a.raw(`null`)
		return
	}
	a.number(name, *f)
}

func (a *answerText) value(name string, value any) {
	a.raw(name)
	if err := a.rest.Encode(value); err != nil {
		a.err = err
	}
}

// members writes those of an object into the one around it.
func (a *answerText) members(object any) {
	before := len(a.out)
	a.value(``, object)
	if written := a.out[before:]; string(written) == `{}` {
		a.out = a.out[:before]
	} else if a.err == nil {
		written[0], a.out = ',', a.out[:len(a.out)-1]
	}
}

// Write implements io.Writer for what encoding/json writes, line by line.
func (a *answerText) Write(line []byte) (int, error) {
	a.out = append(a.out, bytes.TrimSuffix(line, []byte{'\n'})...)
	return len(line), nil
}
