package enginetest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
)

// lateScores holds an engine that may leave raw scores for later to giving, with
// the chunks, the very scores that it gives at once when asked at once.
func lateScores(t *testing.T, s *suite) {
	scorer, ok := s.engine.(engine.DeferredScorer)
	if !ok {
		t.Logf("%s gives all scores at once", s.engine.Name())
	}
	b := s.base(t, schema{Dimensions: 2})
	b.write(
		passage("a", "red fox", 1, 0), passage("b", "red fox red", 0, 1), passage("c", "red", 3, 4),
		passage("d", "blue bird", 1, 0.1), passage("e", "red bird"),
	)
	req := engine.Request{Legs: []engine.Leg{words(2, "red"), near(2, 1, 0)}}
	atOnce := b.search(req)
	req.DeferScores, req.KB = true, b.kb
	later, err := s.engine.Search(t.Context(), &req)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "hits", hitIDs(later.Hits), hitIDs(atOnce.Hits))
	if !ok {
		same(t, "raw scores", rawScores(later.Hits), rawScores(atOnce.Hits))
		return
	}
	ids := hitIDs(atOnce.Hits)
	slices.Reverse(ids)
	page := engine.ChunksRequest{KB: b.kb, IDs: append(ids, "absent")}
	chunks, raw, err := scorer.ScoreChunks(t.Context(), page, req.Legs)
	if err != nil {
		t.Fatal(err)
	}
	unknown := 0
	for i, id := range ids {
		if chunks[i].ID != id || chunks[i].Content == "" {
			t.Fatalf("chunk %d is %+v, want %s", i, chunks[i], id)
		}
		at := len(ids) - 1 - i
		for leg, o := range later.Hits[at].Observations {
			want := atOnce.Hits[at].Observations[leg].Raw
			if !nearly(raw[i][leg], want, 1e-6) || o.Known() && !nearly(o.Raw, want, 1e-6) {
				t.Errorf("%s by leg %d: %v later and %v by the search, want %v", id, leg, raw[i][leg], o.Raw, want)
			}
			if !o.Known() {
				unknown++
			}
		}
	}
	if len(chunks) != len(ids) || unknown == 0 {
		t.Errorf("%d chunks for %d ids, %d scores were left for later", len(chunks), len(ids), unknown)
	}
}

// rawScores concatenates the raw scores of all hits.
func rawScores(hits []engine.Hit) []string {
	var raw []string
	for i := range hits {
		for _, o := range hits[i].Observations {
			raw = append(raw, fmt.Sprint(o.Raw))
		}
	}
	return raw
}
