package enginetest

import (
	"fmt"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/filter"
)

func filterCases() []testCase {
	return []testCase{
		{"filter/selective filters leave k full", selective},
		{"filter/statistics ignore filters", filterKeepsScores},
		{"filter/many values and ids", manyValues},
		{"filter/sum obeys filters", sumFiltered},
	}
}

// selective hides the best chunks behind a filter: k must still be filled.
func selective(t *testing.T, s *suite) {
	b := s.base(t, schema{Dimensions: 2})
	var chunks []engine.Chunk
	for i := range 100 {
		c := passage(fmt.Sprintf("c%02d", i), "word", 1, float32(i)/100)
		c.Metadata = map[string]any{"side": "best"}
		if i >= 95 {
			c.Metadata["side"] = "rest"
			c.Content = "word and many other words that make it a longer chunk"
		}
		chunks = append(chunks, c)
	}
	b.write(chunks...)
	filter := engine.Filter{Conditions: []filter.Condition{in("side", "rest")}}
	same(t, "vector", b.ids(near(3, 1, 0), filter), []string{"c95", "c96", "c97"})
	same(t, "text", b.ids(words(3, "word"), filter), []string{"c95", "c96", "c97"})
}

func in(field string, values ...any) filter.Condition {
	c := filter.Condition{Field: field}
	for _, v := range values {
		c.In = append(c.In, filter.Value{V: v})
	}
	return c
}

// filterKeepsScores: document frequencies count the whole knowledge base, so a filter
// changes no score.
func filterKeepsScores(t *testing.T, s *suite) {
	b := s.base(t, schema{})
	b.write(corpus()...)
	leg := words(10, "red fox")
	all := b.search(engine.Request{Legs: []engine.Leg{leg}})
	some := b.search(engine.Request{Legs: []engine.Leg{leg}, Filter: engine.Filter{IDs: []string{"c"}}})
	near64(t, "score", find(t, some, "c").Observations[0].Raw, find(t, all, "c").Observations[0].Raw, 1e-6)
}

func manyValues(t *testing.T, s *suite) {
	b := s.base(t, schema{})
	var chunks []engine.Chunk
	var values []any
	var ids, want []string
	for i := range 300 {
		c := passage(fmt.Sprintf("c%03d", i), "word")
		c.Metadata = map[string]any{"n": float64(i)}
		chunks = append(chunks, c)
		if i%3 == 0 {
			values = append(values, float64(i))
			ids = append(ids, c.ID)
			want = append(want, c.ID)
		}
	}
	for i := range 700 {
		values = append(values, float64(1000+i))
		ids = append(ids, fmt.Sprint("unknown", i))
	}
	b.write(chunks...)
	filter := engine.Filter{Conditions: []filter.Condition{in("n", values...)}}
	sameSet(t, "values", b.ids(words(1000, "word"), filter), want)
	sameSet(t, "ids", b.ids(words(1000, "word"), engine.Filter{IDs: ids}), want)
}

func sumFiltered(t *testing.T, s *suite) {
	b := s.base(t, schema{Dimensions: 2})
	mine, theirs := passage("mine", "red", 0, 1), passage("theirs", "red", 1, 0)
	mine.Owner, theirs.Owner = "u1", "u2"
	hidden := passage("hidden", "red", 1, 0)
	hidden.Owner, hidden.Available = "u1", false
	b.write(mine, theirs, hidden)
	result := b.search(engine.Request{
		Legs:   []engine.Leg{words(10, "red"), near(10, 1, 0)},
		Filter: engine.Filter{Owner: "u1"},
		Sum:    &engine.Sum{Candidates: 10, Weights: []float64{1, 1}},
	})
	same(t, "sum", hitIDs(result.Hits), []string{"mine"})
}
