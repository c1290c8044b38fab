package enginetest

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/scoring"
)

// checkResult holds any result to what the contract says of all of them.
func checkResult(t *testing.T, req *engine.Request, result *engine.Result) {
	t.Helper()
	if len(result.Legs) != len(req.Legs) {
		t.Fatalf("%d leg outcomes for %d legs", len(result.Legs), len(req.Legs))
	}
	seen := map[string]bool{}
	for _, hit := range result.Hits {
		if seen[hit.ID] {
			t.Fatalf("hit %q stands twice in the result", hit.ID)
		}
		seen[hit.ID] = true
		checkObservations(t, req, result, hit)
	}
	if req.Sum != nil {
		checkSum(t, req, result)
		return
	}
	for i := range req.Legs {
		checkRanks(t, req, result, i)
	}
}

// checkObservations wants one observation per leg, on the leg's own scale.
func checkObservations(t *testing.T, req *engine.Request, result *engine.Result, hit engine.Hit) {
	t.Helper()
	if len(hit.Observations) != len(req.Legs) {
		t.Fatalf("hit %q has %d observations for %d legs", hit.ID, len(hit.Observations), len(req.Legs))
	}
	returned := req.Sum != nil
	for i, o := range hit.Observations {
		leg := &req.Legs[i]
		returned = returned || o.Rank > 0
		if want := scoring.Joint(leg.Kind(), o.Raw).Rank; req.Sum != nil && result.Legs[i].Err == nil && o.Rank != want {
			t.Errorf("hit %q has rank %d in leg %s of a joint ranking, want %d", hit.ID, o.Rank, leg.Name, want)
		}
		switch {
		case result.Legs[i].Err != nil:
			if o.Rank != 0 {
				t.Errorf("hit %q has rank %d in leg %s, which failed", hit.ID, o.Rank, leg.Name)
			}
		case leg.Kind() == scoring.Text && (math.IsNaN(o.Raw) || o.Raw < 0 || math.IsInf(o.Raw, 0)):
			t.Errorf("hit %q: raw score %v of text leg %s is not a finite number >= 0", hit.ID, o.Raw, leg.Name)
		case leg.Kind() == scoring.Vector && math.Abs(o.Raw) > 1+1e-6:
			t.Errorf("hit %q: raw score %v of vector leg %s is no cosine", hit.ID, o.Raw, leg.Name)
		case o.Rank > 0 && !o.Known():
			t.Errorf("hit %q has rank %d in leg %s without a raw score", hit.ID, o.Rank, leg.Name)
		case o.Rank > 0 && leg.Kind() == scoring.Text && o.Raw == 0:
			t.Errorf("hit %q has rank %d in text leg %s with raw score 0", hit.ID, o.Rank, leg.Name)
		}
	}
	if !returned {
		t.Errorf("hit %q is in no leg's ranking", hit.ID)
	}
}

// checkRanks wants ranks 1..n by raw score, then id, and n within the leg's K.
func checkRanks(t *testing.T, req *engine.Request, result *engine.Result, leg int) {
	t.Helper()
	name := req.Legs[leg].Name
	var ranked []engine.Hit
	for _, hit := range result.Hits {
		if hit.Observations[leg].Rank > 0 {
			ranked = append(ranked, hit)
		}
	}
	slices.SortFunc(ranked, func(a, b engine.Hit) int {
		return cmp.Compare(a.Observations[leg].Rank, b.Observations[leg].Rank)
	})
	if k := req.Legs[leg].K; len(ranked) > k {
		t.Errorf("leg %s returned %d hits for k %d", name, len(ranked), k)
	}
	for i, hit := range ranked {
		if got := hit.Observations[leg].Rank; got != i+1 {
			t.Fatalf("leg %s: hit %q has rank %d where %d follows", name, hit.ID, got, i+1)
		}
		if i > 0 && !before(&ranked[i-1], &hit, leg) {
			t.Errorf("leg %s: %q (%v) ranks before %q (%v)", name, ranked[i-1].ID,
				ranked[i-1].Observations[leg].Raw, hit.ID, hit.Observations[leg].Raw)
		}
	}
	checkUnranked(t, result, leg, ranked)
}

