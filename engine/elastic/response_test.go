package elastic

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/engine/elastic/rest"
	"github.com/hybridge-search/hybridge/lib/smile"
)

func TestReaderRefuses(t *testing.T) {
	f := func(text string) {
		t.Helper()
		if smile.Read(text, new(rest.SearchResponse).Read) == nil {
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

// BenchmarkReadResponse reads the response to a sum of 1,024 candidates, in both forms.
func BenchmarkReadResponse(b *testing.B) {
	var text strings.Builder
	text.WriteString(`{"took":21,"timed_out":false,"_shards":{"total":1,"failed":0},"hits":{"hits":[`)
	for i := range 1024 {
		if i > 0 {
			text.WriteByte(',')
		}
		_, _ = fmt.Fprintf(&text, `{"_score":2.021%d,"fields":{"name":["guide.md"],"id":["chunk-%d"],"document":["d-%d"]},`+
			`"matched_queries":{"leg0":5.65%d,"leg1":1.83%d}}`, i, i, i/10, i, i)
	}
	text.WriteString(`]}}`)
	p := plainPlan()
	for name, text := range map[string]string{"json": text.String(), "smile": inSmile(b, text.String())} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				a := &ranking{p: p, size: 1025}
				if err := smile.Read(text, a.Read); err != nil || len(a.hits) != 1024 {
					b.Fatal(len(a.hits), err)
				}
			}
		})
	}
}

// inSmile gives a text in JSON as SMILE.
func inSmile(tb testing.TB, text string) string {
	tb.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		tb.Fatal(err)
	}
	return string(appendSmile([]byte(smile.Start), v))
}

func appendSmile(to []byte, v any) []byte {
	switch v := v.(type) {
	case map[string]any:
		to = append(to, smile.Object)
		for name, member := range v {
			to = appendSmile(smile.AppendName(to, name), member)
		}
		return append(to, smile.ObjectEnd)
	case []any:
		to = append(to, smile.Array)
		for _, item := range v {
			to = appendSmile(to, item)
		}
		return append(to, smile.ArrayEnd)
	case bool:
		return append(to, map[bool]byte{true: smile.True, false: smile.False}[v])
	case string:
		return smile.AppendText(to, v)
	default:
		return smile.AppendNumber(to, v.(float64))
	}
}
