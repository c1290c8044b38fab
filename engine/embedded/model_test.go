package embedded_test

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/embedded"
	"github.com/hybridge-search/hybridge/engine/enginetest"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/filter"
	"github.com/hybridge-search/hybridge/textquery"
)

// model is what a knowledge base must hold: chunks by id, and nothing else.
type model map[string]engine.Chunk

// TestModel runs random writes, replacements, deletes and new starts on an
// engine and on a map of chunks, and wants random searches to find the same.
//
// Promise: "a filter never costs a hit" (docs/guide/en/embedded.md).
func TestModel(t *testing.T) {
	m := &machine{t: t, dir: t.TempDir()}
	m.engine = open(t, m.dir)
	defer func() { mustClose(t, m.engine) }()
	count := 0
	rapid.Check(t, func(r *rapid.T) {
		count++
		m.model, m.kb = model{}, testKB
		m.kb.ID = fmt.Sprint("kb", count)
		if err := m.engine.CreateKnowledgeBase(t.Context(), m.kb); err != nil {
			r.Fatal(err)
		}
		r.Repeat(map[string]func(*rapid.T){
			"write":           m.write,
			"replace":         m.replace,
			"change":          m.change,
			"delete chunks":   m.deleteChunks,
			"delete document": m.deleteDocument,
			"start again":     m.restart,
			"":                m.look,
		})
		if err := m.engine.DeleteKnowledgeBase(t.Context(), m.kb.Ref); err != nil {
			r.Fatal(err)
		}
	})
}

type machine struct {
	t      *testing.T
	engine *embedded.Engine
	dir    string
	kb     engine.KnowledgeBase
	model  model
}

// restart is dear, so only some of the steps that could be one are.
func (m *machine) restart(r *rapid.T) {
	if rapid.IntRange(0, 7).Draw(r, "really") > 0 {
		return
	}
	if err := m.engine.Close(); err != nil {
		r.Fatal(err)
	}
	e, err := embedded.Open(m.t.Context(), embedded.Options{Path: m.dir, Tokenizer: enginetest.Words{}})
	if err != nil {
		r.Fatal(err)
	}
	m.engine = e
}

var (
	someID       = rapid.Map(rapid.IntRange(0, 30), func(i int) string { return fmt.Sprintf("c%02d", i) })
	someDocument = rapid.SampledFrom([]string{"d1", "d2", "d3"})
	someWord     = rapid.SampledFrom([]string{"red", "fox", "blue", "whale", "sea"})
	someValue    = rapid.SampledFrom([]any{"x", "y", 1.0, 2.5, true, false, "2", "2026-01-31"})
	someVector   = rapid.SliceOfN(rapid.Float32Range(-2, 2), 2, 2)
)

var someChunk = rapid.Custom(func(r *rapid.T) engine.Chunk {
	c := engine.Chunk{
		ID: someID.Draw(r, "id"), DocumentID: someDocument.Draw(r, "document"),
		Content:   strings.Join(rapid.SliceOfN(someWord, 0, 6).Draw(r, "content"), " "),
		Available: rapid.IntRange(0, 5).Draw(r, "hidden") > 0,
		Owner:     rapid.SampledFrom([]string{"", "u1", "u2"}).Draw(r, "owner"),
	}
	if list := rapid.SliceOfN(someValue, 0, 3).Draw(r, "values"); len(list) > 0 {
		c.Metadata = map[string]any{"many": list, "one": list[0]}
	}
	if rapid.IntRange(0, 4).Draw(r, "mute") > 0 {
		c.Vectors = map[string][]float32{engine.FieldVector: someVector.Draw(r, "vector")}
	}
	return c
})

