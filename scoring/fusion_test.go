package scoring

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

var unknown = math.NaN()

// at is what a leg says of a chunk it returned; beyond, of one it did not.
func at(rank int, raw float64) Observation { return Observation{Rank: rank, Raw: raw} }
func beyond(raw float64) Observation       { return Observation{Raw: raw} }

func chunk(id string, o ...Observation) Candidate { return Candidate{ID: id, Observations: o} }

func textLeg(weight float64) Leg   { return Leg{Name: "text", Kind: Text, Weight: weight, K: 100} }
func vectorLeg(weight float64) Leg { return Leg{Name: "vector", Kind: Vector, Weight: weight, K: 100} }

func pair(text, vector float64) []Leg { return []Leg{textLeg(text), vectorLeg(vector)} }

// show writes a ranking as one line per chunk:
//
//	id raw score | rank raw normalized*weight=contribution | …
func show(fused []Fused) string {
	var b strings.Builder
	for _, f := range fused {
		fmt.Fprintf(&b, "%s %.6f %.6f", f.ID(), f.Raw, f.Score)
		for _, c := range f.Legs() {
			rank := "-"
			if c.Rank != nil {
				rank = fmt.Sprint(*c.Rank)
			}
			fmt.Fprintf(&b, " | %s %s %s*%.3f=%.6f", rank, number(c.Raw, 3), number(c.Normalized, 6), c.Weight, c.Contribution)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func number(v *float64, digits int) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%.*f", digits, *v)
}

func lines(want ...string) string { return strings.Join(append(want, ""), "\n") }

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(a), math.Abs(b)) }

type fuseCase struct {
	name       string
	fusion     Fusion
	legs       []Leg
	candidates []Candidate
	want       string
}

func runFuse(t *testing.T, cases []fuseCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := show(c.fusion.Fuse(c.legs, c.candidates)); got != c.want {
				t.Errorf("got\n%swant\n%s", got, c.want)
			}
		})
	}
}

func degraded(leg Leg) Leg {
	leg.Degraded = true
	return leg
}

func TestRRF(t *testing.T) {
	fusion := Fusion{Method: RRF, RRFK: 60}
	runFuse(t, []fuseCase{
		{
			name:   "text 0.4, vector 0.6",
			fusion: fusion, legs: pair(0.4, 0.6),
			candidates: []Candidate{
				chunk("both", at(1, 11.2), at(3, 0.81)),
				chunk("vector", beyond(0), at(1, 0.9)),
				chunk("text", at(2, 9), beyond(0.3)),
			},
			// top = 0.4/61 + 0.6/61 = 1/61 = 0.016393
			// both: 0.4/61 + 0.6/63 = 0.006557 + 0.009524 = 0.016081; /top = 0.980952; 61/63 = 0.968254
			// vector: 0.6/61 = 0.009836; /top = 0.6
			// text: 0.4/62 = 0.006452; /top = 0.393548; 61/62 = 0.983871
			want: lines(
				"both 0.016081 0.980952 | 1 11.200 1.000000*0.400=0.006557 | 3 0.810 0.968254*0.600=0.009524",
				"vector 0.009836 0.600000 | - 0.000 -*0.400=0.000000 | 1 0.900 1.000000*0.600=0.009836",
				"text 0.006452 0.393548 | 2 9.000 0.983871*0.400=0.006452 | - 0.300 -*0.600=0.000000",
			),
		},
		{
			name:   "a degraded leg stays in the denominator",
			fusion: fusion, legs: []Leg{textLeg(0.4), degraded(vectorLeg(0.6))},
			candidates: []Candidate{chunk("a", at(1, 11.2), at(1, 0.9)), chunk("b", beyond(0), at(1, 0.8))},
			// a: 0.4/61 = 0.006557, over 1/61 = 0.4; b has no support left
			want: lines("a 0.006557 0.400000 | 1 11.200 1.000000*0.400=0.006557 | - - -*0.600=0.000000"),
		},
		{
			name:   "a leg of weight 0 has no say",
			fusion: fusion, legs: pair(0, 1),
			candidates: []Candidate{chunk("text", at(1, 9), beyond(unknown)), chunk("vector", beyond(0), at(2, 0.5))},
			want:       lines("vector 0.016129 0.983871 | - 0.000 -*0.000=0.000000 | 2 0.500 0.983871*1.000=0.016129"),
		},
		{
			name:   "what an engine should not send is unknown",
			fusion: fusion, legs: pair(1, 1),
			candidates: []Candidate{
				chunk("a", at(-2, math.Inf(1)), at(1, 1.0000001)), chunk("b", at(1, -3)), chunk("c", at(-2, 1)),
				chunk("d", at(9, math.Copysign(0, -1))),
			},
			want: lines(
				"a 0.016393 0.500000 | - - -*1.000=0.000000 | 1 1.000 1.000000*1.000=0.016393",
				"b 0.016393 0.500000 | 1 0.000 1.000000*1.000=0.016393 | - - -*1.000=0.000000",
				"d 0.014493 0.442029 | 9 0.000 0.884058*1.000=0.014493 | - - -*1.000=0.000000",
			),
		},
		{
			name:   "ties: best single rank, then id",
			fusion: Fusion{Method: RRF, RRFK: 2}, legs: pair(1, 1),
			candidates: []Candidate{
				chunk("c", at(2, 5), at(2, 0.5)), // 1/4 + 1/4 = 1/2
				chunk("d", at(4, 3), at(1, 0.9)), // 1/6 + 1/3 = 1/2, best rank 1
				chunk("b", at(2, 5), at(2, 0.5)),
			},
			// top = 2/3, so each scores 0.75; 3/4, 3/6 and 3/3 normalised
			want: lines(
				"d 0.500000 0.750000 | 4 3.000 0.500000*1.000=0.166667 | 1 0.900 1.000000*1.000=0.333333",
				"b 0.500000 0.750000 | 2 5.000 0.750000*1.000=0.250000 | 2 0.500 0.750000*1.000=0.250000",
				"c 0.500000 0.750000 | 2 5.000 0.750000*1.000=0.250000 | 2 0.500 0.750000*1.000=0.250000",
			),
		},
	})
}

