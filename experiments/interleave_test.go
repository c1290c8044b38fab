package experiments

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func ids(text string) []string { return strings.Fields(text) }

// drawn writes a list as "a:A b:B c", with the teams.
func drawn(list []Pick) string {
	words := make([]string, len(list))
	for i, p := range list {
		words[i] = p.ID + [...]string{"", ":A", ":B"}[p.Team]
	}
	return strings.Join(words, " ")
}

func TestTeamDraft(t *testing.T) {
	t.Parallel()
	// f wants the lists that coins make of two rankings, and no other ones, in their order.
	f := func(a, b string, want ...string) {
		t.Helper()
		var got []string
		for seed := range uint64(100) {
			got = append(got, drawn(TeamDraft(ids(a), ids(b), seed)))
		}
		slices.Sort(got)
		if got = slices.Compact(got); !slices.Equal(got, want) {
			t.Errorf("%q and %q:\n got %q\nwant %q", a, b, got, want)
		}
	}
	f("", "", "")
	f("x y", "", "x y") // what only one side could give counts for nobody
	f("", "x y", "x y")
	f("x", "y", "x:A y", "y:B x")
	f("x y", "y x", "x:A y:B", "y:B x:A")
	f("x y v", "y z w", "x:A y:B v:A z w", "x:A y:B z:B v:A w", "y:B x:A v:A z w", "y:B x:A z:B v:A w")
	f("x", "x", "x") // only a coin would say whose it is
	f("x y y", "x y y", "x y")
	f("x y v", "x z v", "x y:A z:B v:A", "x y:A z:B v:B", "x z:B y:A v:A", "x z:B y:A v:B")
	f("x y x", "z x y", "x:A z:B y:A", "x:A z:B y:B", "z:B x:A y:A", "z:B x:A y:B")
	f("x y", "x z", "x y:A z", "x z:B y")
	f("x y z", "x", "x y z")
	f("y x z", "x", "x:B y z", "y:A x:B z")
}

// TestTeamDraftIsFair counts how often each team gives the hit of a rank, and how many each gives.
func TestTeamDraftIsFair(t *testing.T) {
	t.Parallel()
	a, b := ids("1 2 3 4 5 6 7 8 9 10"), ids("3 1 11 2 12 5 13 14 4 15")
	const n = 10_000
	var ofA [10]int
	e := interleaved()
	for i := range n {
		list := TeamDraft(a, b, e.Seed(keys["adjacent"](i), "q"))
		for pair := 0; pair < 10; pair += 2 {
			if list[pair].Team == list[pair+1].Team {
				t.Fatalf("both hits of a round are of one team: %s", drawn(list))
			}
		}
		for rank := range ofA {
			if list[rank].Team == TeamA {
				ofA[rank]++
			}
		}
	}
	for rank, count := range ofA {
		if p := fit([]float64{float64(count), float64(n - count)}, []float64{n / 2, n / 2}); p < improbable {
			t.Errorf("rank %d: %d of %d are of the first team", rank+1, count, n)
		}
	}
}

// TestPagesAreConsistent: the first hits are the same however many of each ranking are known, and each is there once.
func TestPagesAreConsistent(t *testing.T) {
	t.Parallel()
	a, b := rankingsOf100()
	for seed := range uint64(50) {
		whole := TeamDraft(a, b, seed)
		seen := map[string]bool{}
		for _, p := range whole {
			if seen[p.ID] {
				t.Fatalf("%s is there twice", p.ID)
			}
			seen[p.ID] = true
		}
		if len(seen) != 150 {
			t.Fatalf("%d of 150 hits are in the list; want 150 seen", len(seen))
		}
		for _, n := range []int{1, 10, 20, 100} {
			if page := TeamDraft(a[:n], b[:n], seed)[:n]; !slices.Equal(page, whole[:n]) {
				t.Fatalf("the first %d: %s\nof all: %s", n, drawn(page), drawn(whole[:n]))
			}
		}
	}
}

func TestCredit(t *testing.T) {
	t.Parallel()
	teams := []Team{TeamA, TeamB, TeamB, TeamA, NoTeam}
	f := func(wantA, wantB int, clicks ...int) {
		t.Helper()
		if a, b := Credit(teams, clicks); a != wantA || b != wantB {
			t.Errorf("clicks %v: %d and %d, want %d and %d", clicks, a, b, wantA, wantB)
		}
	}
	f(0, 0)
	f(1, 0, 1)
	f(1, 2, 3, 2, 1)
	f(1, 0, 1, 1, 1) // one hit
	f(0, 0, 0, -1, 6, 5)
	f(2, 0, 4, 5, 1)
}

// rankingsOf100 are two rankings that have half of their hits in common.
func rankingsOf100() (a, b []string) {
	for i := range 100 {
		a = append(a, fmt.Sprintf("chunk-%d", i))
		b = append(b, fmt.Sprintf("chunk-%d", 149-i))
	}
	return a, b
}

func BenchmarkTeamDraft(bench *testing.B) {
	a, b := rankingsOf100()
	bench.ReportAllocs()
	seed := uint64(0)
	for bench.Loop() {
		seed++
		TeamDraft(a, b, seed)
	}
}
