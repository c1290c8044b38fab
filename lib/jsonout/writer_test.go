package jsonout

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/hybridge-search/hybridge/internal/brief"
	_ "github.com/hybridge-search/hybridge/internal/properties" // fewer cases in make test
)

// inner is embedded; encoding/json writes its members among those around them.
type inner struct {
	Note string `json:"note,omitempty"`
	Page int    `json:"page,omitempty"`
}

// sample has a member of every kind that a Writer writes.
type sample struct {
	Name   string             `json:"name"`
	Set    bool               `json:"set"`
	Count  int                `json:"count"`
	Score  float64            `json:"score"`
	Best   *float64           `json:"best"`
	Tags   []string           `json:"tags"`
	Times  map[string]float64 `json:"times"`
	Values map[string]any     `json:"values"`
	inner
}

func (s *sample) write(to []byte) ([]byte, error) {
	w := New(to)
	w.String(`{"name":`, s.Name)
	w.Bool(`,"set":`, s.Set)
	w.Int(`,"count":`, s.Count)
	w.Float(`,"score":`, s.Score)
	Optional(w, `,"best":`, s.Best, w.Float)
	List(w, `,"tags":`, s.Tags, func(tag *string) { w.String("", *tag) })
	Map(w, `,"times":`, s.Times, w.Float)
	Map(w, `,"values":`, s.Values, w.Any)
	w.Members(&s.inner)
	w.Raw("}")
	return w.Bytes()
}

// encoded is what encoding/json makes of a value.
func encoded(t *rapid.T, value any) string {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(text.String(), "\n")
}

func TestAWriterWritesAsEncodingJSON(t *testing.T) {
	number := rapid.OneOf(
		rapid.Float64Range(-10, 10), rapid.Float64(),
		rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 1e-6, 1e-7, 1e20, 1e21, 0.1, 1.0 / 3}),
	)
	text := rapid.OneOf(
		rapid.String(), rapid.StringMatching(`[\x00-\x1f<>&"\\/a-z退款\x{2028}\x{2029}😀]*`),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
	)
	var anything *rapid.Generator[any]
	anything = rapid.Deferred(func() *rapid.Generator[any] {
		return rapid.OneOf(
			number.AsAny(), text.AsAny(), rapid.Bool().AsAny(), rapid.Just[any](nil), rapid.Int().AsAny(),
			rapid.SliceOfN(anything, 0, 3).AsAny(), rapid.MapOfN(text, anything, 0, 3).AsAny(),
		)
	})
	rapid.Check(t, func(t *rapid.T) {
		s := sample{
			Name: text.Draw(t, "name"), Set: rapid.Bool().Draw(t, "set"), Count: rapid.Int().Draw(t, "count"),
			Score: number.Draw(t, "score"), Best: rapid.Ptr(number, true).Draw(t, "best"),
			inner: inner{Note: text.Draw(t, "note"), Page: rapid.IntRange(0, 2).Draw(t, "page")},
		}
		if rapid.Bool().Draw(t, "filled") { // else nil
			s.Tags = rapid.SliceOfN(text, 0, 3).Draw(t, "tags")
			s.Times = rapid.MapOfN(text, number, 0, 10).Draw(t, "times")
			s.Values = rapid.MapOfN(text, anything, 0, 4).Draw(t, "values")
		}
		got, err := s.write([]byte("before "))
		if want := "before " + encoded(t, &s); err != nil || string(got) != want {
			t.Fatalf("%v\ngot  %s\nwant %s", err, brief.Of(got), want)
		}
	})
}

func TestWhatHasNoJSONIsAnError(t *testing.T) {
	for name, write := range map[string]func(*Writer){
		"NaN":      func(w *Writer) { w.Float("", math.NaN()) },
		"infinite": func(w *Writer) { w.Any("", []any{math.Inf(-1)}) },
		"channel":  func(w *Writer) { w.Any("", make(chan int)) },
		"members":  func(w *Writer) { w.Members(map[string]any{"a": math.NaN()}) },
	} {
		w := New(nil)
		write(w)
		w.Int("", 1)
		if got, err := w.Bytes(); err == nil {
			t.Errorf("%s is written as %s; want an error", name, brief.Of(got))
		}
	}
}
