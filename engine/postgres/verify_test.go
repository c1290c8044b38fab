package postgres

import (
	"fmt"
	"slices"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
)

// TestWhatIsSearchedIsVerified changes columns behind the engine's back, and not the chunks.
func TestWhatIsSearchedIsVerified(t *testing.T) {
	e := gateway(t, newSchema(t))
	withNotes(t, e)
	chunks := make([]engine.Chunk, 2*verifyBatch)
	for i := range chunks {
		chunks[i] = note(fmt.Sprintf("n%04d", i), "a refund")
		chunks[i].Owner, chunks[i].Ordinal = "anna", i
		chunks[i].Metadata = map[string]any{"year": 2024.0, "tags": []any{"x", "是"}, "share": .25}
	}
	put(t, e, chunks...)
	verify := func(want ...string) {
		t.Helper()
		found, err := e.Verify(t.Context(), notes, true)
		if err != nil || !slices.Equal(found.All, want) || found.Damaged.Count != len(want) || found.Chunks != len(chunks)-len(want) {
			t.Errorf("found %+v, %v; want damaged %v", found, err, want)
		}
	}
	verify()
	changes := []string{
		"metadata = jsonb_set(metadata, '{owner}', '[\"berta\"]')", "available = false", "ordinal = 7000",
		"document_id = 'other'", "document_name = 'Other'", "lot = 1", "body = '{'",
	}
	var table string
	if err := e.withBase(t.Context(), notes.Ref, func(b *base) error {
		table = b.table.name
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	var damaged []string
	for i, change := range changes {
		id := chunks[i*100].ID
		damaged = append(damaged, id)
		if _, err := e.pool.Exec(t.Context(), "UPDATE "+table+" SET "+change+" WHERE id = $1", id); err != nil {
			t.Fatal(err)
		}
	}
	verify(damaged...)
	outcomes, err := e.Write(t.Context(), engine.WriteRequest{KB: notes, Chunks: chunks, Copy: true}) // of damaged names too
	if err != nil || engine.RefuseFirst(outcomes) != nil {
		t.Fatal(err, engine.RefuseFirst(outcomes))
	}
	verify()
}