func (m *machine) write(r *rapid.T) {
	chunks := rapid.SliceOfN(someChunk, 1, 8).Draw(r, "chunks")
	outcomes, err := m.engine.Write(m.t.Context(), engine.WriteRequest{KB: m.kb, Chunks: chunks})
	if err != nil {
		r.Fatal(err)
	}
	for i, c := range chunks {
		if stored, known := m.model[c.ID]; known && stored.DocumentID != c.DocumentID {
			if !fault.Is(outcomes[i].Err, fault.Conflict) {
				r.Fatalf("outcome of %s, which is of another document, is %+v; want an error of kind Conflict", c.ID, outcomes[i])
			}
			continue
		}
		m.put(r, c, outcomes[i])
	}
}

func (m *machine) put(r *rapid.T, c engine.Chunk, o engine.WriteOutcome) {
	want := engine.Created
	if _, known := m.model[c.ID]; known {
		want = engine.Updated
	}
	if o.Status != want || o.ID != c.ID {
		r.Fatalf("outcome of %s is %+v, want %s", c.ID, o, want)
	}
	m.model[c.ID] = c
}

func (m *machine) replace(r *rapid.T) {
	document := someDocument.Draw(r, "document")
	chunks := rapid.SliceOfN(someChunk, 0, 4).Draw(r, "chunks")
	for i := range chunks {
		chunks[i].DocumentID = document
	}
	outcomes, err := m.engine.ReplaceDocument(m.t.Context(), document, engine.WriteRequest{KB: m.kb, Chunks: chunks})
	if slices.ContainsFunc(chunks, func(c engine.Chunk) bool {
		stored, known := m.model[c.ID]
		return known && stored.DocumentID != document
	}) {
		if _, refused := engine.AsRefused(err); !refused {
			r.Fatalf("a document with a chunk of another one: %v; want refused", err)
		}
		return
	}
	if err != nil {
		r.Fatal(err)
	}
	kept := map[string]bool{}
	for i, c := range chunks {
		m.put(r, c, outcomes[i])
		kept[c.ID] = true
	}
	maps.DeleteFunc(m.model, func(id string, c engine.Chunk) bool { return c.DocumentID == document && !kept[id] })
}

func (m *machine) deleteChunks(r *rapid.T) {
	ids := rapid.SliceOfNDistinct(someID, 0, 5, rapid.ID).Draw(r, "ids")
	before := len(m.model)
	for _, id := range ids {
		delete(m.model, id)
	}
	n, err := m.engine.DeleteChunks(m.t.Context(), m.kb, ids)
	if err != nil || n != before-len(m.model) {
		r.Fatalf("deleted %d, %v, want %d", n, err, before-len(m.model))
	}
}

// change edits chunks in the ways that there are.
func (m *machine) change(r *rapid.T) {
	ids := rapid.SliceOfN(someID, 0, 8).Draw(r, "ids")
	verdict := rapid.SampledFrom([]engine.Verdict{engine.Keep, engine.Put, engine.Put, engine.Remove}).Draw(r, "verdict")
	some := someChunk.Draw(r, "as")
	outcomes, err := m.engine.ChangeChunks(m.t.Context(), engine.ChangeRequest{
		KB: m.kb, IDs: ids, Edit: func(c *engine.Chunk) (engine.Verdict, error) {
			c.Content, c.Metadata, c.Available, c.Vectors = some.Content, some.Metadata, some.Available, some.Vectors
			return verdict, nil
		},
	})
	if err != nil {
		r.Fatal(err)
	}
	for i, id := range ids {
		stored, known := m.model[id]
		want := verdict
		if !known {
			want = engine.Missing
		}
		if outcomes[i].ID != id || outcomes[i].Verdict != want || outcomes[i].Err != nil {
			r.Fatalf("outcome of %s is %+v, want %d", id, outcomes[i], want)
		}
		switch want {
		case engine.Put:
			stored.Content, stored.Metadata = some.Content, some.Metadata
			stored.Available, stored.Vectors = some.Available, some.Vectors
			m.model[id] = stored
		case engine.Remove:
			delete(m.model, id)
		case engine.Keep, engine.Missing:
		}
	}
	condition := someCondition.Draw(r, "selected")
	var selected []string
	for id, c := range m.model {
		if condition.Matches(&c) {
			selected = append(selected, id)
		}
	}
	slices.Sort(selected)
	got, err := m.engine.SelectChunks(m.t.Context(),
		engine.SelectRequest{KB: m.kb, Conditions: []filter.Condition{condition}, Limit: 7})
	if err != nil || !slices.Equal(got, selected[:min(7, len(selected))]) {
		r.Fatalf("selected %v, %v; want the first seven of %v", got, err, selected)
	}
}

