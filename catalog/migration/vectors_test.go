package migration

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/catalog"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

var (
	ofTitle = engine.VectorField{Name: "title_vector", Source: engine.SourceTitle}
	brought = engine.VectorField{Name: "summary_vector"}
)

func fieldsOf(fields ...engine.VectorField) Change { return Change{VectorFields: &fields} }

// embedded is a chunk with the vector that model3 makes of its text. Every other one has a
// title.
func embedded(i, version int) engine.Chunk {
	c := chunkOf(fmt.Sprintf("c%04d", i), version)
	if i%2 == 1 {
		c.Title = ""
	}
	vectors, _ := fakeEmbed(context.Background(), "model3", []string{c.FieldText(engine.FieldText)})
	c.Vectors = map[string][]float32{engine.FieldVector: vectors[0]}
	return c
}

// vectors fails unless each vector field has as many vectors.
func (g *gateway) vectors(want map[string]int) {
	g.t.Helper()
	kb := g.kb()
	if _, err := g.engine.Write(g.t.Context(), engine.WriteRequest{KB: kb, Refresh: true}); err != nil {
		g.t.Fatal(err)
	}
	all, err := g.engine.Scan(g.t.Context(), engine.ScanRequest{KB: kb, Limit: 1000})
	if err != nil {
		g.t.Fatal(err)
	}
	got := map[string]int{}
	for _, c := range all {
		for name := range c.Vectors {
			got[name]++
		}
		if v := c.Vectors[ofTitle.Name]; v != nil && (c.Title == "" || v[0] <= v[2]) {
			g.t.Errorf("%s has %v of its title %q", c.ID, v, c.Title)
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		g.t.Errorf("the vectors are %v, want %v", got, want)
	}
}

// TestFurtherVectors adds vector fields, with and without rebuilding, and removes them.
func TestFurtherVectors(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	g, late := s.gateway(nil), s.gateway(nil)
	if _, err := g.catalog.Create(t.Context(), scope, catalog.Spec{
		ID: "kb", Dimensions: new(3), EmbeddingModel: "model3",
	}); err != nil {
		t.Fatal(err)
	}
	want := map[string]engine.Chunk{}
	for i := range 40 {
		c := embedded(i, 0)
		want[c.ID] = c
		g.write(c)
	}
	before := late.kb()

	m := g.apply(fieldsOf(ofTitle), engine.MappingOptions{})
	if m.Plan.Diff.Copy != engine.CopyEmbed {
		t.Errorf("titles are added by %q: %+v; want m.Plan.Diff.Copy CopyEmbed", m.Plan.Diff.Copy, m.Plan.Diff.Changes)
	}
	m = g.until(engine.MigrationSwitched)
	g.vectors(map[string]int{"vector": 40, "title_vector": 20})
	c := embedded(2, 5) // by a gateway that missed the switch
	want[c.ID] = c
	if outcomes, err := late.engine.Write(t.Context(), engine.WriteRequest{KB: before, Chunks: []engine.Chunk{c}}); err != nil ||
		outcomes[0].Err != nil {
		t.Fatal(outcomes, err)
	}
	g.vectors(map[string]int{"vector": 40, "title_vector": 20})
	s.holds(m.ToIndex, want)
	s.holds(m.FromIndex, want)
	g.order(Cleanup)
	g.until(engine.MigrationDone)

	m = g.apply(fieldsOf(ofTitle, brought), engine.MappingOptions{})
	if m.Plan.Diff.Class != engine.ChangeInPlace || !slices.Equal(m.Plan.Steps, []string{"put"}) {
		t.Errorf(`a field that is brought is added by %v: %+v; want m.Plan.Diff.Class ChangeInPlace and {"put"}`, m.Plan.Steps, m.Plan.Diff.Changes)
	}
	g.until(engine.MigrationDone)
	c.Vectors[brought.Name] = []float32{1, 2, 3}
	g.write(c) // whole, as it was scanned: its title's vector is not among them
	g.vectors(map[string]int{"vector": 40, "title_vector": 19, "summary_vector": 1})

	m = g.apply(fieldsOf(engine.VectorField{Name: ofTitle.Name}), engine.MappingOptions{})
	if m.Plan.Diff.Copy != engine.CopyRebuild {
		t.Errorf("a field is given up by %q: %+v; want m.Plan.Diff.Copy CopyRebuild", m.Plan.Diff.Copy, m.Plan.Diff.Changes)
	}
	g.until(engine.MigrationSwitched)
	g.vectors(map[string]int{"vector": 40, "title_vector": 19})
	g.order(Cleanup)
	g.until(engine.MigrationDone)
	if diff, err := g.Diff(t.Context(), scope, "kb", Change{}); err != nil || diff.Class != engine.ChangeNone {
		t.Errorf("then there is still %+v, %v", diff, err)
	}
	g.keeps(Change{Dimensions: new(0)}, engine.ChangeReindex)
	g.keeps(Change{EmbeddingModel: new("")}, engine.ChangeConflict)
}

// keeps fails unless a plan is of a class. One with a conflict has to name it, and is not
// applied.
func (g *gateway) keeps(change Change, class string) {
	g.t.Helper()
	plan, err := g.Plan(g.t.Context(), Caller{scope, "tester"}, "kb", Request{Changes: change})
	if err != nil || plan.Diff.Class != class {
		g.t.Fatalf("planned as %+v, %v, want %s", plan, err, class)
	}
	if class != engine.ChangeConflict {
		return
	}
	_, err = g.Apply(g.t.Context(), Caller{scope, "tester"}, "kb", plan.ID)
	refuses(g.t, err, fault.Conflict, "vector_fields.title_vector")
}

// TestARefusedTextIsNamed: a chunk is named whose text the model refuses, with the model's reason.
func TestARefusedTextIsNamed(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	g := s.gateway(nil)
	want := someChunks(40)
	g.create(want)
	refused := chunkOf("c0017", 1)
	refused.Content = "unembeddable"
	g.write(refused)
	g.apply(Change{EmbeddingModel: new("model3")}, engine.MappingOptions{})
	m := g.until(engine.MigrationFailed)
	const says = "chunk c0017 of document "
	if !strings.HasPrefix(m.Error.Detail, says) || !strings.HasSuffix(m.Error.Detail, "answered 400: 512 tokens at most") {
		t.Fatalf("it failed by %+v; want %s", m.Error, says)
	}
	want["c0017"] = chunkOf("c0017", 2)
	g.write(want["c0017"])
	g.order(Resume)
	m = g.until(engine.MigrationSwitched)
	s.holds(m.ToIndex, want)
}
