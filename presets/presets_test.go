package presets_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/internal/golden"
	"github.com/hybridge-search/hybridge/presets"
	"github.com/hybridge-search/hybridge/search"
)

// TestPlans reads testdata/*.txt: a request, a dashed line, and the plan or
// the error that it must give. The file name starts with the preset's name,
// and says after a dot which fields the knowledge base has: keyword, qa, or three
// for two vector fields beside vector.
func TestPlans(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v; want no error and some files", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			asked, _, _ := strings.Cut(string(content), "\n---\n")
			golden.Bytes(t, filepath.Base(file), []byte(asked+"\n---\n"+planned(t, file, asked)+"\n"))
		})
	}
}

func planned(t *testing.T, file, asked string) string {
	t.Helper()
	var req search.Request
	if err := json.Unmarshal([]byte(asked), &req); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	kb := engine.KnowledgeBase{Kind: engine.KindChunks, Dimensions: 384}
	if strings.Contains(file, ".keyword.") {
		kb.Dimensions = 0
	}
	if strings.Contains(file, ".qa.") {
		kb.Kind = engine.KindQA
	}
	if strings.Contains(file, ".three.") {
		kb.VectorFields = []engine.VectorField{{Name: "title_vector", Source: "title"}, {Name: "summary_vector"}}
	}
	plan, err := presets.Builtin()[req.Preset](&req, kb.Fields())
	if err != nil {
		return "error: " + err.Error()
	}
	out, err := json.MarshalIndent(plan, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// TestEveryPresetHasACase binds a new preset to have its plan looked at.
func TestEveryPresetHasACase(t *testing.T) {
	for name := range presets.Builtin() {
		files, _ := filepath.Glob("testdata/" + name + ".*")
		if len(files) == 0 {
			t.Errorf("no testdata/%s.*.txt shows the plan of preset %s; want some files", name, name)
		}
	}
}

// TestTextQueryOfARequest: a request changes what it names of how its question becomes a text query, in every preset.
func TestTextQueryOfARequest(t *testing.T) {
	fields := (&engine.KnowledgeBase{Kind: engine.KindChunks, Dimensions: 2}).Fields()
	for name, planner := range presets.Builtin() {
		if strings.HasPrefix(name, "qa_") {
			continue
		}
		asItIs, err := planner(&search.Request{}, fields)
		if err != nil {
			t.Fatal(err)
		}
		changed, err := planner(&search.Request{Overrides: search.Overrides{
			TextQuery: search.TextQuery{PhraseBoost: new(0.7), PhraseSlop: new(5)},
		}}, fields)
		if err != nil {
			t.Fatal(err)
		}
		want := asItIs.Text
		want.Phrases, want.PhraseBoost, want.PhraseSlop = true, 0.7, 5
		if changed.Text != want {
			t.Errorf("%s: %+v, want %+v", name, changed.Text, want)
		}
		none, err := planner(&search.Request{Overrides: search.Overrides{TextQuery: search.TextQuery{PhraseBoost: new(0.0)}}}, fields)
		if err != nil || none.Text.Phrases {
			t.Errorf("%s: phrases that count nothing: %+v, %v", name, none.Text, err)
		}
	}
}
