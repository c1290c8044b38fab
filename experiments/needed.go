package experiments

import (
	"iter"
	"math"

	"github.com/hybridge-search/hybridge/fault"
)

// Goal is the difference that an experiment is to find.
type Goal struct {
	// Effect is the difference of the metric, in its own unit; of an interleaved experiment by how much more than half
	// of the units with a preference prefer one variant.
	Effect float64 `json:"effect" minimum:"0.000001" maximum:"3.4e38" doc:"Difference to be found, in the unit of the metric; of interleave the share of preferences above 0.5."`
	// Base is the rate without the experiment. A unit's deviation is sqrt(base (1-base)) if it searches once.
	Base float64 `json:"base,omitempty" minimum:"0" exclusiveMaximum:"1" doc:"What a rate is now, more than 0 and less than 1."`
	// Deviation is the metric's deviation between units, where known: it overrides the one computed from Base.
	Deviation   float64 `json:"deviation,omitempty" minimum:"0" maximum:"3.4e38" doc:"Standard deviation of the metric between units; needed where it is no rate."`
	UnitsPerDay float64 `json:"units_per_day,omitempty" minimum:"0" maximum:"1000000000000" doc:"Users or sessions a day, with or without part in the experiment; of interleave those with a preference."`
	Power       float64 `json:"power,omitempty" minimum:"0" maximum:"0.99" doc:"Chance to find it, 0.5 to 0.99; the default is 0.8."`
}

// Needed is how long an experiment takes to reach a goal.
type Needed struct {
	Units int     `json:"units" doc:"That must take part, of all variants together, for the test that may be looked at any time."`
	Once  int     `json:"units_once" doc:"That a test would need that is looked at once, at its end."`
	Days  float64 `json:"days"`
	Fits  bool    `json:"fits" doc:"Whether the experiment is as long as that."`
}

// maxUnits is how many units are counted to.
const maxUnits = 1e15

// Needed says how many units find a difference between the first variant and that of the smallest share. Units is
// where the mixture test refuses with the wanted power if it is looked at just there, so it is at most what is needed
// by looking earlier too; Once is by the formula of a test of two means (Kohavi, Tang, Xu, 2020, chapter 17).
func (e *Experiment) Needed(g Goal) (*Needed, error) {
	deviation, err := e.checkGoal(&g)
	if err != nil {
		return nil, err
	}
	// The variance of the difference is factor/n for n units.
	factor := deviation * deviation
	prior := mixing * mixing * factor
	if e.Mode == Split {
		least := 1.0
		for _, v := range e.Variants[1:] {
			least = min(least, v.Share)
		}
		factor *= 1/e.Variants[0].Share + 1/least
	}
	corrected := level / float64(e.pairs())
	power := quantile(g.Power)
	reaches := func(n float64) bool {
		v := factor / n
		return g.Effect/math.Sqrt(v) >= power+boundary(v/prior, corrected)
	}
	n := 1.0
	for n < maxUnits && !reaches(n) {
		n *= 2
	}
	for low := n / 2; n-low > 1; {
		if middle := (low + n) / 2; reaches(middle) {
			n = middle
		} else {
			low = middle
		}
	}
	z := quantile(1-corrected/2) + power
	needed := &Needed{
		Units: int(math.Ceil(n)), Once: int(math.Ceil(min(maxUnits, z*z*factor/(g.Effect*g.Effect)))),
		Days: n / (g.UnitsPerDay * e.Traffic),
	}
	needed.Fits = needed.Days <= e.End.Sub(e.Start).Hours()/24
	return needed, nil
}

// Measured gives the deciding metric's mean over some units, and its standard deviation between them: the inputs of a
// Goal from searches without the experiment. Both are 0 where too little is known.
func (e *Experiment) Measured(tallies iter.Seq[*Tally]) (base, deviation float64) {
	m, s := metricOf(e.metric()), sums{}
	for t := range tallies {
		s.add(m.of(t), m.per(t))
	}
	if v := s.variance(); !math.IsInf(v, 1) {
		deviation = math.Sqrt(v * s.n)
	}
	return s.ratio(), deviation
}

// checkGoal refuses what no number of units reaches, fills in defaults and gives the deviation of a unit.
func (e *Experiment) checkGoal(g *Goal) (deviation float64, err error) {
	if g.Power == 0 {
		g.Power = 0.8
	}
	if !(g.Power >= 0.5 && g.Power <= 0.99) {
		return 0, fault.Invalid("power", g.Power, "0.5 to 0.99")
	}
	if !(g.UnitsPerDay > 0 && g.UnitsPerDay <= 1e12) {
		return 0, fault.Invalid("units_per_day", g.UnitsPerDay, "more than 0, at most 1000000000000")
	}
	m := metricOf(e.metric())
	most, accepted := math.MaxFloat32, "a finite number >= 0.000001"
	if m.isRate {
		most, accepted = 1, "0.000001 to 1"
	}
	switch {
	case e.Mode == Interleave:
		most, accepted, deviation = 0.5, "0.000001 to 0.5", 0.5
	case g.Deviation != 0:
		deviation = g.Deviation
		if !(deviation > 0 && deviation <= math.MaxFloat32) {
			return 0, fault.Invalid("deviation", g.Deviation, "a finite number > 0")
		}
	case !m.isRate:
		return 0, fault.Invalid("deviation", g.Deviation, "a finite number > 0 where the metric is no rate")
	default:
		if !(g.Base > 0 && g.Base < 1) {
			return 0, fault.Invalid("base", g.Base, "more than 0 and less than 1")
		}
		deviation = math.Sqrt(g.Base * (1 - g.Base))
	}
	if !(g.Effect >= 1e-6 && g.Effect <= most) {
		return 0, fault.Invalid("effect", g.Effect, accepted)
	}
	return deviation, nil
}

// metric is the name of that which decides.
func (e *Experiment) metric() string {
	if e.Metric == "" {
		return ClickThrough
	}
	return e.Metric
}

// pairs is how many comparisons of two variants there are.
func (e *Experiment) pairs() int { return len(e.Variants) * (len(e.Variants) - 1) / 2 }
