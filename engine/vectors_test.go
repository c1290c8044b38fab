package engine

import (
	"fmt"
	"testing"
)

// TestRefit: how vectors come from one shape into another.
func TestRefit(t *testing.T) {
	shape := func(model string, dims int, fields ...VectorField) *KnowledgeBase {
		return &KnowledgeBase{Kind: KindChunks, Dimensions: dims, EmbeddingModel: model, VectorFields: fields}
	}
	title, content := VectorField{"a_vector", SourceTitle}, VectorField{"a_vector", SourceContent}
	given, other := VectorField{"a_vector", ""}, VectorField{"b_vector", ""}
	f := func(from, to *KnowledgeBase, want string) {
		t.Helper()
		r := NewRefit(from, to)
		made := []string{}
		for _, m := range r.Made {
			made = append(made, m.Name+":"+m.Source)
		}
		got := fmt.Sprintf("kept %v made %v dropped %v lost %v", r.Kept, made, r.Dropped, r.Lost)
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	f(shape("m", 2), shape("m", 2), "kept [vector] made [] dropped [] lost []")
	f(shape("m", 2), shape("m", 2, title, other), "kept [vector] made [a_vector:title] dropped [] lost []")
	f(shape("m", 2, title), shape("m", 2, title), "kept [vector a_vector] made [] dropped [] lost []")
	f(shape("m", 2, title), shape("m", 2, content), "kept [vector] made [a_vector:content] dropped [] lost []")
	f(shape("m", 2, title), shape("m", 2, given), "kept [vector a_vector] made [] dropped [] lost []")
	f(shape("m", 2, title, other), shape("m", 2), "kept [vector] made [] dropped [a_vector b_vector] lost []")
	f(shape("m", 2, title, other), shape("n", 2, title, other), "kept [] made [vector:text a_vector:title] dropped [] lost [b_vector]")
	f(shape("m", 2, given), shape("m", 3, given), "kept [] made [vector:text] dropped [] lost [a_vector]")
	f(shape("m", 2, given), shape("n", 2, title), "kept [] made [vector:text a_vector:title] dropped [] lost []")
	f(shape("m", 2, given), shape("", 0), "kept [] made [] dropped [vector a_vector] lost []")
	f(shape("", 0), shape("m", 2, title), "kept [] made [vector:text a_vector:title] dropped [] lost []")
}

// TestRefitKeeps: a chunk keeps only what stays, in a map of its own.
func TestRefitKeeps(t *testing.T) {
	from := &KnowledgeBase{Kind: KindChunks, Dimensions: 1, VectorFields: []VectorField{{Name: "a_vector"}}}
	to := &KnowledgeBase{Kind: KindChunks, Dimensions: 1}
	had := map[string][]float32{"vector": {1}, "a_vector": {2}}
	kept := NewRefit(from, to).Keep(had)
	if len(kept) != 1 || kept["vector"][0] != 1 || len(had) != 2 {
		t.Errorf(`kept %v of %v; want 1 kept and kept["vector"][0] 1 and 2 had`, kept, had)
	}
}

// TestFieldText: titles and contents alone, and both.
func TestFieldText(t *testing.T) {
	c := Chunk{Title: " A title ", Content: "a text"}
	for field, want := range map[string]string{
		FieldText: "A title  a text", SourceTitle: "A title", SourceContent: "a text",
	} {
		if got := c.FieldText(field); got != want {
			t.Errorf("%s is %q, want %q", field, got, want)
		}
	}
}
