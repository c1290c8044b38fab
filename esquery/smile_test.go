package esquery

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// decodedSmile gives a value in SMILE as encoding/json gives it in JSON.
func decodedSmile(t interface{ Fatalf(string, ...any) }, text string) any {
	rest, ok := strings.CutPrefix(text, smileHeader)
	r := &smileDecoder{text: rest}
	v := r.value()
	if !ok || r.text != "" || strings.Contains(text, "\xff") {
		t.Fatalf("%q is not one value: %q is left", text, r.text)
	}
	return v
}

type smileDecoder struct{ text string }

func (r *smileDecoder) take(n int) string {
	taken := r.text[:n]
	r.text = r.text[n:]
	return taken
}

func (r *smileDecoder) value() any {
	token := r.take(1)[0]
	switch token {
	case smileFalse, smileTrue:
		return token == smileTrue
	case smileInt32, smileInt64:
		return r.integer()
	case smileFloat32:
		return float64(math.Float32frombits(uint32(r.bits(5))))
	case smileFloat64:
		return math.Float64frombits(r.bits(10))
	case smileObject:
		all := object{}
		for r.text[0] != smileObjectEnd {
			name := r.name()
			all[name] = r.value()
		}
		r.take(1)
		return all
	case smileList:
		all := []any{}
		for r.text[0] != smileListEnd {
			all = append(all, r.value())
		}
		r.take(1)
		return all
	default:
		if token == smileLongASCII || token == smileLongText {
			return r.long()
		}
		return r.words(token, shortASCII, shortText)
	}
}

func (r *smileDecoder) name() string {
	token := r.take(1)[0]
	if token == smileLongName {
		return r.long()
	}
	return r.words(token, asciiName, textName)
}

func (r *smileDecoder) long() string {
	long, rest, _ := strings.Cut(r.text, string([]byte{smileTextEnd}))
	r.text = rest
	return long
}

func (r *smileDecoder) words(token byte, ascii, text smileShort) string {
	switch {
	case token == smileEmpty:
		return ""
	case token >= text.token:
		return r.take(int(token-text.token) + text.least)
	default:
		return r.take(int(token-ascii.token) + ascii.least)
	}
}

func (r *smileDecoder) integer() float64 {
	var n uint64
	for r.text[0] < 0x80 {
		n = n<<7 | uint64(r.take(1)[0])
	}
	n = n<<6 | uint64(r.take(1)[0]&0x3F)
	return float64(int64(n>>1) ^ -int64(n&1))
}

func (r *smileDecoder) bits(n int) (all uint64) {
	for _, b := range []byte(r.take(n)) {
		all = all<<7 | uint64(b)
	}
	return all
}

// inSmile gives whole numbers beyond int64 as text.
func inSmile(v any) any {
	switch v := v.(type) {
	case object:
		for name := range v {
			v[name] = inSmile(v[name])
		}
	case []any:
		for i := range v {
			v[i] = inSmile(v[i])
		}
	case float64:
		if math.Abs(v) >= 1<<63 && math.Abs(v) < 1e21 {
			return strconv.FormatFloat(v, 'f', -1, 64)
		}
	}
	return v
}

// TestSmileKeepsEveryNumber: vectors bit by bit, whole numbers whole.
func TestSmileKeepsEveryNumber(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.OneOf(rapid.Float32(), rapid.Float32Range(-1, 1)).Draw(t, "x")
		n := rapid.OneOf(rapid.Int64(), rapid.Int64Range(-100, 100)).Draw(t, "n")
		f := rapid.OneOf(rapid.Float64(), rapid.Just(9.3e18), rapid.Just(-1e20), rapid.Just(1e21)).Draw(t, "f")
		w := &writer{smile: true}
		w.begin()
		w.vector("x", []float32{x})
		w.any("n", n)
		w.any("f", f)
		w.end()
		got := decodedSmile(t, string(w.buf)).(object)
		if vector := got["x"].([]any); math.Float32bits(float32(vector[0].(float64))) != math.Float32bits(x) {
			t.Errorf("%g is read as %v", x, vector)
		}
		if got["n"] != float64(n) || got["f"] != inSmile(f) {
			t.Errorf("%d, %g are read as %v", n, f, got)
		}
	})
}

func TestSmileTextsOfAnyLength(t *testing.T) {
	for n := range 150 {
		for _, text := range []string{strings.Repeat("x", n), strings.Repeat("x", n) + "退", strings.Repeat("é", n)} {
			w := &writer{smile: true}
			w.begin(text)
			w.text("value", text)
			w.end()
			got := decodedSmile(t, string(w.buf)).(object)
			if inner, ok := got[text].(object); !ok || inner["value"] != text {
				t.Errorf("%q is read as %v", text, got)
			}
		}
	}
}
