package enginetest

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

func severalVectorsCases() []testCase {
	return []testCase{
		{"vectors/the schema is told again", vectorFieldsTold},
		{"vectors/a chunk replaced without one of them", oneVectorLess},
		{"vectors/scanned with all it has", vectorsScanned},
		{"vectors/moments of each field", momentsPerField},
		{"vectors/a sum equals the points of four legs", sumOfSeveralVectors},
		{"vectors/names that are none are refused", badVectorNames},
		{"vectors/a vector of no field fails its chunk only", vectorOfNoField},
		{"vectors/shared storage", sharedVectors},
	}
}

const (
	titleVector   = "title_vector"
	summaryVector = "summary_vector"
)

// threeVectors has a field of the title, and one that is brought, beside vector.
func threeVectors(dims int) schema {
	return schema{Dimensions: dims, VectorFields: []engine.VectorField{
		{Name: titleVector, Source: engine.SourceTitle}, {Name: summaryVector},
	}}
}

// nearIn is a vector leg over any field.
func nearIn(field string, k int, vector ...float32) engine.Leg {
	return engine.Leg{Name: field, Field: field, K: k, Vector: vector}
}

// with gives a chunk another vector.
func with(c engine.Chunk, field string, vector ...float32) engine.Chunk {
	if c.Vectors == nil {
		c.Vectors = map[string][]float32{}
	}
	c.Vectors[field] = vector
	return c
}

