package storage

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/internal/brief"
	_ "github.com/hybridge-search/hybridge/internal/properties" // fewer cases in make test
	"github.com/hybridge-search/hybridge/lib/smile"
	"github.com/hybridge-search/hybridge/mappings"
)

// TestChunksAreReadAsTheyAreWritten: what encoding/json writes of any chunk is read
// as encoding/json reads it.
func TestChunksAreReadAsTheyAreWritten(t *testing.T) {
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
		"", "a\nb\t\"c\\", "退款\u2028<em>&", "\xff bytes", "\\u00e9", `\`, "\ud7ff\U0001F600", "\x00\x1f",
	}))
	metadata := rapid.OneOf(rapid.Just[any](1.5), rapid.Just[any](true), rapid.Map(text, func(s string) any { return s }),
		rapid.Map(rapid.SliceOf(text), func(s []string) any { return s }), rapid.Map(rapid.Float64(), func(f float64) any { return f }),
		rapid.Map(rapid.MapOf(text, text), func(m map[string]string) any { return m }))
	pair := rapid.Custom(func(t *rapid.T) *engine.QA {
		return &engine.QA{
			Question: text.Draw(t, "question"), Answer: text.Draw(t, "answer"), FullAnswer: text.Draw(t, "full answer"),
			Summary: text.Draw(t, "summary"), URL: text.Draw(t, "url"), Category: text.Draw(t, "category"),
			Date: text.Draw(t, "date"), Group: text.Draw(t, "group"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		chunk := engine.Chunk{
			ID: text.Draw(t, "id"), DocumentID: text.Draw(t, "document"), DocumentName: text.Draw(t, "name"),
			Ordinal: rapid.Int().Draw(t, "ordinal"), Title: text.Draw(t, "title"), Content: text.Draw(t, "content"),
			Positions: rapid.SliceOf(rapid.SliceOf(rapid.Float64Range(-1e9, 1e9))).Draw(t, "positions"),
			Metadata:  rapid.MapOf(text, metadata).Draw(t, "metadata"),
			Owner:     text.Draw(t, "owner"), Available: rapid.Bool().Draw(t, "available"),
			QA: rapid.OneOf(rapid.Just[*engine.QA](nil), pair).Draw(t, "pair"),
		}
		source, err := json.Marshal(map[string]any{"id": "beside", "chunk": chunk, "vector": []float32{1}})
		if err != nil {
			t.Fatal(err)
		}
		var want struct {
			Chunk engine.Chunk `json:"chunk"`
		}
		if err := json.Unmarshal(source, &want); err != nil {
			t.Fatal(err)
		}
		var got engine.Chunk
		err = smile.Read(string(source), func(r smile.Reader) { readOwn(r, &got) })
		if diff := cmp.Diff(want.Chunk, got); diff != "" || err != nil {
			t.Fatalf("%s: %v, (-encoding/json +reader)\n%s; want diff \"\" and no error", brief.Of(source), err, diff)
		}
		c := NewPage(&Location{Names: mappings.Own(&engine.KnowledgeBase{})})
		err = smile.Read(fmt.Sprintf(`{"hits":{"hits":[{"_source":%s},{"_source":%[1]s,"_id":"x"}]}}`, source), c.Read)
		if diff := cmp.Diff([]engine.Chunk{want.Chunk, want.Chunk}, c.own); diff != "" || err != nil {
			t.Fatalf("%s: %v, (-encoding/json +answer)\n%s; want diff \"\" and no error", brief.Of(source), err, diff)
		}
	})
}

func TestChunksThatAreNone(t *testing.T) {
	f := func(source string) {
		t.Helper()
		if err := smile.Read(source, func(r smile.Reader) { readOwn(r, new(engine.Chunk)) }); err == nil {
			t.Errorf("%s is read as a chunk; want an error", source)
		}
	}
	f(``)
	f(`[]`)
	f(`{"chunk": 1}`)
	f(`{"chunk": {"id": 7}}`)
	f(`{"chunk": {"ordinal": "first"}}`)
	f(`{"chunk": {"metadata": []}}`)
	f(`{"chunk": {"content": "without an end}}`)
}
