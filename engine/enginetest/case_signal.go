package enginetest

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/filter"
)

func signalCases() []testCase {
	return []testCase{
		{"signals/hits carry what their fields say", signalsOfHits},
		{"signals/a sum adds them to the chunks that take part", signalsInSums},
	}
}

var signalNow = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const day = 24 * time.Hour

// signals are all of their kinds and shapes, over fields with values of every type.
func signals() []engine.Signal {
	return []engine.Signal{
		{Field: "a", Recency: &engine.Recency{Now: signalNow, HalfLife: 90 * day}},
		{Field: "b", Recency: &engine.Recency{Now: signalNow, HalfLife: time.Hour, Offset: 400 * day}},
		{Field: "a", Number: &engine.Number{Shape: engine.Saturation, Pivot: 3}},
		{Field: "b", Number: &engine.Number{Shape: engine.Log, Pivot: 100}},
		{Field: "b", Number: &engine.Number{Shape: engine.Linear, Pivot: 10}},
		{Field: "a", Match: []filter.Value{{V: "x"}, {V: 9.0}, {V: true}}},
		{Field: "document_id", Match: []filter.Value{{V: "d1"}}},
		{Field: "nosuch", Number: &engine.Number{Shape: engine.Linear, Pivot: 1}},
		{Field: "document_id", Recency: &engine.Recency{Now: signalNow, HalfLife: day}},
	}
}

// datedValues are beside those of filters.
var datedValues = []any{
	"2026-02-01", "2026-02-28T23:30:00", "2026-02-28 08:30", "2026-02-28T08:30:00Z", "2026-03-01T03:00:00+08:00",
	"2026-02-27T08:30:15.25-05:30", "2027-01-01", "2026-02-30", "2026-02-28T25:00", "2026-02-28X08:30", "2026-2-8",
	"2026-02-28T08:30:00+8", 1.77e9, 1.7e9, -1.0, 1e13, 3.0, 50.0, 1000.0,
}

func dated(n int) []engine.Chunk {
	d := newDice(77)
	chunks := make([]engine.Chunk, 0, n)
	for i := range n {
		c := d.tagged(i)
		for _, field := range []string{"a", "b"} {
			if d.IntN(2) == 0 {
				c.Metadata[field] = datedValues[d.IntN(len(datedValues))]
			}
		}
		c.Content = strings.Repeat("word ", 1+d.IntN(4)) + d.word("", "fox")
		if i%9 == 0 {
			c.Vectors = nil
		}
		chunks = append(chunks, c)
	}
	return chunks
}

func sameSignals(t *testing.T, hit *engine.Hit, asked []engine.Signal, chunks []engine.Chunk) {
	t.Helper()
	at := slices.IndexFunc(chunks, func(c engine.Chunk) bool { return c.ID == hit.ID })
	if len(hit.Signals) != len(asked) {
		t.Fatalf("%s has %d signals, want %d", hit.ID, len(hit.Signals), len(asked))
	}
	for i := range asked {
		if want := asked[i].Best(chunks[at].Values(asked[i].Field)); math.Abs(hit.Signals[i]-want) > 1e-9 {
			t.Errorf("signal %d of %s is %v, want %v of %v", i, hit.ID, hit.Signals[i], want, chunks[at].Values(asked[i].Field))
		}
	}
}

func signalsOfHits(t *testing.T, s *suite) {
	b, chunks := s.base(t, schema{Dimensions: 2}), dated(150)
	b.write(chunks...)
	result := b.search(engine.Request{Signals: signals(), Legs: []engine.Leg{words(200, "fox"), near(100, 1, 0)}})
	if len(result.Hits) < 100 {
		t.Fatalf("%d hits", len(result.Hits))
	}
	for i := range result.Hits {
		sameSignals(t, &result.Hits[i], signals(), chunks)
	}
}

// signalsInSums works the ranking out: signals that weigh more than all legs decide it, and do
// not bring in what no leg has.
func signalsInSums(t *testing.T, s *suite) {
	b, chunks := s.base(t, schema{Dimensions: 2}), dated(150)
	b.write(chunks...)
	asked := signals()
	for i := range asked {
		for name, legs := range map[string][]engine.Leg{
			"both": {words(1, "fox"), near(1, 1, 0)}, "words alone": {words(1, "fox")},
		} {
			t.Run(fmt.Sprintf("%d, %s", i, name), func(t *testing.T) {
				here := &base{t: t, engine: b.engine, kb: b.kb}
				sum := &engine.Sum{Candidates: 150, Weights: []float64{0.01, 0.01}[:len(legs)]}
				sum.Signals = make([]float64, len(asked))
				sum.Signals[i] = 5
				result := here.search(engine.Request{Signals: asked, Legs: legs, Sum: sum})
				taking := 0
				for c := range chunks {
					if chunks[c].Available && (len(legs) == 2 || strings.Contains(chunks[c].Content, "fox")) {
						taking++
					}
				}
				if len(result.Hits) != taking {
					t.Errorf("%d chunks take part, want %d", len(result.Hits), taking)
				}
				for h := range result.Hits {
					sameSignals(t, &result.Hits[h], asked, chunks)
				}
				few := *sum
				few.Candidates = 7
				best := here.search(engine.Request{Signals: asked, Legs: legs, Sum: &few})
				same(t, "the best", hitIDs(best.Hits), hitIDs(result.Hits[:7]))
			})
		}
	}
}