func (m *machine) deleteDocument(r *rapid.T) {
	document, before := someDocument.Draw(r, "document"), len(m.model)
	maps.DeleteFunc(m.model, func(_ string, c engine.Chunk) bool { return c.DocumentID == document })
	n, err := m.engine.DeleteDocument(m.t.Context(), m.kb, document)
	if err != nil || n != before-len(m.model) {
		r.Fatalf("deleted %d, %v, want %d", n, err, before-len(m.model))
	}
}

var someFilter = rapid.Custom(func(r *rapid.T) engine.Filter {
	f := engine.Filter{Owner: rapid.SampledFrom([]string{"", "", "u1"}).Draw(r, "owner")}
	if rapid.IntRange(0, 3).Draw(r, "with ids") == 0 {
		f.IDs = rapid.SliceOfN(someID, 0, 10).Draw(r, "ids")
	}
	for range rapid.IntRange(0, 2).Draw(r, "conditions") {
		f.Conditions = append(f.Conditions, someCondition.Draw(r, "condition"))
	}
	if rapid.IntRange(0, 3).Draw(r, "with words") == 0 {
		f.Required = []textquery.Phrase{{Terms: []string{someWord.Draw(r, "required")}}}
		f.Excluded = []textquery.Phrase{{Terms: []string{someWord.Draw(r, "excluded")}}}
	}
	return f
})

var someCondition = rapid.Custom(func(r *rapid.T) filter.Condition {
	c := filter.Condition{
		Field: rapid.SampledFrom([]string{"one", "many", "document_id", "owner", "nosuch"}).Draw(r, "field"),
		Not:   rapid.Bool().Draw(r, "not"),
	}
	value := func(name string) *filter.Value {
		if rapid.Bool().Draw(r, "has "+name) {
			return &filter.Value{V: someValue.Draw(r, name)}
		}
		return nil
	}
	switch rapid.IntRange(0, 2).Draw(r, "kind") {
	case 0:
		exists := rapid.Bool().Draw(r, "exists")
		c.Exists = &exists
	case 1:
		c.Range = &filter.Range{GT: value("gt"), GTE: value("gte"), LT: value("lt"), LTE: value("lte")}
	default:
		for range rapid.IntRange(0, 3).Draw(r, "values") {
			c.In = append(c.In, filter.Value{V: someValue.Draw(r, "value")})
		}
		c.In = append(c.In, filter.Value{V: someDocument.Draw(r, "document")})
	}
	return c
})

// passes is a filter told plainly.
func passes(f *engine.Filter, c *engine.Chunk) bool {
	tokens := strings.Fields(c.Content)
	ok := c.Available && (f.Owner == "" || c.Owner == f.Owner) && (f.IDs == nil || slices.Contains(f.IDs, c.ID))
	for i := range f.Conditions {
		ok = ok && f.Conditions[i].Matches(c)
	}
	for _, p := range f.Required {
		ok = ok && slices.Contains(tokens, p.Terms[0])
	}
	for _, p := range f.Excluded {
		ok = ok && !slices.Contains(tokens, p.Terms[0])
	}
	return ok
}

func (m *machine) look(r *rapid.T) {
	m.search(r)
	m.fetch(r)
}

