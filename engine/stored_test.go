package engine

import (
	"encoding/json"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/hybridge-search/hybridge/internal/brief"
	_ "github.com/hybridge-search/hybridge/internal/properties" // fewer cases in make test
)

// TestDecodeStored wants of stored chunks what encoding/json makes of them.
func TestDecodeStored(t *testing.T) {
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "\xff", "<a> & \u2028", "\"\\\n\x00", "退款"}))
	value := rapid.OneOf(
		rapid.Map(text, func(s string) any { return s }),
		rapid.Map(rapid.Float64Range(-1e300, 1e300), func(x float64) any { return x }),
		rapid.Map(rapid.Bool(), func(b bool) any { return b }),
		rapid.Map(rapid.SliceOf(text), func(all []string) any { return all }),
		rapid.Just[any](nil),
	)
	number := rapid.SliceOf(rapid.SliceOf(rapid.Float64Range(-1e9, 1e9)))
	rapid.Check(t, func(r *rapid.T) {
		c := Chunk{
			ID: text.Draw(r, "id"), DocumentID: text.Draw(r, "document"), DocumentName: text.Draw(r, "name"),
			Ordinal: rapid.Int().Draw(r, "ordinal"), Title: text.Draw(r, "title"), Content: text.Draw(r, "content"),
			Positions: number.Draw(r, "positions"), Metadata: rapid.MapOf(text, value).Draw(r, "metadata"),
			Owner: text.Draw(r, "owner"), Available: rapid.Bool().Draw(r, "available"),
		}
		if rapid.Bool().Draw(r, "pair") {
			c.QA = &QA{Question: text.Draw(r, "question"), Answer: text.Draw(r, "answer"), Date: text.Draw(r, "date")}
		}
		sameDecoded(r, &c)
	})
	sameDecoded(t, &Chunk{Metadata: map[string]any{"\xff": []string{}, "\ufffd": "text"}})
	kb := KnowledgeBase{Kind: KindQA}
	if c, err := kb.DecodeStored([]byte("{}")); err != nil || c.QA == nil {
		t.Errorf("a pair: %+v, %v; want no error and a c.QA", c, err)
	}
	for _, broken := range []string{"", "{", "[]", `{"id":1}`, "{} {}", `{"metadata":{"a":01}}`} {
		if _, err := kb.DecodeStored([]byte(broken)); err == nil {
			t.Errorf("%q is no chunk", broken)
		}
	}
}

func sameDecoded(t rapid.TB, c *Chunk) {
	t.Helper()
	body, err := EncodeStored(c)
	if err != nil {
		t.Fatal(err)
	}
	var want Chunk
	if err := json.Unmarshal(body, &want); err != nil {
		t.Fatal(err)
	}
	if got, err := new(KnowledgeBase).DecodeStored(body); err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("%s: %v\ngot  %+v\nwant %+v", brief.Of(body), err, got, want)
	}
}
