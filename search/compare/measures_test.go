package compare_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/hybridge-search/hybridge/internal/properties" // fewer cases in make test
	"github.com/hybridge-search/hybridge/search/compare"
)

// list splits "abc" into its letters.
func list(s string) []string { return strings.Split(s, "")[:len(s)] }

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9 {
		t.Errorf("%s = %.6f, want %.6f", what, got, want)
	}
}

func TestOverlap(t *testing.T) {
	f := func(a, b string, k int, want float64) {
		t.Helper()
		near(t, fmt.Sprintf("overlap@%d(%s, %s)", k, a, b), compare.Overlap(list(a), list(b), k), want)
	}
	f("", "", 10, 1)
	f("ab", "", 10, 0)
	f("abc", "abc", 3, 1)
	f("abc", "cba", 3, 1)
	f("abc", "cba", 1, 0)
	f("abcd", "abxy", 4, 0.5)
	f("ab", "abcd", 4, 0.5)
	f("ab", "abcd", 2, 1)
}

func TestRankBiasedOverlap(t *testing.T) {
	f := func(a, b string, p, want float64) {
		t.Helper()
		near(t, fmt.Sprintf("rbo(%s, %s)", a, b), compare.RankBiasedOverlap(list(a), list(b), p), want)
	}
	f("", "", 0.9, 1)
	f("", "a", 0.9, 0)
	f("abc", "abc", 0.9, 1)
	f("abc", "xyz", 0.9, 0)
	// (1-p)/p (0 p + 1 p²) + 1 p²: agreement 0 at depth 1, 1 at depth 2.
	f("ab", "ba", 0.5, 0.5*0.5+0.25)
	f("ab", "ba", 0.9, 0.1*0.9+0.81)
	// A list that is the other's beginning agrees with it as far as it goes.
	f("ab", "abcd", 0.9, 1)
}

func TestKendallTau(t *testing.T) {
	f := func(a, b string, want float64, known bool) {
		t.Helper()
		got, ok := compare.KendallTau(list(a), list(b))
		if ok != known {
			t.Errorf("tau(%s, %s) is known: %t, want %t", a, b, ok, known)
		}
		near(t, fmt.Sprintf("tau(%s, %s)", a, b), got, want)
	}
	f("", "", 0, false)
	f("a", "a", 0, false)
	f("ax", "ya", 0, false)
	f("abc", "abc", 1, true)
	f("abc", "cba", -1, true)
	f("abc", "acb", 1.0/3, true)
	f("axbyc", "zabc", 1, true)
}

func TestMoves(t *testing.T) {
	shown := func(ranks []*int) string {
		parts := make([]string, len(ranks))
		for i, r := range ranks {
			parts[i] = "-"
			if r != nil {
				parts[i] = fmt.Sprint(*r)
			}
		}
		return strings.Join(parts, " ")
	}
	f := func(want string, rankings ...string) {
		t.Helper()
		lists := make([][]string, len(rankings))
		for i := range rankings {
			lists[i] = list(rankings[i])
		}
		var got []string
		for _, m := range compare.Moves(lists) {
			line := fmt.Sprintf("%s: %s | %s", m.ID, shown(m.Ranks), shown(m.Moved))
			if m.Unique {
				line += " unique"
			}
			got = append(got, line)
		}
		if text := strings.Join(got, "; "); text != want {
			t.Errorf("moves of %v:\n got %s\nwant %s", rankings, text, want)
		}
	}
	f("", "", "")
	f("a: 1 1 | 0 0; b: 2 2 | 0 0", "ab", "ab")
	f("a: 1 2 | 0 -1; b: 2 1 | 0 1", "ab", "ba")
	f("a: 1 2 | 0 -1; c: - 1 | - - unique; b: 2 - | 0 - unique", "ab", "ca")
	f("x: - 1 1 | - - -; y: - - 2 | - - - unique", "", "x", "xy")
}

// ranking draws distinct ids from a small alphabet, so that rankings meet.
func ranking(t *rapid.T, label string) []string {
	return rapid.SliceOfNDistinct(rapid.StringMatching("[a-l]"), 0, 10, rapid.ID[string]).Draw(t, label)
}

func TestMeasuresHoldTheirLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := ranking(t, "a"), ranking(t, "b")
		k := rapid.IntRange(1, 12).Draw(t, "k")
		p := rapid.Float64Range(0.05, 0.99).Draw(t, "p")
		overlap, rbo := compare.Overlap(a, b, k), compare.RankBiasedOverlap(a, b, p)
		tau, known := compare.KendallTau(a, b)
		if overlap < 0 || overlap > 1 || rbo < 0 || rbo > 1 || tau < -1 || tau > 1 {
			t.Fatalf("out of bounds: overlap %g, rbo %g, tau %g; want overlap at least 0 and overlap at most 1 and rbo at least 0 and rbo at most 1 and tau at least -1 and tau at most 1", overlap, rbo, tau)
		}
		back, knownBack := compare.KendallTau(b, a)
		if overlap != compare.Overlap(b, a, k) || math.Abs(rbo-compare.RankBiasedOverlap(b, a, p)) > 1e-12 ||
			tau != back || known != knownBack {
			t.Fatalf("not symmetric: %v, %v", a, b)
		}
		if compare.Overlap(a, a, k) != 1 || math.Abs(compare.RankBiasedOverlap(a, a, p)-1) > 1e-12 {
			t.Fatalf("a ranking differs from itself: %v", a)
		}
		reversed := slices.Clone(a)
		slices.Reverse(reversed)
		if tau, known := compare.KendallTau(a, reversed); known && tau != -1 {
			t.Fatalf("tau of the reverse of %v is %g; want not known or tau -1", a, tau)
		}
	})
}

func TestMovesAccountForEveryHit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rankings := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) []string { return ranking(t, "ranking") }), 2, 6).
			Draw(t, "rankings")
		moves := compare.Moves(rankings)
		for column, ids := range rankings {
			seen := 0
			for _, m := range moves {
				rank := m.Ranks[column]
				if rank == nil {
					continue
				}
				seen++
				if ids[*rank-1] != m.ID {
					t.Fatalf("column %d has %s at %d, not %s", column, ids[*rank-1], *rank, m.ID)
				}
			}
			if seen != len(ids) {
				t.Fatalf("column %d has %d hits, the moves %d", column, len(ids), seen)
			}
		}
	})
}
