package scoring

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestAJointRankingHasTheRanksOfItsCandidates compares what legs without ranks come to
// with the same legs after somebody has sorted their candidates.
func TestAJointRankingHasTheRanksOfItsCandidates(t *testing.T) {
	for _, fusion := range fusions() {
		t.Run(fmt.Sprintf("%s %s", fusion.Method, fusion.Normalizer), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				legs := drawLegs(t, rapid.Float64Range(0, 2))
				unranked := drawJoint(t, legs)
				ranked := numbered(legs, unranked)
				got, want := fusion.Fuse(legs, unranked), fusion.Fuse(legs, ranked)
				if text(t, order(got)) != text(t, order(want)) {
					t.Fatalf("got  %v\nwant %v", order(got), order(want))
				}
				if a, b := text(t, Explain(got)), text(t, Explain(want)); a != b {
					t.Fatalf("got  %s\nwant %s", a, b)
				}
				few := got[:min(len(got), 10)]
				if a, b := text(t, Explain(fusion.Fuse(legs, unranked)[:len(few)])), text(t, Explain(want[:len(few)])); a != b {
					t.Fatalf("got  %s\nwant %s", a, b)
				}
				got = fusion.Fuse(legs, unranked)
				for i := range want {
					if a, b := text(t, got[i].Legs()), text(t, want[i].Legs()); a != b {
						t.Fatalf("got  %s\nwant %s", a, b)
					}
					if a, b := got[i].bestRank(), want[i].bestRank(); a != b {
						t.Fatalf("%s: best rank %d, want %d", want[i].ID(), a, b)
					}
				}
			})
		})
	}
}

// drawJoint makes the candidates of a joint ranking, more than whose ranks are counted
// one by one, of few different scores.
func drawJoint(t *rapid.T, legs []Leg) []Candidate {
	candidates := make([]Candidate, rapid.IntRange(0, 2*fewRanks).Draw(t, "candidates"))
	scores := rapid.IntRange(1, 2*len(candidates)+1).Draw(t, "scores")
	for i, id := range rapid.Permutation(indexes(len(candidates))).Draw(t, "ids") {
		c := Candidate{ID: fmt.Sprintf("c%03d", id)}
		for _, leg := range legs {
			raw := float64(rapid.IntRange(0, scores).Draw(t, "raw")) / float64(scores)
			switch {
			case leg.Kind == Text:
				raw *= 12
			case raw == 0:
				raw = math.NaN()
			default:
				raw = 2*raw - 1
			}
			c.Observations = append(c.Observations, Joint(leg.Kind, raw))
		}
		candidates[i] = c
	}
	return candidates
}

// numbered gives the same candidates, with ranks.
func numbered(legs []Leg, candidates []Candidate) []Candidate {
	ranked := slices.Clone(candidates)
	for i := range ranked {
		ranked[i].Observations = slices.Clone(candidates[i].Observations)
	}
	for leg := range legs {
		order := slices.Clone(ranked) // shares the observations
		slices.SortFunc(order, func(a, b Candidate) int {
			return cmp.Or(cmp.Compare(b.Observations[leg].Raw, a.Observations[leg].Raw), cmp.Compare(a.ID, b.ID))
		})
		next := 0
		for _, c := range order {
			if o := &c.Observations[leg]; o.Rank != 0 {
				next++
				o.Rank = next
			}
		}
	}
	return ranked
}

func TestJointSaysWhatALegHas(t *testing.T) {
	for _, c := range []struct {
		kind Kind
		raw  float64
		rank int
	}{
		{Text, 3, Unranked},
		{Text, 0, 0}, // no word of it matches
		{Text, math.NaN(), 0},
		{Vector, 0.5, Unranked},
		{Vector, 0, Unranked},
		{Vector, -0.5, Unranked},
		{Vector, math.NaN(), 0}, // it has no vector
	} {
		if got := Joint(c.kind, c.raw); got.Rank != c.rank || got.Raw != c.raw && !math.IsNaN(c.raw) {
			t.Errorf("Joint(%s, %v) = %+v, want rank %d", c.kind, c.raw, got, c.rank)
		}
	}
}

// BenchmarkFuseJoint ranks a thousand candidates of a joint ranking and explains the
// ten best.
func BenchmarkFuseJoint(b *testing.B) {
	legs := pair(0.05, 0.95)
	candidates := make([]Candidate, 1024)
	for i := range candidates {
		text := float64((i*7919)%1009) / 100
		candidates[i] = chunk(fmt.Sprintf("chunk-%04d", i),
			Joint(Text, text), Joint(Vector, 0.9-float64(i)/2048-0.05/0.95*text))
	}
	fusion := Fusion{Method: ScriptScore}
	b.ReportAllocs()
	for b.Loop() {
		ranking := fusion.Fuse(legs, candidates)
		Explain(ranking[:10])
	}
}