// fetch reads chunks, some of which are hidden or not there.
func (m *machine) fetch(r *rapid.T) {
	req := engine.ChunksRequest{
		KB: m.kb, IDs: rapid.SliceOfN(someID, 0, 20).Draw(r, "fetched"), Hidden: rapid.Bool().Draw(r, "with hidden"),
	}
	chunks, err := m.engine.Chunks(m.t.Context(), req)
	if err != nil {
		r.Fatal(err)
	}
	var got, want []string
	for _, c := range chunks {
		got = append(got, fmt.Sprint(c.ID, c.DocumentID, c.Content, c.Metadata, c.Owner, c.Available))
	}
	for _, id := range req.IDs {
		if c, exists := m.model[id]; exists && (c.Available || req.Hidden) {
			want = append(want, fmt.Sprint(c.ID, c.DocumentID, c.Content, c.Metadata, c.Owner, c.Available))
		}
	}
	if !slices.Equal(got, want) {
		r.Fatalf("read %q, want %q", got, want)
	}
}

func (m *machine) search(r *rapid.T) {
	filter, word := someFilter.Draw(r, "filter"), someWord.Draw(r, "word")
	query, k := someVector.Draw(r, "query"), rapid.IntRange(0, 40).Draw(r, "k")
	result, err := m.engine.Search(m.t.Context(), &engine.Request{KB: m.kb, Filter: filter, Legs: []engine.Leg{
		{Name: "text", Field: engine.FieldText, K: 100, Text: &textquery.Query{Terms: []textquery.Term{{Text: word, Weight: 1}}}},
		{Name: "vector", Field: engine.FieldVector, K: k, Vector: query},
	}})
	if err != nil {
		r.Fatal(err)
	}
	var texts, vectors []string
	cosines := map[string]float64{}
	for _, id := range slices.Sorted(maps.Keys(m.model)) {
		c := m.model[id]
		if !passes(&filter, &c) {
			continue
		}
		if slices.Contains(strings.Fields(c.Content), word) {
			texts = append(texts, id)
		}
		if cosine := cosineOf(c.Vectors[engine.FieldVector], query); !math.IsNaN(cosine) {
			vectors = append(vectors, id)
			cosines[id] = cosine
		}
	}
	slices.SortStableFunc(vectors, func(a, b string) int { return cmp.Compare(cosines[b], cosines[a]) })
	if got := ranked(result, 0); !slices.Equal(slices.Sorted(slices.Values(got)), texts) {
		r.Fatalf("%q found %q, want %q", word, got, texts)
	}
	checkCosines(r, result, vectors[:min(k, len(vectors))], cosines)
}

// checkCosines compares by cosine, as nearly equal ones may change places.
func checkCosines(r *rapid.T, result *engine.Result, want []string, cosines map[string]float64) {
	got := ranked(result, 1)
	if len(got) != len(want) {
		r.Fatalf("the vector leg returned %q, want %q", got, want)
	}
	for i := range got {
		if math.Abs(cosines[got[i]]-cosines[want[i]]) > 1e-6 {
			r.Fatalf("rank %d is %s (%v), want %s (%v)", i+1, got[i], cosines[got[i]], want[i], cosines[want[i]])
		}
	}
}

func cosineOf(a, b []float32) float64 {
	var dot, aa, bb float64
	for i := range a {
		dot += float64(a[i]) * float64(b[i])
		aa += float64(a[i]) * float64(a[i])
		bb += float64(b[i]) * float64(b[i])
	}
	return dot / math.Sqrt(aa*bb) // NaN when either is missing or zero
}

func ranked(result *engine.Result, leg int) []string {
	hits := slices.DeleteFunc(slices.Clone(result.Hits), func(h engine.Hit) bool { return h.Observations[leg].Rank == 0 })
	slices.SortFunc(hits, func(a, b engine.Hit) int {
		return cmp.Compare(a.Observations[leg].Rank, b.Observations[leg].Rank)
	})
	ids := make([]string, len(hits))
	for i := range hits {
		ids[i] = hits[i].ID
	}
	return ids
}
