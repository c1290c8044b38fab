package ask

import (
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
)

// TestAVectorIsForKnowledgeBasesOfItsKind: of its model, where both are known, and of
// its dimension.
func TestAVectorIsForKnowledgeBasesOfItsKind(t *testing.T) {
	f := func(asked, held string, dimensions int, refused string) {
		t.Helper()
		q := &Question{Wording: Wording{Vector: []float32{1, 0}}, Model: asked}
		kb := &engine.KnowledgeBase{EmbeddingModel: held, Dimensions: dimensions}
		vector, err := q.VectorFor(kb, 0)
		if refused == "" && (err != nil || len(vector) != 2) {
			t.Errorf(`model %q for %q: %v; want refused other than "" or no error and 2 vector`, asked, held, err)
		}
		if refused != "" && (err == nil || !strings.Contains(err.Error(), refused)) {
			t.Errorf("model %q for %q, %d dimensions: %v, want %s", asked, held, dimensions, err, refused)
		}
	}
	f("e5", "e5", 2, "")
	f("e5", "", 2, "")
	f("", "e5", 2, "")
	f("e5", "bge", 2, `"bge"`)
	f("e5", "e5", 3, "2 numbers")
}
