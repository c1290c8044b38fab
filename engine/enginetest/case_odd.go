package enginetest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/filter"
)

func oddCases() []testCase {
	return []testCase{
		{"odd/ids and names in any script", oddNames},
		{"odd/large metadata", largeMetadata},
		{"odd/chunks without text", textless},
		{"odd/a large chunk", largeChunk},
		{"odd/cancelled context", cancelled},
		{"odd/query words like operators", operators},
		{"odd/the engine tells its name and is there", identity},
	}
}

var oddStrings = []string{
	"a/b/c", `quote " and ' and \ back`, "中文标识", "😀👩‍👩‍👧", "with space", "ümläut", "*?[a-z]", "AND OR NOT", "{\"json\":1}",
	"a,b;c", "%00%2F", "'; DROP TABLE chunks; --", "..", "-leading", "_id", "tab\there", strings.Repeat("long", 60),
}

func oddNames(t *testing.T, s *suite) {
	b := s.base(t, schema{Dimensions: 2})
	var chunks []engine.Chunk
	for _, name := range oddStrings {
		c := passage(name, "word", 1, 0)
		c.DocumentID, c.DocumentName, c.Owner = "doc "+name, name, name
		c.Metadata = map[string]any{"value": name}
		chunks = append(chunks, c)
	}
	b.write(chunks...)
	for _, name := range oddStrings {
		one := []string{name}
		same(t, "by id", b.ids(words(99, "word"), engine.Filter{IDs: one}), one)
		same(t, "by owner", b.ids(words(99, "word"), engine.Filter{Owner: name}), one)
		for field, value := range map[string]string{"document_name": name, "document_id": "doc " + name, "value": name} {
			filter := engine.Filter{Conditions: []filter.Condition{in(field, value)}}
			same(t, "by "+field, b.ids(near(99, 1, 0), filter), one)
		}
		if c := b.chunk(name); c.DocumentName != name || c.ID != name {
			t.Errorf("%q came back as %+v", name, c)
		}
	}
	if n, err := s.engine.DeleteChunks(t.Context(), b.kb, oddStrings); err != nil || n != len(oddStrings) {
		t.Errorf("deleting gave %d, %v", n, err)
	}
}

func largeMetadata(t *testing.T, s *suite) {
	b := s.base(t, schema{})
	c := passage("a", "word")
	var many []any
	for i := range 2000 {
		many = append(many, fmt.Sprint("value ", i))
	}
	c.Metadata = map[string]any{"many": many, "long": strings.Repeat("x", 5000), "odd key. with / and \"": "v"}
	b.write(c)
	for field, value := range map[string]string{
		"many": "value 1999", "long": strings.Repeat("x", 5000), "odd key. with / and \"": "v",
	} {
		filter := engine.Filter{Conditions: []filter.Condition{in(field, value)}}
		same(t, field, b.ids(words(1, "word"), filter), []string{"a"})
	}
	if got := b.chunk("a").Metadata; len(got) != 3 || len(got["many"].([]any)) != 2000 {
		t.Errorf("metadata came back with %d members", len(got))
	}
}

// textless chunks are found by their vector and do not count as documents of
// the text index.
func textless(t *testing.T, s *suite) {
	b := s.base(t, schema{Dimensions: 2})
	b.write(passage("empty", "", 1, 0), passage("blank", "  ", 0, 1), passage("word", "word", -1, 0))
	same(t, "vector", b.ids(near(5, 1, 0), engine.Filter{}), []string{"empty", "blank", "word"})
	same(t, "text", b.ids(words(5, "word"), engine.Filter{}), []string{"word"})
	st := b.statistics(engine.StatisticsRequest{Field: engine.FieldText, Terms: []string{"word"}})
	if st.Docs != 1 || st.AverageLength != 1 {
		t.Errorf("statistics %+v; want one chunk with one token", st)
	}
}

func largeChunk(t *testing.T, s *suite) {
	b := s.base(t, schema{})
	b.write(passage("big", strings.Repeat("many words in here ", 20000)+"needle"), passage("small", "needle"))
	same(t, "hits", b.ids(words(5, "needle"), engine.Filter{}), []string{"small", "big"})
}

func cancelled(t *testing.T, s *suite) {
	b := s.base(t, schema{Dimensions: 2})
	b.write(passage("a", "word", 1, 0))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	late := engine.WriteRequest{KB: b.kb, Chunks: []engine.Chunk{passage("b", "word")}}
	if _, err := s.engine.Write(ctx, late); err == nil {
		t.Error("a write succeeded after its context had ended")
	}
	same(t, "the next search", b.ids(words(5, "word"), engine.Filter{}), []string{"a"})
}

func operators(t *testing.T, s *suite) {
	b := s.base(t, schema{})
	text := `+a && b || !c ( ) { } [ ] ^ " ~ * ? : \ / <script>`
	b.write(passage("a", text))
	same(t, "all of them", b.ids(words(5, text), engine.Filter{}), []string{"a"})
	same(t, "a wildcard is a word", b.ids(words(5, "scr* +* ?a"), engine.Filter{}), []string{})
}

func identity(t *testing.T, s *suite) {
	if err := s.engine.Ping(t.Context()); err != nil {
		t.Errorf("ping: %v", err)
	}
	c := s.engine.Capabilities()
	if s.engine.Name() == "" || c.MaxDims < 4096 || len(c.Analyzers) == 0 {
		t.Errorf("engine %q says of itself %+v", s.engine.Name(), c)
	}
}
