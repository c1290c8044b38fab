package evaluation

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/hybridge-search/hybridge/evaluation/metric"
)

// Interval is a mean with its 95 % bootstrap interval.
type Interval = metric.Interval

// Bootstrap is metric.Bootstrap.
func Bootstrap(values []float64) Interval { return metric.Bootstrap(values) }

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(max(1, len(values)))
}

// PairedTest returns the two-sided p-value of the difference between two systems on the same
// queries, by swapping the systems at random in each query (Smucker, Allan, Carterette, "A
// comparison of statistical significance tests for information retrieval evaluation", CIKM
// 2007).
func PairedTest(a, b []float64) float64 {
	n := min(len(a), len(b))
	observed := 0.0
	for i := range n {
		observed += a[i] - b[i]
	}
	const trials = 10_000
	random := rand.New(rand.NewPCG(2, uint64(n)))
	extreme := 1
	for range trials {
		sum := 0.0
		for i := range n {
			d := a[i] - b[i]
			if random.Uint64()&1 == 1 {
				d = -d
			}
			sum += d
		}
		if math.Abs(sum) >= math.Abs(observed)-1e-12 {
			extreme++
		}
	}
	return float64(extreme) / (trials + 1)
}

// Effect is the size of a difference between two systems on the same queries: the mean of the differences in units of
// their standard deviation (Cohen, "Statistical Power Analysis for the Behavioral Sciences", 1988, d_z); 0 where they
// are all the same.
func Effect(differences []float64) float64 {
	if len(differences) < 2 {
		return 0
	}
	middle, squares := mean(differences), 0.0
	for _, d := range differences {
		squares += (d - middle) * (d - middle)
	}
	deviation := math.Sqrt(squares / float64(len(differences)-1))
	if deviation < 1e-12 { // rounding
		return 0
	}
	return middle / deviation
}

// Holm corrects p-values of tests that are looked at together, so that the chance of one that is below a limit only by
// chance stays below that limit (Holm, "A simple sequentially rejective multiple test procedure", 1979).
func Holm(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	corrected, least := make([]float64, len(p)), 0.0
	for rank, i := range order {
		least = max(least, min(1, p[i]*float64(len(p)-rank)))
		corrected[i] = least
	}
	return corrected
}
