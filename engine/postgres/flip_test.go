package postgres

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/internal/devservices"
)

// flipsVariable says how many bits TestFlippedBits flips; `make stamina` says 1000.
const flipsVariable = "HYBRIDGE_TEST_FLIPS"

// flipBit changes one bit of the stored keyword index.
const flipBit = `UPDATE bm25_indexes SET index_data = set_bit(index_data, place, 1 - get_bit(index_data, place))
	FROM (SELECT $3 % (8 * length(index_data))::BIGINT AS place FROM bm25_indexes WHERE kb_id = $1 AND field = $2) AS one
	WHERE kb_id = $1 AND field = $2`

// TestFlippedBits flips one random bit of what bm25_indexes holds, again and again,
// with nothing in memory: each time the damage is found, counted, and the index
// built anew from the chunks and stored, so that every answer is as before.
func TestFlippedBits(t *testing.T) {
	flips := 40
	if text, given := os.LookupEnv(flipsVariable); given {
		var err error
		if flips, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	schema := newSchema(t)
	e := gateway(t, schema)
	index := withNotes(t, e)
	var chunks []engine.Chunk
	for i := range 40 {
		chunks = append(chunks, note(fmt.Sprint("n", i), fmt.Sprintf("word%d shared", i%7)))
	}
	put(t, e, chunks...)
	want := find(t, e, "word3")
	stored := func(n int) {
		t.Helper()
		until(t, "the index is stored", func() bool { c, _ := e.keywords.Totals(); return c.Saves == uint64(n) })
	}
	stored(1)
	for n := range flips {
		bit := rand.Int64N(1 << 40)
		tag, err := e.pool.Exec(t.Context(), flipBit, index.KnowledgeBase, index.Field, bit)
		if err != nil || tag.RowsAffected() != 1 {
			t.Fatal(tag, err)
		}
		e.keywords.Forget(t.Context(), index.KnowledgeBase)
		if got := find(t, e, "word3"); !slices.Equal(got, want) {
			t.Fatalf("bit %d flipped: found %v, wanted %v", bit, got, want)
		}
		stored(n + 2)
		if c, _ := e.keywords.Totals(); c.Repairs != uint64(n+1) || c.Builds != uint64(n+2) {
			t.Fatalf("bit %d flipped, the %d. one: counted %+v", bit, n+1, c)
		}
	}
	if got := repairs(t, e); got != float64(flips) {
		t.Errorf("the metric counts %v repairs of %d", got, flips)
	}
	other := gateway(t, schema)
	if got := find(t, other, "word3"); !slices.Equal(got, want) {
		t.Errorf("another gateway found %v, wanted %v", got, want)
	}
	if c, _ := other.keywords.Totals(); c.Store != 1 || c.Repairs != 0 {
		t.Errorf("what was stored last: counted %+v; want c.Store 1 and c.Repairs 0", c)
	}
	devservices.Report(t, fmt.Sprintf("%d bits of keyword indexes stored in PostgreSQL flipped: all found, counted and rebuilt.\n", flips))
}

// repairs reads the counter as it is scraped.
func repairs(t *testing.T, e *Engine) float64 {
	t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(e.keywords)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			if family.GetName() == "hybridge_bm25_events_total" && m.GetLabel()[0].GetValue() == "repair" {
				return m.GetCounter().GetValue()
			}
		}
	}
	t.Fatal("no metric of repairs")
	return 0
}
