package evaluation

import (
	"math"
	"slices"
)

// Said is a probability that was said, whether it came true, and how much it counts.
type Said struct {
	P      float64
	True   bool
	Weight float64
}

// Bin aggregates the probabilities within a tenth of [0, 1].
type Bin struct {
	Said, True float64 // means
	Share      float64 // of all
}

// Calibration sorts what was said into ten bins, and returns the expected calibration error:
// the mean distance of what is said and what is true (Naeini et al., "Obtaining Well
// Calibrated Probabilities Using Bayesian Binning", AAAI 2015).
func Calibration(all []Said) (bins [10]Bin, expectedError float64) {
	total := 0.0
	for _, s := range all {
		b := &bins[min(int(s.P*10), 9)]
		b.Said += s.P * s.Weight
		if s.True {
			b.True += s.Weight
		}
		b.Share += s.Weight
		total += s.Weight
	}
	for i := range bins {
		b := &bins[i]
		if b.Share == 0 {
			continue
		}
		b.Said, b.True = b.Said/b.Share, b.True/b.Share
		b.Share /= total
		expectedError += b.Share * math.Abs(b.Said-b.True)
	}
	return bins, expectedError
}

// AUC is the probability that one of the first lies above one of the second, ties counting
// half.
func AUC(above, below []float64) float64 {
	sorted := slices.Sorted(slices.Values(below))
	sum := 0.0
	for _, x := range above {
		under, _ := slices.BinarySearch(sorted, x)
		upTo, _ := slices.BinarySearchFunc(sorted, x, func(y, x float64) int {
			if y <= x {
				return -1
			}
			return 1
		})
		sum += float64(under) + float64(upTo-under)/2
	}
	return sum / float64(len(above)) / float64(len(below))
}

// quantile is the value below which a share of the values lie.
func quantile(values []float64, share float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	at := share * float64(len(sorted)-1)
	low := int(at)
	high := min(low+1, len(sorted)-1)
	return sorted[low] + (at-float64(low))*(sorted[high]-sorted[low])
}

// Example is one case of a logistic regression.
type Example struct {
	X      []float64
	True   bool
	Weight float64
}

// Logistic fits p = 1 / (1 + exp(−(b·x + b₀))) by Newton's method and returns b and, last,
// b₀.
func Logistic(examples []Example) []float64 {
	n := len(examples[0].X) + 1
	b := make([]float64, n)
	for range 50 {
		gradient, hessian := make([]float64, n), make([][]float64, n)
		for i := range hessian {
			hessian[i] = make([]float64, n)
			hessian[i][i] = 1e-6
		}
		for _, e := range examples {
			e.addTo(gradient, hessian, Probability(b, e.X))
		}
		for i, step := range solve(hessian, gradient) {
			b[i] += step
		}
	}
	return b
}

// addTo adds what an example, of which p is said, gives to a step of Newton's method.
func (e *Example) addTo(gradient []float64, hessian [][]float64, p float64) {
	x := append(slices.Clip(e.X), 1)
	y := 0.0
	if e.True {
		y = 1
	}
	for i := range x {
		gradient[i] += e.Weight * (y - p) * x[i]
		for j := range x {
			hessian[i][j] += e.Weight * p * (1 - p) * x[i] * x[j]
		}
	}
}

// Probability is a Logistic's probability of x.
func Probability(b, x []float64) float64 {
	sum := b[len(b)-1]
	for i := range x {
		sum += b[i] * x[i]
	}
	return 1 / (1 + math.Exp(-sum))
}

// solve returns x of a·x = y, a being symmetric and positive definite. It overwrites both.
func solve(a [][]float64, y []float64) []float64 {
	n := len(y)
	for i := range n {
		for k := i + 1; k < n; k++ {
			f := a[k][i] / a[i][i]
			for j := i; j < n; j++ {
				a[k][j] -= f * a[i][j]
			}
			y[k] -= f * y[i]
		}
	}
	for i := n - 1; i >= 0; i-- {
		for j := i + 1; j < n; j++ {
			y[i] -= a[i][j] * y[j]
		}
		y[i] /= a[i][i]
	}
	return y
}
