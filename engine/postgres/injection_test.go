package postgres_test

import (
	"slices"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/filter"
)

var injections = []string{
	`'; DROP TABLE chunks_1; --`, `" ; DELETE FROM knowledge_bases; --`, `x' OR '1'='1`, `$1`,
	`$$; SELECT pg_sleep(9); $$`,
	`{"a":["b"]}`, `"],"owner":["u1`, `a"}' OR TRUE --`, `\`, `%s%d`, `?`, `@>`, `E'\x27'`, "\x00", "a\x00b", "\xff\xfe",
	`${jndi}`, `/* */`, `]`, `["`, `null`, `) OR (TRUE`,
}

// TestNothingIsSQL puts what would end a string or a statement into every place
// that a caller fills in: only chunks that have just that are found, and all stay.
//
// Promise: "with every value and every field name as a bound parameter" (docs/postgresql.md).
// Promise: "with every value and every field name as a bound parameter" (docs/guide/en/postgres.md).
func TestNothingIsSQL(t *testing.T) {
	e := open(t, optionsOf(t))
	kb := baseOf(t, e, 2, []engine.Chunk{{
		ID: "plain", DocumentID: "d", Content: "word", Available: true, Owner: "u1",
		Metadata: map[string]any{"a": "b"}, Vectors: map[string][]float32{engine.FieldVector: {1, 0}},
	}})
	for _, s := range injections {
		for _, f := range filtersOf(s) {
			result, err := e.Search(t.Context(), &engine.Request{KB: kb, Filter: f, Facets: []string{s}, Legs: []engine.Leg{
				{Name: "text", Field: engine.FieldText, K: 5, Text: queryOf("word " + s)},
				{Name: "vector", Field: engine.FieldVector, K: 5, Vector: []float32{1, 0}},
			}})
			if err != nil || len(result.Hits) != 0 {
				t.Errorf("filter %+v found %+v, %v; want no error and no result.Hits", f, result, err)
			}
		}
		tryEverywhere(t, e, kb, s)
	}
	d, err := e.Describe(t.Context(), kb)
	if err != nil || d.Chunks != 1 {
		t.Errorf("in the end: %+v, %v; want no error and d.Chunks 1", d, err)
	}
}

func filtersOf(s string) []engine.Filter {
	value := filter.Value{V: s}
	conditions := []filter.Condition{
		{Field: s, In: []filter.Value{{V: "b"}}},
		{Field: "a", In: []filter.Value{value}},
		{Field: "a", In: slices.Repeat([]filter.Value{value}, 40)},
		{Field: s, Range: &filter.Range{GTE: &value}},
		{Field: "nosuch", Range: &filter.Range{GT: &value, LTE: &value}},
		{Field: "document_id", In: []filter.Value{value}},
	}
	exists := true
	conditions = append(conditions, filter.Condition{Field: s, Exists: &exists})
	filters := []engine.Filter{{IDs: []string{s}}, {Owner: s}}
	for _, c := range conditions {
		filters = append(filters, engine.Filter{Conditions: []filter.Condition{c}})
	}
	return filters
}

// tryEverywhere calls what takes ids with one that nothing has.
func tryEverywhere(t *testing.T, e engine.Engine, kb engine.KnowledgeBase, s string) {
	t.Helper()
	ctx := t.Context()
	if n, err := e.DeleteChunks(ctx, kb, []string{s}); n != 0 || err != nil {
		t.Errorf("DeleteChunks(%q): %d, %v; want n 0 and no error", s, n, err)
	}
	if n, err := e.DeleteDocument(ctx, kb, s); n != 0 || err != nil {
		t.Errorf("DeleteDocument(%q): %d, %v; want n 0 and no error", s, n, err)
	}
	if c, err := e.Chunks(ctx, engine.ChunksRequest{KB: kb, IDs: []string{s}}); len(c) != 0 || err != nil {
		t.Errorf("Chunks(%q): %v, %v; want no c and no error", s, c, err)
	}
	if _, err := e.Documents(ctx, kb, s, 5); err != nil {
		t.Errorf("Documents(%q): %v", s, err)
	}
	st, err := e.Statistics(ctx, &engine.StatisticsRequest{KB: kb, Field: engine.FieldText, Terms: []string{s}})
	if err != nil || st.DF[0] != 0 {
		t.Errorf("Statistics(%q): %v, %v; want no error and st.DF[0] 0", s, st, err)
	}
	other := kb
	other.ID = s
	if _, err := e.Describe(ctx, other); err == nil {
		t.Errorf("knowledge base %q exists; want an error", s)
	}
}

// TestStoredAsGiven writes the same texts as names and values: what can be stored
// is found by them, what cannot fails its chunk alone.
func TestStoredAsGiven(t *testing.T) {
	e := open(t, optionsOf(t))
	kb := baseOf(t, e, 2, nil)
	for _, s := range injections {
		good := engine.Chunk{ID: "good", DocumentID: "d", Content: s, Available: true}
		bad := engine.Chunk{
			ID: s, DocumentID: s, DocumentName: s, Owner: s, Available: true, Title: s, Content: "word",
			Metadata: map[string]any{s: s, "list": []any{s, 1.0}},
		}
		out, err := e.Write(t.Context(), engine.WriteRequest{KB: kb, Chunks: []engine.Chunk{good, bad}})
		if err != nil || out[0].Err != nil {
			t.Fatalf("writing %q: %+v, %v; want no error and no error", s, out, err)
		}
		if out[1].Err != nil {
			continue
		}
		found := engine.Filter{IDs: []string{s}, Owner: s, Conditions: []filter.Condition{
			{Field: s, In: []filter.Value{{V: s}}}, {Field: "list", In: []filter.Value{{V: s}}},
		}}
		leg := engine.Leg{Name: "text", Field: engine.FieldText, K: 5, Text: queryOf("word")}
		req := &engine.Request{KB: kb, Filter: found, Facets: []string{s}, Legs: []engine.Leg{leg}}
		result, err := e.Search(t.Context(), req)
		if err != nil || len(result.Hits) != 1 {
			t.Fatalf("%q: %+v, %v; want no error and 1 result.Hits", s, result, err)
		}
		if hit := result.Hits[0]; hit.ID != s || !slices.Equal(hit.Facets[s], []string{s}) {
			t.Errorf("%q found %+v", s, hit)
		}
	}
}
