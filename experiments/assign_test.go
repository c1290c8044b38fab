package experiments

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

func nan() float64 { return math.NaN() }

// improbable is the p below which a test of a hash, whose keys are always the same, fails.
const improbable = 1e-4

// chiSquaredP is the chance of a chi-squared variable of so many degrees of freedom above x (Abramowitz, Stegun,
// "Handbook of mathematical functions", 26.4.4 and 26.4.5).
func chiSquaredP(x float64, freedom int) float64 {
	p, term, first := 0.0, 0.0, 2
	if freedom%2 == 1 {
		p, first = math.Erfc(math.Sqrt(x/2)), 3
		term = math.Sqrt(2*x/math.Pi) * math.Exp(-x/2)
	} else {
		term = math.Exp(-x / 2)
	}
	for k := first; k <= freedom; k += 2 {
		p += term
		term *= x / float64(k)
	}
	return p
}

func TestChiSquaredP(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		x       float64
		freedom int
	}{{3.841459, 1}, {5.991465, 2}, {7.814728, 3}, {9.487729, 4}, {11.070498, 5}} { // of tables, for 0.05
		if p := chiSquaredP(c.x, c.freedom); math.Abs(p-0.05) > 1e-6 {
			t.Errorf("chi-squared %g of %d: %g", c.x, c.freedom, p)
		}
	}
}

// fit is the p of counts that are to be as expected.
func fit(counts, expected []float64) float64 {
	x := 0.0
	for i := range counts {
		x += (counts[i] - expected[i]) * (counts[i] - expected[i]) / expected[i]
	}
	return chiSquaredP(x, len(counts)-1)
}

// keys are forms of the keys that callers have: those that differ in a digit, in Chinese, long ones.
var keys = map[string]func(i int) string{
	"adjacent": func(i int) string { return fmt.Sprintf("user-%d", i) },
	"numbers":  func(i int) string { return fmt.Sprint(i) },
	"chinese":  func(i int) string { return fmt.Sprintf("用户%d号", i) },
	"long":     func(i int) string { return fmt.Sprintf("%s%x", strings.Repeat("0", 40), i) },
}

// TestShares holds the shares of a million keys to what they should be, and those of fewer in other forms.
func TestShares(t *testing.T) {
	t.Parallel()
	for form, key := range keys {
		n := 200_000 / slower
		if form == "adjacent" {
			n = 1_000_000 / slower
		}
		for _, of := range [][]float64{{0.5, 0.5}, {0.1, 0.2, 0.7}} {
			e := shares("e1", of...)
			e.Traffic = 0.6
			counts := make([]float64, len(of)+1)
			for i := range n {
				switch v, in := e.Assign(key(i)); {
				case !in:
					counts[len(of)]++
				default:
					counts[v.Name[0]-'a']++
				}
			}
			expected := []float64{}
			for _, share := range of {
				expected = append(expected, share*e.Traffic*float64(n))
			}
			expected = append(expected, (1-e.Traffic)*float64(n))
			if p := fit(counts, expected); p < improbable {
				t.Errorf("%s, shares %v: %v, p %g; want p at least improbable", form, of, counts, p)
			} else {
				t.Logf("%s, shares %v: p %.3f", form, of, p)
			}
		}
	}
}

// TestExperimentsAreIndependent: what a unit gets in one experiment says nothing about what it gets in another.
func TestExperimentsAreIndependent(t *testing.T) {
	t.Parallel()
	const n = 100_000 / slower
	for _, ids := range [][2]string{{"e1", "e2"}, {"a", "aa"}, {"ranking-2026-11", "ranking-2026-12"}} {
		one, other := shares(ids[0], 0.2, 0.8), shares(ids[1], 0.3, 0.3, 0.4)
		one.Traffic, other.Traffic = 0.5, 0.7
		var table [3][4]float64 // the last row and column: no part
		for i := range n {
			row, column := 2, 3
			if v, in := one.Assign(keys["adjacent"](i)); in {
				row = int(v.Name[0] - 'a')
			}
			if v, in := other.Assign(keys["adjacent"](i)); in {
				column = int(v.Name[0] - 'a')
			}
			table[row][column]++
		}
		x := 0.0
		for i := range table {
			for j := range table[i] {
				row, column := 0.0, 0.0
				for k := range table[i] {
					row += table[i][k]
				}
				for k := range table {
					column += table[k][j]
				}
				expected := row * column / n
				x += (table[i][j] - expected) * (table[i][j] - expected) / expected
			}
		}
		if p := chiSquaredP(x, 2*3); p < improbable {
			t.Errorf("%v: p %g of %v; want p at least improbable", ids, p, table)
		}
	}
}

// TestAssignmentIsStable holds it to what it has always been: an experiment runs on while gateways are updated.
//
// Promise: "each always by the same" (docs/guide/en/experiments.md).
// Promise: "the same on every gateway" (docs/guide/en/experiments.md).
func TestAssignmentIsStable(t *testing.T) {
	t.Parallel()
	e := halves()
	e.Traffic = 0.8
	got := ""
	for i := range 40 {
		switch v, in := e.Assign(keys["chinese"](i)); {
		case !in:
			got += "-"
		default:
			got += v.Name[:1]
		}
	}
	if want := "ctctcttccctt-tcccttcttcc-ctt-tcctccct-tc"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if seed := e.Seed("user-1", "what is bm25"); seed != 18310870760499640753 {
		t.Errorf("seed %d; want seed 18310870760499640753", seed)
	}
}

// TestMoreTraffic moves nobody who takes part.
func TestMoreTraffic(t *testing.T) {
	t.Parallel()
	few, many := halves(), halves()
	few.Traffic, many.Traffic = 0.1, 0.6
	joined := 0
	for i := range 10_000 {
		unit := keys["adjacent"](i)
		before, in := few.Assign(unit)
		after, inAfter := many.Assign(unit)
		if in && (!inAfter || before.Name != after.Name) {
			t.Fatalf("%s has moved", unit)
		}
		if inAfter && !in {
			joined++
		}
	}
	if joined < 4500 || joined > 5500 {
		t.Errorf("%d joined; want joined at least 4500 and joined at most 5500", joined)
	}
}

func TestAssignInterleaved(t *testing.T) {
	t.Parallel()
	e := interleaved()
	if v, in := e.Assign("somebody"); v != nil || !in {
		t.Errorf("%v, %v; want no v and in", v, in)
	}
	if e.Seed("ab", "c") == e.Seed("a", "bc") {
		t.Error("the unit and the query are hashed as one text")
	}
}

func BenchmarkAssign(b *testing.B) {
	e := shares("ranking-2026-12", 0.1, 0.2, 0.7)
	e.Traffic = 0.9
	b.ReportAllocs()
	for b.Loop() {
		e.Assign("user-0123456789abcdef")
	}
}