// checkUnranked wants hits that the leg did not return to be no better than
// those it did.
func checkUnranked(t *testing.T, result *engine.Result, leg int, ranked []engine.Hit) {
	t.Helper()
	if len(ranked) == 0 {
		return
	}
	last := ranked[len(ranked)-1]
	for _, hit := range result.Hits {
		o := hit.Observations[leg]
		if o.Rank == 0 && o.Known() && o.Raw > last.Observations[leg].Raw+1e-6 {
			t.Errorf("leg %d did not return %q (%v), which is better than its last %q (%v)",
				leg, hit.ID, o.Raw, last.ID, last.Observations[leg].Raw)
		}
	}
}

func before(a, b *engine.Hit, leg int) bool {
	x, y := a.Observations[leg].Raw, b.Observations[leg].Raw
	return x > y || x == y && a.ID < b.ID
}

// checkSum wants the hits in the order of the weighted sum of their points.
func checkSum(t *testing.T, req *engine.Request, result *engine.Result) {
	t.Helper()
	if len(result.Hits) > req.Sum.Candidates {
		t.Errorf("%d hits for %d candidates", len(result.Hits), req.Sum.Candidates)
	}
	for i := 1; i < len(result.Hits); i++ {
		a, b := &result.Hits[i-1], &result.Hits[i]
		x, y := sumOf(req, a), sumOf(req, b)
		if x < y-1e-5*math.Max(1, math.Abs(y)) {
			t.Errorf("hit %q (sum %v) stands before %q (sum %v)", a.ID, x, b.ID, y)
		}
		if sameRaw(a, b) && a.ID > b.ID {
			t.Errorf("hits %q and %q tie, and are not in the order of their ids", a.ID, b.ID)
		}
	}
}

// sumOf is the sum that engine.Sum defines, from the observations.
func sumOf(req *engine.Request, hit *engine.Hit) float64 {
	total := 0.0
	for i, o := range hit.Observations {
		points := o.Raw
		switch {
		case math.IsNaN(o.Raw):
			points = req.Sum.AbsentPoints(i)
		case req.Legs[i].Kind() == scoring.Vector:
			points = o.Raw + 1
		case req.Sum.Pivot > 0:
			points = o.Raw / (o.Raw + req.Sum.Pivot)
		}
		total += req.Sum.Weights[i] * points
	}
	for i, weight := range req.Sum.Signals {
		total += weight * hit.Signals[i]
	}
	return total
}

func sameRaw(a, b *engine.Hit) bool {
	said := func(x, y scoring.Observation) bool {
		return x.Raw == y.Raw || math.IsNaN(x.Raw) && math.IsNaN(y.Raw)
	}
	return slices.Equal(a.Signals, b.Signals) && slices.EqualFunc(a.Observations, b.Observations, said)
}

// ranking lists the ids that a leg returned, best first.
func ranking(result *engine.Result, leg int) []string {
	var ranked []engine.Hit
	for _, hit := range result.Hits {
		if hit.Observations[leg].Rank > 0 {
			ranked = append(ranked, hit)
		}
	}
	slices.SortFunc(ranked, func(a, b engine.Hit) int {
		return cmp.Compare(a.Observations[leg].Rank, b.Observations[leg].Rank)
	})
	return hitIDs(ranked)
}

func hitIDs(hits []engine.Hit) []string {
	ids := make([]string, len(hits))
	for i := range hits {
		ids[i] = hits[i].ID
	}
	return ids
}

// find gives the hit of an id.
func find(t *testing.T, result *engine.Result, id string) *engine.Hit {
	t.Helper()
	for i := range result.Hits {
		if result.Hits[i].ID == id {
			return &result.Hits[i]
		}
	}
	t.Fatalf("%q is not among the hits %v", id, hitIDs(result.Hits))
	return nil
}

// same compares two lists of ids, an absent one being an empty one.
func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

// sameSet compares two lists of ids in any order.
func sameSet(t *testing.T, what string, got, want []string) {
	t.Helper()
	same(t, what, slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want)))
}

// close wants two numbers to agree within a share of the larger one.
func near64(t *testing.T, what string, got, want, relative float64) {
	t.Helper()
	if math.IsNaN(got) && math.IsNaN(want) {
		return
	}
	if !(math.Abs(got-want) <= relative*math.Max(1e-9, math.Max(math.Abs(got), math.Abs(want)))) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// nearly is absolute, for scores around 0.
func nearly(a, b, tolerance float64) bool {
	return a != a && b != b || a-b <= tolerance && b-a <= tolerance
}
