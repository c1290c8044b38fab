package postgres

import (
	"errors"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

// TestWhatOthersChangedIsToldWithPostgreSQLsReason: a constraint and a column that are not ours.
func TestWhatOthersChangedIsToldWithPostgreSQLsReason(t *testing.T) {
	e := gateway(t, newSchema(t))
	withNotes(t, e)
	put(t, e, note("n1", "a refund"))
	var table string
	if err := e.withBase(t.Context(), notes.Ref, func(b *base) error {
		table = b.table.name
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	f := func(change, says string, do func() error) {
		t.Helper()
		if _, err := e.pool.Exec(t.Context(), "ALTER TABLE "+table+" "+change); err != nil {
			t.Fatal(err)
		}
		err := do()
		var told *fault.Error
		if !errors.As(err, &told) || told.Kind != fault.Unavailable || !strings.Contains(told.Detail, says) || !fault.IsLasting(err) {
			t.Errorf("%s: %v; want unavailable for good, with %q", change, err, says)
		}
	}
	f("ADD CONSTRAINT short CHECK (length(document_id) < 2) NOT VALID", `violates check constraint "short"`, func() error {
		outcomes, err := e.Write(t.Context(), engine.WriteRequest{KB: notes, Chunks: []engine.Chunk{note("n2", "a refund")}})
		if err == nil {
			err = outcomes[0].Err
		}
		return err
	})
	f("DROP COLUMN document_name CASCADE", `column "document_name" does not exist`, func() error {
		_, err := e.Documents(t.Context(), notes, "", 10)
		return err
	})
}
