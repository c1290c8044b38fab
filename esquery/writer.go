package esquery

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hybridge-search/hybridge/lib/smile"
)

// writer appends JSON, or SMILE, to one buffer. It puts commas where they belong: the last
// byte tells whether a value is in front. After the first error the buffer is of no use.
//
//	w.begin("term", "kb")         // {"term":{"kb":{
//	w.text("value", "manuals")    // "value":"manuals"
//	w.end()                       // }}}
type writer struct {
	buf   []byte
	smile bool
	open  []uint8 // per begin without its end yet: how many objects it opened
	err   error
}

const usualBody = 2 << 10 // bytes; most bodies without a vector are smaller

// begin opens an object, and one within the other for each of the names.
func (w *writer) begin(names ...string) {
	if w.smile && len(w.open) == 0 {
		w.raw(smile.Start)
	}
	w.value().token('{', smile.Object)
	for _, name := range names {
		w.member(name).token('{', smile.Object)
	}
	w.open = append(w.open, uint8(1+len(names)))
}

// end closes what the last begin has opened.
func (w *writer) end() {
	last := len(w.open) - 1
	for range w.open[last] {
		w.token('}', smile.ObjectEnd)
	}
	w.open = w.open[:last]
}

// endLine ends a line.
func (w *writer) endLine() { w.token('\n', smile.LineEnd) }

// member writes a name; its value follows.
func (w *writer) member(name string) *writer {
	if w.smile {
		w.buf = smile.AppendName(w.buf, name)
		return w
	}
	w.value().quote(name)
	w.put(':')
	return w
}

// value puts a comma before the next value or name if one is needed.
func (w *writer) value() *writer {
	if n := len(w.buf); n > 0 && !w.smile {
		switch w.buf[n-1] {
		case '{', '[', ':', ',', '\n':
		default:
			w.put(',')
		}
	}
	return w
}

func (w *writer) raw(s string) { w.buf = append(w.buf, s...) }
func (w *writer) put(b byte)   { w.buf = append(w.buf, b) }

// token writes the byte for the same thing in the form that is written.
func (w *writer) token(inJSON, inSmile byte) {
	if w.smile {
		inJSON = inSmile
	}
	w.put(inJSON)
}

// The members of an object. The opt methods leave out a zero value.

func (w *writer) text(name, s string)          { w.member(name).quote(s) }
func (w *writer) int(name string, n int)       { w.member(name).integer(int64(n)) }
func (w *writer) bool(name string, b bool)     { w.member(name).boolean(b) }
func (w *writer) float(name string, f float64) { w.member(name).number(f, 64) }
func (w *writer) any(name string, v any)       { w.member(name).anything(v) }
func (w *writer) query(name string, q Query)   { w.member(name).clause(q) }

func (w *writer) optText(name, s string) {
	if s != "" {
		w.text(name, s)
	}
}

func (w *writer) optInt(name string, n int) {
	if n != 0 {
		w.int(name, n)
	}
}

func (w *writer) optAny(name string, v any) {
	if v != nil {
		w.any(name, v)
	}
}

func (w *writer) optQuery(name string, q Query) {
	if q != nil {
		w.query(name, q)
	}
}

func (w *writer) optQueries(name string, all []Query) {
	if len(all) > 0 {
		w.queries(name, all)
	}
}

func (w *writer) queries(name string, all []Query) {
	list(w, name, all, (*writer).clause)
}

func (w *writer) anys(name string, all []any) { list(w, name, all, (*writer).anything) }

func (w *writer) optTexts(name string, all []string) {
	if len(all) > 0 {
		w.texts(name, all)
	}
}

func (w *writer) texts(name string, all []string) { list(w, name, all, (*writer).quote) }

// list writes a member that has several values.
func list[T any](w *writer, name string, all []T, write func(*writer, T)) {
	w.member(name).token('[', smile.Array)
	for _, v := range all {
		write(w.value(), v)
	}
	w.token(']', smile.ArrayEnd)
}

// The values, without what separates them.

// quote writes a string. What is not UTF-8 in it becomes U+FFFD.
func (w *writer) quote(s string) {
	if w.smile {
		w.buf = smile.AppendText(w.buf, s)
		return
	}
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			w.buf, _ = jsontext.AppendQuote(w.buf, s) // the error is that of the U+FFFD
			return
		}
	}
	w.put('"')
	w.raw(s)
	w.put('"')
}

func (w *writer) integer(n int64) {
	if w.smile {
		w.buf = smile.AppendInteger(w.buf, n)
		return
	}
	w.buf = strconv.AppendInt(w.buf, n, 10)
}

func (w *writer) boolean(b bool) {
	switch {
	case !w.smile:
		w.buf = strconv.AppendBool(w.buf, b)
	case b:
		w.put(smile.True)
	default:
		w.put(smile.False)
	}
}

func (w *writer) null() {
	if w.smile {
		w.put(smile.Null)
		return
	}
	w.raw("null")
}

// number writes the shortest decimal that tells a number apart from all others of this
// many bits.
func (w *writer) number(f float64, bits int) {
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0):
		w.fail(fmt.Errorf("JSON has no number %g", f))
	case w.smile:
		w.buf = smile.AppendNumber(w.buf, f)
	default:
		w.buf = strconv.AppendFloat(w.buf, f, 'g', -1, bits)
	}
}

// anything writes the value of a field: a string, a number or a boolean.
func (w *writer) anything(v any) {
	switch v := v.(type) {
	case string:
		w.quote(v)
	case bool:
		w.boolean(v)
	case int:
		w.integer(int64(v))
	case int64:
		w.integer(v)
	case float64:
		w.number(v, 64)
	default:
		w.fail(fmt.Errorf("a field has no values of type %T", v))
	}
}

func (w *writer) clause(q Query) {
	if q == nil {
		w.fail(errors.New("a clause is missing"))
		return
	}
	q.writeQuery(w)
}

func (w *writer) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}
