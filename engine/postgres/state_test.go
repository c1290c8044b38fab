package postgres

import (
	"errors"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

// TestAStateOfAnotherShape is what a gateway sees while another one switches a knowledge
// base to a shape with fewer vector fields: it looks again, and does not count those that
// are gone.
func TestAStateOfAnotherShape(t *testing.T) {
	t.Parallel()
	e := gateway(t, newSchema(t))
	kb := notes
	kb.VectorFields = []engine.VectorField{{Name: "title_vector", Source: engine.SourceTitle}}
	if err := e.CreateKnowledgeBase(t.Context(), kb); err != nil {
		t.Fatal(err)
	}
	b, err := e.base(t.Context(), kb.Ref)
	if err != nil {
		t.Fatal(err)
	}
	count := func(vectors ...int64) {
		t.Helper()
		if _, err := e.pool.Exec(t.Context(), "UPDATE knowledge_bases SET vectors = $1", vectors); err != nil {
			t.Fatal(err)
		}
	}
	count(7)
	if _, err := b.state(t.Context(), e.pool); !errors.Is(err, errReplaced) {
		t.Errorf("the state of another shape: %v, want %v", err, errReplaced)
	}
	if err := e.buildIndexes(t.Context(), b); err == nil {
		t.Error("vector indexes are built by counts of another shape")
	}
	_, err = e.Statistics(t.Context(), &engine.StatisticsRequest{KB: kb, VectorField: "title_vector", Vector: []float32{1, 0}})
	if !fault.Is(err, fault.NotFound) {
		t.Errorf("statistics by counts of another shape: %v; want an error of kind NotFound", err)
	}
	count(0, 0)
	if err := e.buildIndexes(t.Context(), b); err != nil {
		t.Error(err)
	}
}

// TestABaseThatIsReplacedAgainAndAgain: one request may see a knowledge base switch to another shape and back several
// times; it exists all the while.
func TestABaseThatIsReplacedAgainAndAgain(t *testing.T) {
	t.Parallel()
	e := gateway(t, newSchema(t))
	if err := e.CreateKnowledgeBase(t.Context(), notes); err != nil {
		t.Fatal(err)
	}
	f := func(times int, want bool) {
		t.Helper()
		err := e.withBase(t.Context(), notes.Ref, func(*base) error {
			if times--; times >= 0 {
				return errReplaced
			}
			return nil
		})
		if (err == nil) != want || err != nil && !fault.Is(err, fault.NotFound) {
			t.Errorf("%v", err)
		}
	}
	f(0, true)
	f(maxLookups-1, true)
	f(1000, false)
}
