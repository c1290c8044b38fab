package metric

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// Interval is a mean with its 95 % bootstrap interval.
type Interval struct {
	Mean float64 `json:"mean"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// String shows a mean and its interval.
func (i Interval) String() string { return fmt.Sprintf("%.4f [%.4f, %.4f]", i.Mean, i.Low, i.High) }

// resamples is the number of samples drawn.
const resamples = 1000

// Bootstrap draws values with replacement and returns the percentile interval of their mean
// (Efron, 1979). The seed is fixed, so the same values give the same interval.
func Bootstrap(values []float64) Interval {
	if len(values) == 0 {
		return Interval{}
	}
	random := rand.New(rand.NewPCG(1, uint64(len(values))))
	means := make([]float64, resamples)
	for i := range means {
		sum := 0.0
		for range values {
			sum += values[random.IntN(len(values))]
		}
		means[i] = sum / float64(len(values))
	}
	slices.Sort(means)
	whole := 0.0
	for _, v := range values {
		whole += v
	}
	return Interval{
		Mean: whole / float64(len(values)), Low: means[resamples*25/1000], High: means[resamples*975/1000],
	}
}
