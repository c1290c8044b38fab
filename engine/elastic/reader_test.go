package elastic

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// FuzzReader: what encoding/json reads, the reader reads alike; on anything else
// it ends.
func FuzzReader(f *testing.F) {
	for _, seed := range []string{
		`{"a": [1, -2.5e3, true, null, "x"], "退款": {"": []}}`, ` [ ] `, `"\"\\\u00e9\ud83d\ude00\n"`, `"a\"`, `{"a" 1}`,
		`[1,]`, `[1 2]`, `{"a": }`, `nul`, `"\ud800"`, `[[[`, `]`, `{"a":1}}`, "", "\x00", `"\`, `[{"a":"\\"}]`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := &jsonReader{text: text}
		got := r.any()
		err := r.end()
		skipped := &jsonReader{text: text}
		skipped.raw()
		var want any
		if !utf8.ValidString(text) || json.Unmarshal([]byte(text), &want) != nil {
			return
		}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%q: %v, (-encoding/json +reader)\n%s", text, err, diff)
		}
		if err := skipped.end(); err != nil {
			t.Errorf("%q is not skipped: %v", text, err)
		}
	})
}

func TestReaderRefuses(t *testing.T) {
	f := func(text string) {
		t.Helper()
		r := &jsonReader{text: text}
		new(answer).read(r)
		if r.end() == nil {
			t.Errorf("%s: read without an error", text)
		}
	}
	whole := `{"took": 1, "hits": {"hits": [{"_score": 1.5, "fields": {"id": ["a\"b"]}, "matched_queries": {"leg0": 2}}]}}`
	for cut := range whole {
		f(whole[:cut])
	}
	f(whole + whole)
	f(`{"took": "long"}`)
	f(`{"hits": [1]}`)
	f(`{"hits": {"hits": [{"_score": "high"}]}}`)
	f(`{"hits": {"hits": [{"_id": 7}]}}`)
	f(`{"hits": {"hits": {}}}`)
}

func TestDocValuesAsText(t *testing.T) {
	f := func(value, want string) {
		t.Helper()
		r := &jsonReader{text: value}
		if got := r.value(); got != want || r.end() != nil {
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

// BenchmarkReadAnswer reads the answer to a sum of 1,024 candidates, in both forms.
func BenchmarkReadAnswer(b *testing.B) {
	var text strings.Builder
	text.WriteString(`{"took":21,"timed_out":false,"_shards":{"total":1,"failed":0},"hits":{"max_score":null,"hits":[`)
	for i := range 1024 {
		if i > 0 {
			text.WriteByte(',')
		}
		_, _ = fmt.Fprintf(&text, `{"_score":2.021%d,"fields":{"name":["guide.md"],"id":["chunk-%d"],"document":["d-%d"]},`+
			`"matched_queries":{"leg0":5.65%d,"leg1":1.83%d}}`, i, i, i/10, i, i)
	}
	text.WriteString(`]}}`)
	inSmile := newSmileWriter()
	inSmile.answer(1024)
	p := plainPlan()
	p.t.names.DocumentID, p.t.names.DocumentName = "document_id", "document_name"
	for name, text := range map[string]string{"json": text.String(), "smile": inSmile.String()} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				a := &ranking{p: p, size: 1025}
				if err := readWith(text, a.read); err != nil || len(a.hits) != 1024 {
					b.Fatal(len(a.hits), err)
				}
			}
		})
	}
}
