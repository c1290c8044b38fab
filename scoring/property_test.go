package scoring

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// fusions are all methods with all their variants, each prepared to take any legs.
func fusions() []Fusion {
	list := []Fusion{
		{Method: RRF, RRFK: 1},
		{Method: ScriptScore, Saturated: true, Pivot: 6},
	}
	for _, m := range Methods() {
		list = append(list, Fusion{Method: m})
	}
	for _, n := range Normalizers() {
		list = append(list, linearOver(n))
	}
	return list
}

// nasty are numbers that no engine should send and no caller should ask for.
var nasty = []float64{
	math.NaN(), math.Inf(1), math.Inf(-1), -1, 0, math.Copysign(0, -1), 1, 5e-324, -5e-324,
	1e-300, 1e300, math.MaxFloat64, -math.MaxFloat64, 1.0000001, 0.1, 0.2, 0.3,
}

func anyFloat(low, high float64) *rapid.Generator[float64] {
	return rapid.OneOf(rapid.Float64Range(low, high), rapid.SampledFrom(nasty))
}

func drawLegs(t *rapid.T, weight *rapid.Generator[float64]) []Leg {
	legs := make([]Leg, rapid.IntRange(1, 5).Draw(t, "legs"))
	for i := range legs {
		legs[i] = Leg{
			Name:     fmt.Sprintf("leg%d", i),
			Kind:     rapid.SampledFrom([]Kind{Text, Vector}).Draw(t, "kind"),
			Weight:   weight.Draw(t, "weight"),
			Degraded: rapid.IntRange(0, 9).Draw(t, "degraded") == 0,
		}
		if rapid.Bool().Draw(t, "moments") {
			legs[i].Moments = &Moments{Mean: anyFloat(-1, 9).Draw(t, "mean"), Deviation: anyFloat(0, 4).Draw(t, "deviation")}
		}
		if rapid.Bool().Draw(t, "bounded") {
			legs[i].Bound = anyFloat(0, 50).Draw(t, "bound")
		}
	}
	return legs
}

// drawWindow makes what engines send: ranks that follow the raw scores, of few
// different values so that ties are common.
func drawWindow(t *rapid.T, legs []Leg) []Candidate {
	candidates := make([]Candidate, rapid.IntRange(0, 12).Draw(t, "candidates"))
	for i := range candidates {
		candidates[i] = Candidate{ID: fmt.Sprintf("c%02d", i), Observations: make([]Observation, len(legs))}
	}
	for l, leg := range legs {
		order := rapid.Permutation(indexes(len(candidates))).Draw(t, "order")
		k := rapid.IntRange(0, len(candidates)).Draw(t, "k")
		for rank, i := range order {
			o := &candidates[i].Observations[l]
			o.Raw = 12 - float64(rank/2)
			if leg.Kind == Vector {
				o.Raw = 0.9 - 0.1*float64(rank/2)
			}
			if rank < k {
				o.Rank = rank + 1
			} else if rapid.Bool().Draw(t, "unknown") {
				o.Raw = math.NaN()
			}
		}
	}
	return candidates
}

// drawAnything makes what no engine should send.
func drawAnything(t *rapid.T, legs []Leg) []Candidate {
	candidates := make([]Candidate, rapid.IntRange(0, 8).Draw(t, "candidates"))
	for i := range candidates {
		candidates[i].ID = rapid.SampledFrom([]string{"a", "b", "c", ""}).Draw(t, "id")
		for range rapid.IntRange(0, len(legs)+1).Draw(t, "observations") {
			candidates[i].Observations = append(candidates[i].Observations, Observation{
				Rank: rapid.IntRange(-2, 9).Draw(t, "rank"),
				Raw:  anyFloat(-2, 30).Draw(t, "raw"),
			})
		}
	}
	return candidates
}

func weights() *rapid.Generator[float64] {
	return rapid.SampledFrom([]float64{0, 0.05, 0.1, 0.25, 0.3, 0.7, 0.95, 1, 3})
}