func TestScriptScore(t *testing.T) {
	candidates := []Candidate{
		chunk("both", at(1, 11.2), at(1, 0.81)),
		chunk("vector", beyond(0), at(2, 0.9)),
		chunk("text", at(2, 10), beyond(unknown)), // no vector
		chunk("contrary", at(3, 0), at(3, -1)),
	}
	runFuse(t, []fuseCase{
		{
			name:   "text 0.05, vector 0.95",
			fusion: Fusion{Method: ScriptScore}, legs: pair(0.05, 0.95), candidates: candidates,
			// both: 0.05·11.2 + 0.95·1.81 = 0.56 + 1.7195 = 2.2795, the best: 1
			// vector: 0.95·1.9 = 1.805; /2.2795 = 0.791840
			// text: 0.05·10 = 0.5; /2.2795 = 0.219346; 10/11.2 = 0.892857 of the best text
			// contrary: 0.05·0 + 0.95·0 = 0
			want: lines(
				"both 2.279500 1.000000 | 1 11.200 1.000000*0.050=0.560000 | 1 0.810 0.905000*0.950=1.719500",
				"vector 1.805000 0.791840 | - 0.000 0.000000*0.050=0.000000 | 2 0.900 0.950000*0.950=1.805000",
				"text 0.500000 0.219346 | 2 10.000 0.892857*0.050=0.500000 | - - -*0.950=0.000000",
				"contrary 0.000000 0.000000 | 3 0.000 0.000000*0.050=0.000000 | 3 -1.000 0.000000*0.950=0.000000",
			),
		},
		{
			name:   "saturated, over the bound 0.5·1 + 0.5·2 = 1.5",
			fusion: Fusion{Method: ScriptScore, Saturated: true, Pivot: 10}, legs: pair(0.5, 0.5), candidates: candidates[:3],
			// both: 11.2/21.2 = 0.528302, half of it 0.264151; 0.5·1.81 = 0.905; 1.169151/1.5 = 0.779434
			// vector: 0.5·1.9 = 0.95; /1.5 = 0.633333
			// text: 10/20 = 0.5, half of it 0.25; /1.5 = 0.166667
			want: lines(
				"both 1.169151 0.779434 | 1 11.200 0.528302*0.500=0.264151 | 1 0.810 0.905000*0.500=0.905000",
				"vector 0.950000 0.633333 | - 0.000 0.000000*0.500=0.000000 | 2 0.900 0.950000*0.500=0.950000",
				"text 0.250000 0.166667 | 2 10.000 0.500000*0.500=0.250000 | - - -*0.500=0.000000",
			),
		},
		{
			name:   "a raw score counts without the leg's having returned the chunk",
			fusion: Fusion{Method: ScriptScore}, legs: pair(1, 1),
			candidates: []Candidate{chunk("neither", beyond(3), beyond(0.5)), chunk("nothing", beyond(0), beyond(-1))},
			// 3 + 1.5 = 4.5; a sum of 0 that no leg returned is left out
			want: lines("neither 4.500000 1.000000 | - 3.000 1.000000*1.000=3.000000 | - 0.500 0.750000*1.000=1.500000"),
		},
		{
			name:   "best 0 scores 0",
			fusion: Fusion{Method: ScriptScore}, legs: pair(0, 1), candidates: candidates[3:],
			want: lines("contrary 0.000000 0.000000 | 3 0.000 0.000000*0.000=0.000000 | 3 -1.000 0.000000*1.000=0.000000"),
		},
	})
}

