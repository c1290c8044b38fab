package vector

import "math"

// Moments are mean and deviation of the cosines between a unit vector and the rows of
// a sample, [n*dim]float32, that are unit vectors too; 0 without rows.
func Moments(unit, sample []float32) (mean, deviation float64) {
	if len(unit) == 0 || len(sample) < len(unit) {
		return 0, 0
	}
	cosines := make([]float32, len(sample)/len(unit))
	Dots(unit, sample, cosines)
	var sum, square float64
	for _, c := range cosines {
		c = max(-1, min(1, c)) // rounding may put it beyond
		sum += float64(c)
		square += float64(c) * float64(c)
	}
	n := float64(len(cosines))
	mean = sum / n
	return mean, math.Sqrt(max(0, square/n-mean*mean))
}