// forEachFusion checks a property of every fusion over windows as engines send
// them.
func forEachFusion(t *testing.T, property func(t *rapid.T, f Fusion, legs []Leg, candidates []Candidate)) {
	t.Helper()
	rapid.Check(t, func(t *rapid.T) {
		legs := drawLegs(t, weights())
		property(t, rapid.SampledFrom(fusions()).Draw(t, "fusion"), legs, drawWindow(t, legs))
	})
}

// whole fails unless a ranking keeps the score contract.
func whole(t *rapid.T, fused []Fused) {
	seen := map[int]bool{}
	for i, f := range fused {
		if !(f.Score >= 0 && f.Score <= 1) {
			t.Fatalf("%s: score %v; want f.Score at least 0 and f.Score at most 1", f.ID(), f.Score)
		}
		sum := 0.0
		legs := f.Legs()
		for _, c := range legs {
			sum += c.Contribution
		}
		if _, err := json.Marshal(legs); err != nil {
			t.Fatal(err)
		}
		if sum != f.Raw {
			t.Fatalf("%s: contributions add up to %v, raw is %v", f.ID(), sum, f.Raw)
		}
		if i > 0 && f.Score > fused[i-1].Score {
			t.Fatalf("%s: score %v after %v", f.ID(), f.Score, fused[i-1].Score)
		}
		if seen[int(f.Index)] {
			t.Fatalf("candidate %d stands twice", f.Index)
		}
		seen[int(f.Index)] = true
	}
}

// Promise: "always between 0 and 1" (docs/guide/en/relevance.md).
func TestAnyInputKeepsTheScoreContract(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.SampledFrom(fusions()).Draw(t, "fusion")
		f.RRFK = anyFloat(0, 100).Draw(t, "k")
		f.Pivot = anyFloat(0, 100).Draw(t, "pivot")
		legs := drawLegs(t, anyFloat(0, 3))
		candidates := drawAnything(t, legs)
		fused := f.Fuse(legs, candidates)
		whole(t, fused)
		thresholds := Thresholds{
			Score:    value(anyFloat(0, 1).Draw(t, "score")),
			Relative: value(anyFloat(0, 1).Draw(t, "relative")),
			Legs:     []LegThreshold{{Index: rapid.IntRange(-1, 6).Draw(t, "leg"), Min: anyFloat(-1, 12).Draw(t, "min")}},
		}
		kept, cuts := thresholds.Cut(fused)
		count := len(kept)
		for _, c := range cuts {
			count += c.Count
		}
		if count != len(fused) {
			t.Fatalf("%d kept or cut of %d", count, len(fused))
		}
	})
}

func TestWindowsKeepTheScoreContract(t *testing.T) {
	forEachFusion(t, func(t *rapid.T, f Fusion, legs []Leg, candidates []Candidate) {
		whole(t, f.Fuse(legs, candidates))
	})
}

// Promise: "Every hit shows what each leg" (README.md).
// Promise: "every point of a score is explained" (docs/guide/en/concepts.md).
func TestEveryContributionIsExplained(t *testing.T) {
	forEachFusion(t, func(t *rapid.T, f Fusion, legs []Leg, candidates []Candidate) {
		for _, chunk := range f.Fuse(legs, candidates) {
			for l, c := range chunk.Legs() {
				o := candidates[chunk.Index].Observations[l]
				switch {
				case c.Leg != legs[l].Name:
					t.Fatalf("leg %d is called %q", l, c.Leg)
				case legs[l].Degraded && (c.Rank != nil || c.Raw != nil || c.Contribution != 0):
					t.Fatalf("degraded, yet %+v", c)
				case !legs[l].Degraded && (c.Rank != nil) != (o.Rank > 0):
					t.Fatalf("rank %v of %+v", c.Rank, o)
				case c.Normalized == nil && c.Contribution != 0:
					t.Fatalf("a contribution of nothing: %+v", c)
				case f.Method == Linear && c.Normalized != nil && c.Contribution != c.Weight**c.Normalized:
					t.Fatalf("%v * %v is not %v", c.Weight, *c.Normalized, c.Contribution)
				}
			}
		}
	})
}

