package experiments

import "math"

// Levels of the tests.
const (
	// level is the chance that an experiment without any difference ever names a winner, or is stopped.
	level = 0.05
	// sampleRatioLevel is the level of the alarm about shares, which says that the experiment itself is broken.
	sampleRatioLevel = 0.001
	// mixing is the standard deviation of the effects that the tests are tuned to, in standard deviations of a unit's
	// value: half of what Cohen (1988) calls small. Other effects are found too, somewhat later.
	mixing = 0.1
	// minUnits is how many units a variant has before a verdict: sums of fewer are not nearly normal.
	minUnits = 100
)

// quantile is the point that a standard normal variable is below with probability p.
func quantile(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }

// sums are the sufficient statistics for a ratio over independent units.
type sums struct{ n, x, y, xx, xy, yy float64 }

func (s *sums) add(x, y float64) {
	s.n++
	s.x += x
	s.y += y
	s.xx += x * x
	s.xy += x * y
	s.yy += y * y
}

// remove is the inverse of add.
func (s *sums) remove(x, y float64) {
	s.n--
	s.x -= x
	s.y -= y
	s.xx -= x * x
	s.xy -= x * y
	s.yy -= y * y
}

// ratio is the sum of x over that of y; 0 where y is.
func (s *sums) ratio() float64 {
	if s.y == 0 {
		return 0
	}
	return s.x / s.y
}

// variance applies the delta method to the ratio: units are independent of each other, searches of one unit are
// not (Deng, Knoblich, Lu, "Applying the delta method in metric analytics", KDD 2018). With ratio R it is
// n/(n-1) Σ(x - Ry)² / (Σy)². It is infinite where fewer than two units are known.
func (s *sums) variance() float64 {
	if s.n < 2 || s.y == 0 {
		return math.Inf(1)
	}
	r := s.ratio()
	squares := max(0, s.xx-2*r*s.xy+r*r*s.yy) // rounding may bring it below
	return s.n / (s.n - 1) * squares / (s.y * s.y)
}

// interval is the ratio's at 95 %, for one look. That of a rate is Wilson's score interval ("Probable inference, the
// law of succession, and statistical inference", JASA 1927), with as many searches as would be worth these if all were
// independent: p(1-p)/variance (Korn, Graubard, "Confidence intervals for proportions with small expected number of
// positive counts estimated from survey data", Survey Methodology 1998); where all or none are counted, the units.
func (s *sums) interval(isRate bool) (low, high float64) {
	z, r, v := quantile(1-level/2), s.ratio(), s.variance()
	switch {
	case isRate && s.y == 0:
		return 0, 1
	case isRate:
		n := s.n
		if v > 0 && r > 0 && r < 1 && s.n >= 2 {
			n = r * (1 - r) / v
		}
		return wilson(r, n, z)
	case s.n < 2 || s.y == 0:
		return r, r
	}
	return r - z*math.Sqrt(v), r + z*math.Sqrt(v)
}

func wilson(p, n, z float64) (low, high float64) {
	middle := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	low, high = max(0, middle-half), min(1, middle+half)
	if p == 0 {
		low = 0 // but for rounding
	}
	if p == 1 {
		high = 1
	}
	return low, high
}

// estimate is a value nearly normal around the true value, with the variance of its error, and the prior's
// variance of the true value under the alternative.
type estimate struct{ value, variance, prior float64 }

// against is by how much the ratio is above a number.
func (s *sums) against(limit float64) estimate {
	v := s.variance()
	return estimate{value: s.ratio() - limit, variance: v, prior: mixing * mixing * v * s.n}
}

// minus is by how much the ratio is above that of other units.
func (s *sums) minus(o *sums) estimate {
	v, w := s.variance(), o.variance()
	ofUnit := (s.n*s.n*v + o.n*o.n*w) / (s.n + o.n) // the mean of the variances of one unit
	return estimate{value: s.ratio() - o.ratio(), variance: v + w, prior: mixing * mixing * ofUnit}
}

