package smile

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/hybridge-search/hybridge/internal/brief"
)

// FuzzJSON: what encoding/json reads, the reader reads alike; on anything else
// it ends.
func FuzzJSON(f *testing.F) {
	for _, seed := range []string{
		`{"a": [1, -2.5e3, true, null, "x"], "退款": {"": []}}`, ` [ ] `, `"\"\\\u00e9\ud83d\ude00\n"`, `"a\"`, `{"a" 1}`,
		`[1,]`, `[1 2]`, `{"a": }`, `nul`, `"\ud800"`, `[[[`, `]`, `{"a":1}}`, "", "\x00", `"\`, `[{"a":"\\"}]`,
		`["\"\"a\\","\\\"b","\\","\""]`, `"\\"a"`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := &jsonReader{text: text}
		got := r.any()
		err := r.End()
		skipped := &jsonReader{text: text}
		skipped.Raw()
		var want any
		if !utf8.ValidString(text) || json.Unmarshal([]byte(text), &want) != nil {
			return
		}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%q: %v, (-encoding/json +reader)\n%s; want diff \"\" and no error", text, err, diff)
		}
		if err := skipped.End(); err != nil {
			t.Errorf("%q is not skipped: %v", text, err)
		}
	})
}

// TestManyEscapes: the time grows with the length of a text, not with its square.
func TestManyEscapes(t *testing.T) {
	for _, escape := range []string{`\n`, `\"`, `\\`, `\u4e2d`} {
		text := `"` + strings.Repeat(escape, 2<<20) + `"`
		r := &jsonReader{text: text}
		began := time.Now()
		if raw := r.Raw(); len(raw) != len(text) || r.End() != nil {
			t.Errorf("%s: %d of %d bytes, %v", escape, len(raw), len(text), r.err)
		}
		if took := time.Since(began); took > 10*time.Second { // half an hour by the square
			t.Errorf("%s: %v; want took at most 10 * time.Second", escape, took)
		}
	}
}

func TestDocValuesAsText(t *testing.T) {
	f := func(value, want string) {
		t.Helper()
		r := &jsonReader{text: value}
		if got := r.Value(); got != want || r.End() != nil {
			t.Errorf("%s: got %q, want %q, %v", value, got, want, r.err)
		}
	}
	f(`"a\tb"`, "a\tb")
	f(`3`, "3")
	f(`3.0`, "3")
	f(`-0.25`, "-0.25")
	f(`1.0E10`, "10000000000")
	f(`9007199254740993`, "9007199254740993")
	f(`true`, "true")
}

func TestSmileScalars(t *testing.T) {
	f := func(encoded, want string) {
		t.Helper()
		text := Header + "\x05" + encoded
		r := New(text)
		if got := r.Value(); got != want || r.End() != nil {
			t.Errorf("%x: got %q, want %q, %v", encoded, got, want, r.End())
		}
	}
	f("\x20", "")
	f("\x21", "null")
	f("\x22", "false")
	f("\x23", "true")
	f("\xC0", "0")
	f("\xC1", "-1")
	f("\xDF", "-16")
	f("\x24\xA0", "16")
	f("\x24\x01\x80", "32")
	f("\x25\x1F\x7F\x7F\x7F\x7F\x7F\x7F\x7F\x7F\xBF", "-9223372036854775808")
	f("\x26\x81\x00\x01", "1")
	f("\x28\x03\x7C\x00\x00\x00", "1")
	f("\x28\x03\x6A\x33\x19\x4D", "0.05")
	f("\x29\x00\x3F\x78\x00\x00\x00\x00\x00\x00\x00", "1")
	f("\x41ab", "ab")
	f("\x80é", "é")
	f("\xE0long\xFC", "long")
	f("\xE4长\xFC", "长")
}

// TestNamesBeginAnew: after too many, a number is that of a name after them.
func TestNamesBeginAnew(t *testing.T) {
	var text strings.Builder
	text.WriteString(Header + "\x01\xFA\x82one\x21")
	for range maxNames {
		text.WriteString("\x82two\x21")
	}
	text.WriteString("\x40\x21\xFB")
	var last string
	err := Read(text.String(), func(r Reader) {
		for r.Object(); r.More(); r.Skip() {
			last = r.Name()
		}
	})
	if last != "two" || err != nil {
		t.Errorf(`got %q, %v; want last "two" and no error`, last, err)
	}
}

// hits are three alike, of which the first spells all names out.
const hits = "\xFA\x83hits\xFA\x40\xF8" +
	"\xFA\x85_score\x28\x03\x7C\x00\x00\x00\x85fields\xFA\x81id\xF8\x42one\xF9\xFB" +
	"\x8Ematched_queries\xFA\x83leg0\x28\x03\x7C\x00\x00\x00\xFB\xFB" +
	"\xFA\x41\x28\x03\x7B\x00\x00\x00\x42\xFA\x43\xF8\x42one\xF9\xFB\x44\xFA\x45\x28\x03\x7C\x00\x00\x00\xFB\xFB" +
	"\xFA\x41\x28\x03\x7A\x00\x00\x00\x42\xFA\x43\xF8\x42two\xF9\xFB\x44\xFA\xFB\xFB" +
	"\xF9\xFB\xFB"

// FuzzSmile: on whatever comes it ends, and what it wrote as JSON is JSON.
func FuzzSmile(f *testing.F) {
	for _, seed := range []string{
		"", "\xFA\xFB", "\xFA\x81ab\xF8\x21\xF9\x40\x41ab\xFB", "\xF8\xFA", "\xFA\x30\x05\x21\xFB", "\xFB", "\x26\xBF\x00",
		"\x26\x7F\x7F\x7F\x7F\x7F\x7F\x7F\x7F\x7F\xBF", "\xE0", "\xFF", "\x28\x37\xFF000", "\xFA\x34n\xFC\x28\x00\x00\x00\x00\x00\xFB", "\x29\x00",
		hits, hits[:60], strings.ReplaceAll(hits, "\xF8\x42one\xF9", "\xF8\x42one\x42two\xF9"),
		strings.ReplaceAll(hits, "\x44\xF8\x42one\xF9", "\x44\x42one"), strings.ReplaceAll(hits, "\xF8\x42one\xF9", "\xF8\x86h\xC3\xA9h\xC3\xA9h\xC3\xA9\xF9"),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, encoded string) {
		text := Header + "\x05" + encoded
		r := New(text)
		raw := r.Raw()
		if r.End() == nil && !json.Valid([]byte(raw)) {
			t.Errorf("%x: %q is not JSON", encoded, brief.Of(raw))
		}
		skipping := New(text)
		skipping.Skip()
		if (skipping.End() == nil) != (r.End() == nil) {
			t.Errorf("%x: %v when it is skipped, %v when it is read", encoded, skipping.End(), r.End())
		}
	})
}