// order is a ranking without what a permutation of the legs changes.
func order(fused []Fused) []string {
	s := make([]string, len(fused))
	for i, f := range fused {
		s[i] = fmt.Sprintf("%s %v", f.ID(), f.Score)
	}
	return s
}

func TestOrderOfCandidatesDoesNotMatter(t *testing.T) {
	forEachFusion(t, func(t *rapid.T, f Fusion, legs []Leg, candidates []Candidate) {
		shuffled := rapid.Permutation(candidates).Draw(t, "shuffled")
		if a, b := order(f.Fuse(legs, candidates)), order(f.Fuse(legs, shuffled)); !slices.Equal(a, b) {
			t.Fatalf("%v\nbecame %v", a, b)
		}
	})
}

func TestCandidatesThatComeInOrderStayInOrder(t *testing.T) {
	forEachFusion(t, func(t *rapid.T, f Fusion, legs []Leg, candidates []Candidate) {
		ranking := f.Fuse(legs, candidates)
		var inOrder, dropped []Candidate
		for i := range ranking {
			inOrder = append(inOrder, candidates[ranking[i].Index])
		}
		for i := range candidates {
			if !slices.ContainsFunc(ranking, func(f Fused) bool { return int(f.Index) == i }) {
				dropped = append(dropped, candidates[i])
			}
		}
		if a, b := order(ranking), order(f.Fuse(legs, append(inOrder, dropped...))); !slices.Equal(a, b) {
			t.Fatalf("%v\nbecame %v", a, b)
		}
	})
}

func TestExplainGivesTheLegsOfEachChunk(t *testing.T) {
	forEachFusion(t, func(t *rapid.T, f Fusion, legs []Leg, candidates []Candidate) {
		chunks := append(f.Fuse(legs, candidates), Fused{})
		for i, got := range Explain(chunks) {
			if want := chunks[i].Legs(); text(t, got) != text(t, want) {
				t.Fatalf("got  %s\nwant %s", text(t, got), text(t, want))
			}
		}
	})
}