// isKnown reports whether the error has a variance: it has none before the second unit, and where all units are alike.
func (e *estimate) isKnown() bool { return e.variance > 0 && !math.IsInf(e.variance, 1) && e.prior > 0 }

// p is the p-value of the mixture sequential probability ratio test of no difference with a normal mixture (Robbins,
// "Statistical methods related to the law of the iterated logarithm", 1970; Johari, Koomen, Pekelis, Walsh, "Always
// valid inference: continuous monitoring of A/B tests", Operations Research 2022). With value θ, variance
// V and prior τ² it is 1/Λ, where
//
//	Λ = sqrt(V/(V+τ²)) exp(τ²θ² / (2V(V+τ²)))
//
// The chance that it is ever at most a, at any of any number of looks, is a where there is no difference.
func (e *estimate) p() float64 {
	if !e.isKnown() {
		return 1
	}
	both := e.variance + e.prior
	log := 0.5*math.Log(e.variance/both) + e.prior*e.value*e.value/(2*e.variance*both)
	return min(1, math.Exp(-log))
}

// half is half the width of the interval that the same test gives: all values that it does not refuse at a level.
// What is true is in it at all looks together with probability 1-level.
func (e *estimate) half(level float64) float64 {
	if !e.isKnown() {
		return math.Inf(1)
	}
	return math.Sqrt(e.variance) * boundary(e.variance/e.prior, level)
}

// boundary is how many standard errors from 0 the test refuses, for the variance of the error over that of the prior.
func boundary(ratio, level float64) float64 {
	return math.Sqrt((1 + ratio) * (2*math.Log(1/level) + math.Log1p(1/ratio)))
}

// multinomialP is the always-valid p of counts that are to have these shares: the likelihood under a Dirichlet prior
// around the shares, over that under the shares (Lindon, Malek, "Anytime-valid inference for multinomial count data",
// NeurIPS 2022). The prior is worth concentration counts. It is exact for any number of counts.
func multinomialP(counts, shares []float64, concentration float64) float64 {
	n, log := 0.0, logGamma(concentration)
	for i, k := range counts {
		a := concentration * shares[i]
		n += k
		log += logGamma(a+k) - logGamma(a) - k*math.Log(shares[i])
	}
	log -= logGamma(concentration + n)
	return min(1, math.Exp(-log))
}

func logGamma(x float64) float64 {
	value, _ := math.Lgamma(x)
	return value
}

// Priors of counts.
const (
	// preferencePrior gives the share of units with a preference the deviation that mixing gives means.
	preferencePrior = 1/(mixing*mixing) - 1
	// sampleRatioPrior is tuned to shares that are off by a hundredth or two.
	sampleRatioPrior = 1000
)

// signTest is the always-valid sign test of units that prefer one of two: multinomialP of halves.
func signTest(wins, losses float64) float64 {
	return multinomialP([]float64{wins, losses}, []float64{0.5, 0.5}, preferencePrior)
}

// signInterval is where the share of wins is at all looks together with probability 1-level: what the sign test with
// the same prior does not refuse.
func signInterval(wins, losses, level float64) (low, high float64) {
	if wins+losses == 0 {
		return 0, 1
	}
	const half = preferencePrior / 2.0
	evidence := logGamma(half+wins) + logGamma(half+losses) - logGamma(2*half+wins+losses)
	evidence -= 2*logGamma(half) - logGamma(2*half)
	isRefused := func(share float64) bool {
		return evidence-wins*log(share)-losses*log(1-share) > math.Log(1/level)
	}
	return bisect(isRefused, 0, wins/(wins+losses)), bisect(isRefused, 1, wins/(wins+losses))
}

// log makes 0 times the logarithm of 0 a number.
func log(x float64) float64 { return math.Log(max(x, math.SmallestNonzeroFloat64)) }

// bisect finds where between a refused share and one that is not the refusal ends.
func bisect(isRefused func(share float64) bool, refused, kept float64) float64 {
	if !isRefused(refused) {
		return refused
	}
	for range 60 {
		if middle := (refused + kept) / 2; isRefused(middle) {
			refused = middle
		} else {
			kept = middle
		}
	}
	return kept
}
