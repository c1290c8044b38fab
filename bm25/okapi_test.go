package bm25

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/textquery"
)

// okapiCase holds the scores that the PyPI package rank_bm25 gave;
// testdata/okapi.py makes them.
type okapiCase struct {
	Name       string                           `json:"name"`
	Parameters struct{ K1, B, Epsilon float64 } `json:"parameters"`
	Chunks     []string                         `json:"chunks"`
	Queries    []struct {
		Tokens []string  `json:"tokens"`
		Scores []float64 `json:"scores"`
	} `json:"queries"`
}

func okapiCases(t *testing.T) []okapiCase {
	data, err := os.ReadFile("testdata/okapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Cases []okapiCase }
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	return file.Cases
}

func TestOkapiScoresAreThoseOfRankBM25(t *testing.T) {
	for _, c := range okapiCases(t) {
		x := New(Options{Variant: Okapi, K1: c.Parameters.K1, B: c.Parameters.B, Epsilon: c.Parameters.Epsilon, LiveStatistics: true})
		all := make([]uint32, len(c.Chunks))
		for i, text := range c.Chunks {
			all[i] = uint32(2 * i)
			if err := x.Add([]Doc{
				{Key: all[i], Tokens: strings.Fields(text)},
				{Key: all[i] + 1, Tokens: []string{"deleted", "w0", "退款"}},
			}); err != nil {
				t.Fatal(err)
			}
			x.Delete([]uint32{all[i] + 1})
		}
		for _, q := range c.Queries {
			for i, got := range x.Snapshot().Scores(t.Context(), okapiQuery(q.Tokens), all) {
				if want := q.Scores[i]; math.Abs(float64(got)-want) > 1e-6*max(1, math.Abs(want)) {
					t.Errorf("%s, %v: chunk %d scores %v, in rank_bm25 %v", c.Name, q.Tokens, i, got, want)
				}
			}
		}
	}
}

// okapiQuery weighs a token by how often it is asked for: rank_bm25 adds a score
// each time.
func okapiQuery(tokens []string) *textquery.Query {
	q := &textquery.Query{}
	at := map[string]int{}
	for _, token := range tokens {
		if i, known := at[token]; known {
			q.Terms[i].Weight++
			continue
		}
		at[token] = len(q.Terms)
		q.Terms = append(q.Terms, textquery.Term{Text: token, Weight: 1})
	}
	return q
}
