package search

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hybridge-search/hybridge/scoring"
)

// AppendJSON writes the response and a line break behind what is there, byte for byte
// as an encoding/json.Encoder that leaves HTML as it is.
func (r *Response) AppendJSON(to []byte) ([]byte, error) {
	a := answerTexts.Get().(*answerText)
	a.out, a.err = to, nil
	a.response(r)
	a.raw("\n")
	out, err := a.out, a.err
	a.out = nil
	answerTexts.Put(a)
	if err != nil {
		return to, err
	}
	return out, nil
}

// answerText is the JSON of a response. encoding/json looks the shape of each of
// some hundred documents up anew; here it is written down, and what is rare is left
// to that package.
type answerText struct {
	out  []byte
	rest *json.Encoder // to out
	err  error

	fetched byte // nothing to know, but what is read has to go somewhere
}

var answerTexts = sync.Pool{New: func() any {
	a := new(answerText)
	a.rest = json.NewEncoder(a)
	a.rest.SetEscapeHTML(false)
	return a
}}

// head writes what is an answer's own each time that it is given.
func (a *answerText) head(queryID string, cached bool, tookMS float64) {
	a.text(`{"query_id":`, queryID)
	a.flag(`,"cached":`, cached)
	a.number(`,"took_ms":`, tookMS)
}

// behindHead is the first member behind the head.
const behindHead = `,"preset":`

func (a *answerText) response(r *Response) {
	a.head(r.QueryID, r.Cached, r.TookMS)
	a.text(behindHead, r.Preset)
	a.text(`,"engine":`, r.Engine)
	a.timings(`,"timings_ms":`, &r.Timings)
	a.whole(`,"total":{"value":`, r.Total.Value)
	a.text(`,"relation":`, r.Total.Relation)
	a.raw(`}`)
	a.number(`,"max_score":`, r.MaxScore)
	list(a, `,"hits":`, r.Hits, a.hit)
	a.fetch(r.Documents)
	list(a, `,"documents":`, r.Documents, a.document)
	if len(r.Facets) > 0 {
		a.value(`,"facets":`, r.Facets)
	}
	if r.Relaxed == nil {
		a.raw(`,"relaxed":null`)
	} else {
		a.text(`,"relaxed":`, *r.Relaxed)
	}
	list(a, `,"degraded":`, r.Degraded, a.lost)
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
	list(a, `,"positions":`, h.Positions, a.place)
	a.metadata(`,"metadata":`, h.Metadata)
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

// fetch reads a byte of each text of some hundred documents, which may lie anywhere in
// memory: nothing here waits for another one, so they come into the cache side by side,
// where writing them would wait for one after the other.
func (a *answerText) fetch(documents []DocumentCount) {
	for i := range documents {
		d := &documents[i]
		if d.DocumentID != "" && d.DocumentName != "" {
			a.fetched += d.DocumentID[0] + d.DocumentName[0]
		}
	}
}

// document is written most often, so without a detour.
func (a *answerText) document(d *DocumentCount) {
	out := appendQuoted(append(a.out, `{"document_id":`...), d.DocumentID)
	out = appendQuoted(append(out, `,"document_name":`...), d.DocumentName)
	out = strconv.AppendInt(append(out, `,"count":`...), int64(d.Count), 10)
	out = append(out, '}')
	a.out = out
}

func (a *answerText) timings(name string, t *Timings) {
	a.raw(name)
	a.number(`{"analyze":`, t.Analyze)
	a.number(`,"embed":`, t.Embed)
	if t.Legs == nil {
		a.raw(`,"legs":null`)
	} else {
		a.legTimings(t.Legs)
	}
	a.number(`,"fuse":`, t.Fuse)
	a.number(`,"highlight":`, t.Highlight)
	a.raw(`}`)
}

func (a *answerText) legTimings(legs map[string]float64) {
	before := `,"legs":{`
	if len(legs) == 0 {
		a.raw(before)
	}
	for _, name := range sortedKeys(make([]string, 0, fewKeys), legs) {
		a.text(before, name)
		a.number(`:`, legs[name])
		before = `,`
	}
	a.raw(`}`)
}

func (a *answerText) lost(d *Degraded) {
	a.text(`{"leg":`, d.Leg)
	if d.KnowledgeBase != "" {
		a.text(`,"knowledge_base":`, d.KnowledgeBase)
	}
	a.text(`,"reason":`, d.Reason)
	a.raw(`}`)
}

func (a *answerText) place(numbers *[]float64) {
	list(a, ``, *numbers, func(n *float64) { a.number(``, *n) })
}

func (a *answerText) metadata(name string, values map[string]any) {
	a.raw(name)
	if values == nil {
		a.raw(`null`)
		return
	}
	a.raw(`{`)
	for i, key := range sortedKeys(make([]string, 0, fewKeys), values) {
		if i > 0 {
			a.raw(`,`)
		}
		a.text(``, key)
		a.raw(`:`)
		value := values[key]
		a.field(&value)
	}
	a.raw(`}`)
}

// field writes a value as metadata have it; any other, encoding/json knows.
func (a *answerText) field(value *any) {
	switch v := (*value).(type) {
	case string:
		a.text(``, v)
	case float64:
		a.number(``, v)
	case bool:
		a.flag(``, v)
	case []any:
		list(a, ``, v, a.field)
	default:
		a.value(``, v)
	}
}

// fewKeys is how many most maps do not have: a list of them stays on the stack.
const fewKeys = 8

func sortedKeys[V any](to []string, m map[string]V) []string {
	for key := range m {
		to = append(to, key)
	}
	slices.Sort(to)
	return to
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
	a.out = appendQuoted(append(a.out, name...), text)
}

func (a *answerText) flag(name string, set bool) {
	a.raw(name)
	a.out = strconv.AppendBool(a.out, set)
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