func text(t *rapid.T, v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestOrderOfLegsDoesNotMatter(t *testing.T) {
	forEachFusion(t, func(t *rapid.T, f Fusion, legs []Leg, candidates []Candidate) {
		if f.Method == Single {
			return // takes the first leg
		}
		perm := rapid.Permutation(indexes(len(legs))).Draw(t, "perm")
		turnedLegs := make([]Leg, len(legs))
		turned := make([]Candidate, len(candidates))
		for c := range candidates {
			turned[c] = Candidate{ID: candidates[c].ID, Observations: make([]Observation, len(legs))}
		}
		for to, from := range perm {
			turnedLegs[to] = legs[from]
			for c := range candidates {
				turned[c].Observations[to] = candidates[c].Observations[from]
			}
		}
		a, b := f.Fuse(legs, candidates), f.Fuse(turnedLegs, turned)
		if !slices.Equal(order(a), order(b)) {
			t.Fatalf("%v\nbecame %v", order(a), order(b))
		}
		for i := range a {
			if !near(a[i].Raw, b[i].Raw) {
				t.Fatalf("%s: raw %v became %v", a[i].ID(), a[i].Raw, b[i].Raw)
			}
		}
	})
}

func TestSameInputSameRanking(t *testing.T) {
	forEachFusion(t, func(t *rapid.T, f Fusion, legs []Leg, candidates []Candidate) {
		before := fmt.Sprint(legs, candidates)
		a, b := show(f.Fuse(legs, candidates)), show(f.Fuse(legs, candidates))
		if a != b {
			t.Fatalf("%s\nbecame %s", a, b)
		}
		if after := fmt.Sprint(legs, candidates); after != before {
			t.Fatalf("the arguments were changed: %s\nbecame %s", before, after)
		}
	})
}

func scoreOf(fused []Fused, id string) (score float64, place int) {
	for i, f := range fused {
		if f.ID() == id {
			return f.Score, i
		}
	}
	return 0, len(fused)
}

func TestABetterRankNeverHurts(t *testing.T) {
	forEachFusion(t, func(t *rapid.T, f Fusion, legs []Leg, candidates []Candidate) {
		leg := rapid.IntRange(0, len(legs)-1).Draw(t, "leg")
		var returned []int
		for i, c := range candidates {
			if c.Observations[leg].Rank > 0 {
				returned = append(returned, i)
			}
		}
		if len(returned) < 2 {
			return
		}
		// two neighbours of the leg change places: the lower one moves up
		slices.SortFunc(returned, func(a, b int) int {
			return candidates[a].Observations[leg].Rank - candidates[b].Observations[leg].Rank
		})
		i := rapid.IntRange(1, len(returned)-1).Draw(t, "place")
		upper, lower := returned[i-1], returned[i]
		id := candidates[lower].ID
		score, place := scoreOf(f.Fuse(legs, candidates), id)
		o, p := &candidates[upper].Observations[leg], &candidates[lower].Observations[leg]
		*o, *p = *p, *o
		newScore, newPlace := scoreOf(f.Fuse(legs, candidates), id)
		// script_score's score is relative to a best that may rise as well
		if f.Method != ScriptScore && newScore < score-1e-12 || newPlace > place {
			t.Fatalf("%s fell from %v at %d to %v at %d", id, score, place, newScore, newPlace)
		}
	})
}

func TestMergeKeepsEachOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.SampledFrom(fusions()).Draw(t, "fusion")
		legs := drawLegs(t, weights())
		answers := make([]Ranking, rapid.IntRange(0, 4).Draw(t, "answers"))
		total := 0
		for i := range answers {
			answers[i] = Ranking{Legs: legs, Fused: from(i, f.Fuse(legs, drawWindow(t, legs)))}
			total += len(answers[i].Fused)
		}
		merged, _ := f.Merge(answers...)
		if len(merged) != total {
			t.Fatalf("%d of %d chunks", len(merged), total)
		}
		next := make([]int, len(answers))
		fused := make([]Fused, len(merged))
		for i, m := range merged {
			if m.ID() != answers[m.Source].Fused[next[m.Source]].ID() {
				t.Fatalf("%s of %d out of turn", m.ID(), m.Source)
			}
			next[m.Source]++
			fused[i] = m
			if !(m.Score >= 0 && m.Score <= 1) || i > 0 && m.Score > merged[i-1].Score {
				t.Fatalf("score %v at %d", m.Score, i)
			}
		}
	})
}

// TestAddUpAllKeepsSmallValues: less than n³·2⁻¹⁰⁰ of the largest value is lost.
func TestAddUpAllKeepsSmallValues(t *testing.T) {
	if got := addUpAll([]float64{1, 0x1p-92, -1}); math.Abs(got-0x1p-92) > 27*0x1p-100 {
		t.Errorf("got %g, want %g", got, 0x1p-92)
	}
}

func TestAddUpAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(-1e6, 1e6), 1, 500).Draw(t, "values")
		shuffled := rapid.Permutation(values).Draw(t, "shuffled")
		exact := new(big.Float).SetPrec(2000)
		for _, v := range values {
			exact.Add(exact, big.NewFloat(v))
		}
		want, _ := exact.Float64()
		got, again := addUpAll(slices.Clone(values)), addUpAll(shuffled)
		if got != again {
			t.Fatalf("%v, in another order %v", got, again)
		}
		if math.Abs(got-want) > 1e-15*(1+math.Abs(want)) {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}