func TestSingle(t *testing.T) {
	runFuse(t, []fuseCase{
		{
			name:   "text: s/(s+pivot)",
			fusion: Fusion{Method: Single}, legs: []Leg{textLeg(0.3)},
			candidates: []Candidate{chunk("b", at(2, 2.5)), chunk("a", at(1, 30)), chunk("out", beyond(1))},
			// 30/40 = 0.75; 2.5/12.5 = 0.2
			want: lines(
				"a 30.000000 0.750000 | 1 30.000 0.750000*1.000=30.000000",
				"b 2.500000 0.200000 | 2 2.500 0.200000*1.000=2.500000",
			),
		},
		{
			name:   "vector: (1+cosine)/2",
			fusion: Fusion{Method: Single}, legs: []Leg{vectorLeg(0)},
			candidates: []Candidate{chunk("b", at(2, -0.5)), chunk("a", at(1, 0.8)), chunk("c", at(3, unknown))},
			want: lines(
				"a 0.800000 0.900000 | 1 0.800 0.900000*1.000=0.800000",
				"b -0.500000 0.250000 | 2 -0.500 0.250000*1.000=-0.500000",
				"c -1.000000 0.000000 | 3 - 0.000000*1.000=-1.000000",
			),
		},
	})
}

// TestSumsDoNotDependOnTheOrderOfLegs: 0.1 + 0.2 + 0.3 is more than 0.3 + 0.2 + 0.1 in
// floating point.
func TestSumsDoNotDependOnTheOrderOfLegs(t *testing.T) {
	legs := []Leg{textLeg(1), textLeg(1), textLeg(1)}
	fused := Fusion{Method: ScriptScore}.Fuse(legs, []Candidate{
		chunk("b", at(2, 0.1), at(1, 0.2), at(1, 0.3)),
		chunk("a", at(1, 0.3), at(2, 0.2), at(2, 0.1)),
	})
	if fused[0].ID() != "a" || fused[0].Score != fused[1].Score {
		t.Errorf("%s scores %v, %s %v; want the same", fused[0].ID(), fused[0].Score, fused[1].ID(), fused[1].Score)
	}
}

func TestFuseNothing(t *testing.T) {
	for _, method := range append(Methods(), "unknown") {
		f := Fusion{Method: method, Normalizer: ZScore}
		if got := f.Fuse(pair(1, 1), nil); len(got) != 0 {
			t.Errorf("%s without candidates: %v", method, got)
		}
		all := []Leg{degraded(textLeg(1)), degraded(vectorLeg(1))}
		if got := f.Fuse(all, []Candidate{chunk("a", at(1, 1), at(1, 1))}); len(got) != 0 {
			t.Errorf("%s with every leg degraded: %v; want no got", method, got)
		}
	}
}

func TestFuseWithoutLegs(t *testing.T) {
	for _, method := range append(Methods(), "unknown") {
		ranking := Fusion{Method: method}.Fuse(nil, []Candidate{{ID: "b"}, {ID: "a"}, {ID: "c"}})
		for i, want := range []string{"a", "b", "c"} {
			if f := &ranking[i]; f.ID() != want || f.Score != 0 || f.Raw != 0 || len(f.Legs()) != 0 {
				t.Errorf("%d: %s with %v of %v", i, f.ID(), f.Score, f.Legs())
			}
		}
	}
}