func vectorFieldsTold(t *testing.T, s *suite) {
	b := s.base(t, threeVectors(2))
	bases, err := s.engine.KnowledgeBases(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range bases {
		if bases[i].Ref == b.kb.Ref {
			if got, want := fmt.Sprint(bases[i].Fields()), fmt.Sprint(b.kb.Fields()); got != want {
				t.Errorf("the fields are %s, want %s", got, want)
			}
			return
		}
	}
	t.Error("the knowledge base is not listed")
}

func oneVectorLess(t *testing.T, s *suite) {
	b := s.base(t, threeVectors(2))
	whole := with(with(passage("a", "red", 1, 0), titleVector, 1, 0), summaryVector, 1, 0)
	b.write(whole, with(with(passage("b", "red", 0, 1), titleVector, 0, 1), summaryVector, 0, 1))
	b.write(with(passage("a", "red", 1, 0), summaryVector, 0, 1))
	same(t, "the title's", b.ids(nearIn(titleVector, 5, 1, 0), engine.Filter{}), []string{"b"})
	same(t, "the summary's", b.ids(nearIn(summaryVector, 5, 1, 0), engine.Filter{}), []string{"a", "b"})
	same(t, "the content's", b.ids(near(5, 1, 0), engine.Filter{}), []string{"a", "b"})
	b.replace("doc-b", with(passage("b", "red"), titleVector, 1, 0))
	same(t, "the content's, its document replaced", b.ids(near(5, 1, 0), engine.Filter{}), []string{"a"})
	same(t, "the title's, its document replaced", b.ids(nearIn(titleVector, 5, 1, 0), engine.Filter{}), []string{"b"})
	if d := b.describe(); d.Chunks != 2 || d.Vectors < 1 {
		t.Errorf("described as %+v", d)
	}
	if n, err := s.engine.DeleteChunks(t.Context(), b.kb, []string{"a"}); err != nil || n != 1 {
		t.Fatalf("%d deleted, %v", n, err)
	}
	same(t, "the summary's, deleted", b.ids(nearIn(summaryVector, 5, 1, 0), engine.Filter{}), []string{})
}

func vectorsScanned(t *testing.T, s *suite) {
	scanner, ok := s.engine.(engine.Scanner)
	if !ok {
		t.Fatal("the engine does not scan")
	}
	b := s.base(t, threeVectors(2))
	whole, lesser := with(passage("a", "red", 3, 4), titleVector, 4, 3), with(passage("b", "red"), summaryVector, 0, 2)
	b.write(whole, lesser, passage("c", "x"))
	found, err := scanner.Scan(t.Context(), engine.ScanRequest{KB: b.kb, Limit: 10})
	if err != nil || len(found) != 3 {
		t.Fatalf("%d chunks, %v", len(found), err)
	}
	var got []string
	for i := range found {
		for _, f := range b.kb.Fields() {
			if v := found[i].Vectors[f.Name]; v != nil {
				got = append(got, fmt.Sprintf("%s %s %.2f", found[i].ID, f.Name, math.Atan2(float64(v[1]), float64(v[0]))))
			}
		}
	}
	same(t, "directions", got, []string{"a vector 0.93", "a title_vector 0.64", "b summary_vector 1.57"})
}

// randomVectors is random with further vectors, which some chunks lack.
func randomVectors(n, dims int, seed uint64) []engine.Chunk {
	chunks := random(n, dims, seed)
	rng := rand.New(rand.NewPCG(seed, 2))
	for i := range chunks {
		if i%3 != 0 {
			chunks[i] = with(chunks[i], titleVector, vectorOf(rng, dims)...)
		}
		if i%5 != 0 {
			chunks[i] = with(chunks[i], summaryVector, vectorOf(rng, dims)...)
		}
	}
	return chunks
}

func momentsPerField(t *testing.T, s *suite) {
	b := s.base(t, threeVectors(8))
	chunks := randomVectors(90, 8, 5)
	b.write(chunks...)
	query := vectorOf(rand.New(rand.NewPCG(6, 6)), 8)
	for _, field := range []string{engine.FieldVector, titleVector, summaryVector} {
		var cosines []float64
		for _, c := range chunks {
			if v := c.Vectors[field]; v != nil {
				cosines = append(cosines, cosine(v, query))
			}
		}
		mean, deviation := moments(cosines)
		st := b.statistics(engine.StatisticsRequest{Field: engine.FieldText, VectorField: field, Vector: query})
		if st.Vectors != len(cosines) {
			t.Errorf("%s: %d vectors, want %d", field, st.Vectors, len(cosines))
		}
		near64(t, field+": mean", st.Cosine.Mean, mean, 1e-4)
		near64(t, field+": deviation", st.Cosine.Deviation, deviation, 1e-2) // over n or n-1
		alone := b.statistics(engine.StatisticsRequest{VectorField: field, Vector: query})
		if alone.Vectors != st.Vectors || alone.Cosine != st.Cosine || alone.Docs != 0 {
			t.Errorf("%s, without a text field: %+v, want the cosines of %+v", field, alone, st)
		}
	}
}

// sumOfSeveralVectors takes every chunk's raw scores from the legs alone, and the
// sum must be what they add up to, for every chunk.
func sumOfSeveralVectors(t *testing.T, s *suite) {
	b := s.base(t, threeVectors(8))
	const n = 90
	b.write(randomVectors(n, 8, 7)...)
	query := vectorOf(rand.New(rand.NewPCG(8, 8)), 8)
	legs := []engine.Leg{
		words(n, "w0 w3"), near(n, query...), nearIn(titleVector, n, query...), nearIn(summaryVector, n, query...),
	}
	raw := map[string]engine.Hit{}
	alone := b.search(engine.Request{Legs: legs})
	for _, hit := range alone.Hits {
		raw[hit.ID] = hit
	}
	req := engine.Request{Legs: legs, Sum: &engine.Sum{Candidates: n, Weights: []float64{0.2, 0.4, 0.1, 0.3}}}
	sum := b.search(req)
	if len(sum.Hits) != n {
		t.Errorf("%d chunks took part of %d", len(sum.Hits), n)
	}
	for i := range sum.Hits {
		hit := &sum.Hits[i]
		want := 0.0
		if legHit, found := raw[hit.ID]; found { // else no leg knows it: no word, no vector
			want = sumOf(&req, &legHit)
		}
		near64(t, "sum of "+hit.ID, sumOf(&req, hit), want, 1e-5)
	}
}

// badVectorNames: names become columns and fields of the engine.
func badVectorNames(t *testing.T, s *suite) {
	for _, name := range []string{
		"", "vector", "title", "Title_vector", "a b_vector", `x"; DROP TABLE chunks; --_vector`, "a__b_vector", "_vector",
		"question_vector", "answer_vector", "文_vector", "a_very_long_name_of_a_further_vector",
	} {
		kb := s.definition(schema{Dimensions: 2, VectorFields: []engine.VectorField{{Name: "good_vector"}, {Name: name}}})
		refusedField(t, s, kb, "vector_fields[1].name")
	}
	twice := []engine.VectorField{{Name: titleVector}, {Name: titleVector}}
	refusedField(t, s, s.definition(schema{Dimensions: 2, VectorFields: twice}), "vector_fields[1].name")
	source := []engine.VectorField{{Name: titleVector, Source: "owner"}}
	refusedField(t, s, s.definition(schema{Dimensions: 2, VectorFields: source}), "vector_fields[0].source")
	refusedField(t, s, s.definition(schema{VectorFields: twice[:1]}), "vector_fields")
	refusedField(t, s, s.definition(schema{Kind: engine.KindQA, Dimensions: 2, VectorFields: twice[:1]}), "vector_fields")
}

func refusedField(t *testing.T, s *suite, kb engine.KnowledgeBase, field string) {
	t.Helper()
	err := s.engine.CreateKnowledgeBase(t.Context(), kb)
	if err == nil {
		err = s.engine.DeleteKnowledgeBase(t.Context(), kb.Ref)
		t.Errorf("%+v was accepted (deleted again: %v)", kb.VectorFields, err)
		return
	}
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.InvalidArgument || f.Field != field {
		t.Errorf("%+v: %v, want %s refused", kb.VectorFields, err, field)
	}
}

func vectorOfNoField(t *testing.T, s *suite) {
	b := s.base(t, threeVectors(2))
	chunks := []engine.Chunk{
		with(passage("good", "red", 1, 0), titleVector, 0, 1),
		with(passage("alien", "red", 1, 0), "image_vector", 0, 1),
		with(passage("long", "red", 1, 0), titleVector, 0, 1, 2),
		with(passage("nan", "red", 1, 0), summaryVector, float32(math.NaN()), 1),
	}
	outcomes, err := s.engine.Write(t.Context(), engine.WriteRequest{KB: b.kb, Chunks: chunks, Refresh: true})
	if err != nil || len(outcomes) != len(chunks) {
		t.Fatalf("%d outcomes, %v", len(outcomes), err)
	}
	for i, o := range outcomes {
		if failed := o.Status == engine.Failed && o.Err != nil; failed != (i > 0) {
			t.Errorf("chunk %s: %+v", chunks[i].ID, o)
		}
	}
	same(t, "what was good is there", b.ids(nearIn(titleVector, 5, 0, 1), engine.Filter{}), []string{"good"})
}

// sharedVectors: knowledge bases of other fields do not share storage.
func sharedVectors(t *testing.T, s *suite) {
	if !s.engine.Capabilities().Shared {
		return
	}
	several := threeVectors(2)
	several.Shared = true
	b := s.base(t, several)
	plain := s.base(t, schema{Dimensions: 2, Shared: true})
	plain.write(passage("p", "red", 1, 0))
	b.write(with(passage("a", "red", 0, 1), titleVector, 1, 0))
	same(t, "its own title", b.ids(nearIn(titleVector, 5, 1, 0), engine.Filter{}), []string{"a"})
	same(t, "the other's", plain.ids(near(5, 1, 0), engine.Filter{}), []string{"p"})
}
