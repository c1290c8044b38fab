package scoring

import (
	"math"
	"testing"
)

// fiveChunks is one list for every normaliser: a chunk of both legs, one of the
// vector leg alone, one of the text leg alone whose cosine is known all the
// same, and one without a vector.
func fiveChunks() []Candidate {
	return []Candidate{
		chunk("both", at(1, 8), at(2, 0.6)),
		chunk("vector", beyond(0), at(1, 0.8)),
		chunk("text", at(2, 6), beyond(-0.2)),
		chunk("bare", at(3, 2), beyond(unknown)),
		chunk("last", beyond(0), at(3, 0.4)),
	}
}

func linearOver(n Normalizer) Fusion { return Fusion{Method: Linear, Normalizer: n} }

func TestLinearMinMax(t *testing.T) {
	runFuse(t, []fuseCase{
		{
			name:   "weights 1 and 3 become 0.25 and 0.75",
			fusion: linearOver(MinMax), legs: pair(1, 3), candidates: fiveChunks(),
			// text: s/8; vector: (c − 0.4)/(0.8 − 0.4) over the returned 0.8, 0.6, 0.4
			// vector: 0.75·1; both: 0.25·1 + 0.75·0.5 = 0.625
			// text: 0.25·6/8 = 0.1875; bare: 0.25·2/8 = 0.0625; last: 0
			want: lines(
				"vector 0.750000 0.750000 | - 0.000 0.000000*0.250=0.000000 | 1 0.800 1.000000*0.750=0.750000",
				"both 0.625000 0.625000 | 1 8.000 1.000000*0.250=0.250000 | 2 0.600 0.500000*0.750=0.375000",
				"text 0.187500 0.187500 | 2 6.000 0.750000*0.250=0.187500 | - -0.200 0.000000*0.750=0.000000",
				"bare 0.062500 0.062500 | 3 2.000 0.250000*0.250=0.062500 | - - 0.000000*0.750=0.000000",
				"last 0.000000 0.000000 | - 0.000 0.000000*0.250=0.000000 | 3 0.400 0.000000*0.750=0.000000",
			),
		},
		{
			name:   "and so do those that are less than 1 together",
			fusion: linearOver(MinMax), legs: pair(0.0625, 0.1875), candidates: fiveChunks()[:2],
			want: lines(
				"vector 0.750000 0.750000 | - 0.000 0.000000*0.250=0.000000 | 1 0.800 1.000000*0.750=0.750000",
				"both 0.250000 0.250000 | 1 8.000 1.000000*0.250=0.250000 | 2 0.600 0.000000*0.750=0.000000",
			),
		},
		{
			name:   "equal cosines are all the best",
			fusion: linearOver(MinMax), legs: pair(0, 1),
			candidates: []Candidate{chunk("b", beyond(0), at(2, 0.3)), chunk("a", beyond(0), at(1, 0.3))},
			want: lines(
				"a 1.000000 1.000000 | - 0.000 0.000000*0.000=0.000000 | 1 0.300 1.000000*1.000=1.000000",
				"b 1.000000 1.000000 | - 0.000 0.000000*0.000=0.000000 | 2 0.300 1.000000*1.000=1.000000",
			),
		},
		{
			name:   "a degraded leg keeps its share of the weights",
			fusion: linearOver(MinMax), legs: []Leg{textLeg(1), degraded(vectorLeg(3))}, candidates: fiveChunks()[:2],
			want: lines("both 0.250000 0.250000 | 1 8.000 1.000000*0.250=0.250000 | - - -*0.750=0.000000"),
		},
	})
}

func TestLinearL2(t *testing.T) {
	runFuse(t, []fuseCase{{
		name:   "over the length of the returned scores",
		fusion: linearOver(L2), legs: pair(0.5, 0.5),
		candidates: []Candidate{
			chunk("a", at(1, 8), at(1, 0.8)),
			chunk("b", at(2, 6), at(2, 0.6)),
			chunk("c", beyond(4), at(3, -0.5)),
		},
		// text: √(64 + 36) = 10; the 4 was not returned
		// vector: √(0.64 + 0.36 + 0) = 1; −0.5 counts as 0
		want: lines(
			"a 0.800000 0.800000 | 1 8.000 0.800000*0.500=0.400000 | 1 0.800 0.800000*0.500=0.400000",
			"b 0.600000 0.600000 | 2 6.000 0.600000*0.500=0.300000 | 2 0.600 0.600000*0.500=0.300000",
			"c 0.000000 0.000000 | - 4.000 0.000000*0.500=0.000000 | 3 -0.500 0.000000*0.500=0.000000",
		),
	}})
}

