package judge

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Agreement measures how far two judges agree on items that both graded.
type Agreement struct {
	Pairs int     `json:"pairs" minimum:"0" doc:"Judgments that both have."`
	Exact float64 `json:"exact" minimum:"0" maximum:"1" doc:"Share of equal grades."`
	// Kappa is 1 for equal grades and 0 for what chance alone would give.
	Kappa *float64 `json:"kappa" doc:"Cohen's kappa with quadratic weights, at most 1; 0: no more than chance. Null: it is not defined, as both gave one grade alone."`
	Low   *float64 `json:"low" doc:"Lower end of its 95 % bootstrap interval."`
	High  *float64 `json:"high"`
	Bias  float64  `json:"bias" doc:"By how much the grades are higher, on average, than those of the other."`
	// Confusion counts pairs: [grade][grade of the other].
	Confusion [][]int `json:"confusion" nullable:"false" doc:"Pairs by grade and, within it, by the grade of the other."`
}

const resamples = 1000

// Agree compares pairs of grades from 0 to most: the first of each pair is the one judge's, the second the other's.
// The interval is of the judged passages drawn anew 1000 times, by a seed of its own: the same pairs give the same.
func Agree(pairs [][2]int, most int) *Agreement {
	a := &Agreement{Pairs: len(pairs), Confusion: table(pairs, most)}
	if len(pairs) == 0 {
		return a
	}
	equal, higher := 0, 0
	for _, p := range pairs {
		if p[0] == p[1] {
			equal++
		}
		higher += p[0] - p[1]
	}
	a.Exact, a.Bias = float64(equal)/float64(len(pairs)), float64(higher)/float64(len(pairs))
	k := kappa(a.Confusion)
	if math.IsNaN(k) {
		return a
	}
	a.Kappa = &k
	a.Low, a.High = interval(pairs, most)
	return a
}

func table(pairs [][2]int, most int) [][]int {
	counts := make([][]int, most+1)
	for i := range counts {
		counts[i] = make([]int, most+1)
	}
	for _, p := range pairs {
		counts[p[0]][p[1]]++
	}
	return counts
}

// kappa is Cohen's with quadratic weights ("Weighted kappa", Psychological Bulletin 70, 1968): 1 minus the mean square
// of the difference over that of grades drawn independently. NaN where the latter is 0.
func kappa(counts [][]int) float64 {
	rows, columns := make([]float64, len(counts)), make([]float64, len(counts))
	var n, seen float64
	for i := range counts {
		for j, count := range counts[i] {
			c := float64(count)
			rows[i] += c
			columns[j] += c
			n += c
			seen += c * float64((i-j)*(i-j))
		}
	}
	var chance float64
	for i := range rows {
		for j := range columns {
			chance += rows[i] * columns[j] / n * float64((i-j)*(i-j))
		}
	}
	if chance == 0 {
		return math.NaN()
	}
	return 1 - seen/chance
}

// interval gives nothing where too many draws have no kappa.
func interval(pairs [][2]int, most int) (low, high *float64) {
	const left, right = resamples * 25 / 1000, resamples*975/1000 - 1
	random := rand.New(rand.NewPCG(1, uint64(len(pairs))))
	drawn := make([][2]int, len(pairs))
	kappas := make([]float64, 0, resamples)
	for range resamples {
		for i := range drawn {
			drawn[i] = pairs[random.IntN(len(pairs))]
		}
		if k := kappa(table(drawn, most)); !math.IsNaN(k) {
			kappas = append(kappas, k)
		}
	}
	if len(kappas) < resamples {
		return nil, nil
	}
	slices.Sort(kappas)
	return &kappas[left], &kappas[right]
}