func TestLinearTheoretical(t *testing.T) {
	bounded := pair(0.5, 0.5)
	bounded[0].Bound = 16
	runFuse(t, []fuseCase{
		{
			name:   "text over its bound, vector (1+cosine)/2",
			fusion: linearOver(Theoretical), legs: bounded, candidates: fiveChunks()[:3],
			// both: 0.5·8/16 + 0.5·0.8 = 0.25 + 0.4; vector: 0.5·0.9; text: 0.5·6/16 = 0.1875
			want: lines(
				"both 0.650000 0.650000 | 1 8.000 0.500000*0.500=0.250000 | 2 0.600 0.800000*0.500=0.400000",
				"vector 0.450000 0.450000 | - 0.000 0.000000*0.500=0.000000 | 1 0.800 0.900000*0.500=0.450000",
				"text 0.187500 0.187500 | 2 6.000 0.375000*0.500=0.187500 | - -0.200 0.000000*0.500=0.000000",
			),
		},
		{
			name:   "without a bound over the largest observed",
			fusion: linearOver(Theoretical), legs: pair(1, 0), candidates: fiveChunks()[2:4],
			want: lines(
				"text 1.000000 1.000000 | 2 6.000 1.000000*1.000=1.000000 | - -0.200 0.000000*0.000=0.000000",
				"bare 0.333333 0.333333 | 3 2.000 0.333333*1.000=0.333333 | - - 0.000000*0.000=0.000000",
			),
		},
	})
}

func TestLinearZScore(t *testing.T) {
	known := pair(0.25, 0.75)
	known[0].Moments = &Moments{Mean: 2, Deviation: 3}
	known[1].Moments = &Moments{Mean: 0.2, Deviation: 0.2}
	runFuse(t, []fuseCase{
		{
			name:   "moments of the knowledge base",
			fusion: linearOver(ZScore), legs: known, candidates: fiveChunks(),
			// both: 0.25·(8−2)/3 + 0.75·(0.6−0.2)/0.2 = 0.5 + 1.5 = 2; Φ(2) = 0.977250
			// vector: 0.25·(0−2)/3 + 0.75·3 = −0.166667 + 2.25 = 2.083333; Φ = 0.981390
			// last: −0.166667 + 0.75·1 = 0.583333; Φ = 0.720166
			// text: 0.25·4/3 + 0.75·(−0.2−0.2)/0.2 = 0.333333 − 1.5 = −1.166667; Φ = 0.121673
			// bare: 0.25·0 + 0.75·(the lowest known z, −2) = −1.5; Φ = 0.066807
			want: lines(
				"vector 2.083333 0.981390 | - 0.000 -0.666667*0.250=-0.166667 | 1 0.800 3.000000*0.750=2.250000",
				"both 2.000000 0.977250 | 1 8.000 2.000000*0.250=0.500000 | 2 0.600 2.000000*0.750=1.500000",
				"last 0.583333 0.720166 | - 0.000 -0.666667*0.250=-0.166667 | 3 0.400 1.000000*0.750=0.750000",
				"text -1.166667 0.121673 | 2 6.000 1.333333*0.250=0.333333 | - -0.200 -2.000000*0.750=-1.500000",
				"bare -1.500000 0.066807 | 3 2.000 0.000000*0.250=0.000000 | - - -2.000000*0.750=-1.500000",
			),
		},
		{
			name:   "moments of the window",
			fusion: linearOver(ZScore), legs: pair(1, 0),
			candidates: []Candidate{chunk("a", at(1, 5), beyond(unknown)), chunk("b", at(2, 1), beyond(unknown))},
			// mean 3, deviation 2: z = ±1; Φ(1) = 0.841345; no cosine is known: z 0
			want: lines(
				"a 1.000000 0.841345 | 1 5.000 1.000000*1.000=1.000000 | - - 0.000000*0.000=0.000000",
				"b -1.000000 0.158655 | 2 1.000 -1.000000*1.000=-1.000000 | - - 0.000000*0.000=0.000000",
			),
		},
		{
			name:   "no deviation says nothing",
			fusion: linearOver(ZScore), legs: pair(1, 1),
			candidates: []Candidate{chunk("a", at(1, 0.1), at(1, 0.7)), chunk("b", at(2, 0.1), at(2, 0.7)), chunk("c", at(3, 0.1), at(3, 0.7))},
			want: lines(
				"a 0.000000 0.500000 | 1 0.100 0.000000*0.500=0.000000 | 1 0.700 0.000000*0.500=0.000000",
				"b 0.000000 0.500000 | 2 0.100 0.000000*0.500=0.000000 | 2 0.700 0.000000*0.500=0.000000",
				"c 0.000000 0.500000 | 3 0.100 0.000000*0.500=0.000000 | 3 0.700 0.000000*0.500=0.000000",
			),
		},
	})
}

func TestNormalDistribution(t *testing.T) {
	f := func(z, want float64) {
		t.Helper()
		if got := normalDistribution(z); math.Abs(got-want) > 1e-12 {
			t.Errorf("Φ(%v) = %v, want %v", z, got, want)
		}
	}
	f(0, 0.5)
	f(1, 0.841344746069) // tables of the normal distribution
	f(-1.96, 0.024997895148)
	f(1e40, 1)
	f(-1e40, 0)
}
