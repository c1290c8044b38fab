package experiments

import (
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/hybridge-search/hybridge/fault"
)

// Report is the state of an experiment at one time.
type Report struct {
	Experiment  string       `json:"experiment"`
	At          time.Time    `json:"at"`
	Verdict     Verdict      `json:"verdict"`
	Variants    []Group      `json:"variants" doc:"Of interleave one without a name, as every list is of both."`
	Differences []Difference `json:"differences,omitempty" doc:"Of all pairs of variants in all metrics."`
	Preference  *Preference  `json:"preference,omitempty" doc:"Of interleave."`
	Curves      []Curve      `json:"curves,omitempty" doc:"How the difference of each pair in the metric that decides, or the preference, came about: at most 61 points each."`
	SampleRatio *SampleRatio `json:"sample_ratio,omitempty" doc:"Of split: whether units are shared out as they should be."`
	GuardRails  []Rail       `json:"guard_rails,omitempty"`
}

// Outcome is the outcome of an experiment so far.
type Outcome string

// The outcomes.
const (
	Open    Outcome = "open"    // no difference has been seen
	Won     Outcome = "won"     // a variant is better than all others
	Stopped Outcome = "stopped" // a guard rail was crossed
	Invalid Outcome = "invalid" // units are not shared out as they should be
)

// Verdict is a recommendation with its reason. Whoever acts on the first that is not open names a winner in at most
// 5 % of all experiments without a difference, whenever and however often they look, and stops at most 5 % of those
// that keep within their guard rails. A later look may withdraw a verdict; the bound of 5 % still holds.
type Verdict struct {
	Outcome Outcome `json:"outcome" enum:"open,won,stopped,invalid"`
	Winner  string  `json:"winner,omitempty" doc:"Variant that is better than all others."`
	Reason  string  `json:"reason" locale:"text"`
}

// Group sums up the searches of a variant.
type Group struct {
	Name     string  `json:"name,omitempty"`
	Units    int     `json:"units"`
	Searches int     `json:"searches"`
	Metrics  []Value `json:"metrics"`

	sums []sums // in the order of metrics
}

// Value is a metric of a variant with its 95 % interval, which is for one look; those of differences hold at all looks
// together.
type Value struct {
	Metric string  `json:"metric"`
	Value  float64 `json:"value" doc:"A rate from 0 to 1, or milliseconds."`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
}

// Difference of a metric: Variant minus Against.
type Difference struct {
	Metric  string   `json:"metric"`
	Variant string   `json:"variant"`
	Against string   `json:"against"`
	Value   float64  `json:"difference"`
	Low     *float64 `json:"low" doc:"Lower end of the interval that holds at all looks, at 95 % for all pairs together; null: not known yet."`
	High    *float64 `json:"high"`
	P       float64  `json:"p" doc:"Always valid, corrected for the number of pairs."`
}

// Preference is whose hits the units click in interleaved lists.
type Preference struct {
	First  string  `json:"first"`
	Second string  `json:"second"`
	Wins   int     `json:"wins" doc:"Units with more searches in which the first has more clicks."`
	Losses int     `json:"losses"`
	Ties   int     `json:"ties"`
	Share  float64 `json:"share" doc:"Of the units with a preference that prefer the first; 0.5 if there are none."`
	Low    float64 `json:"low" doc:"Lower end of the share's interval, which holds at all looks together at 95 %."`
	High   float64 `json:"high"`
	P      float64 `json:"p" doc:"Always valid, of a share of 0.5."`
}

// SampleRatio compares the units of variants with their shares.
type SampleRatio struct {
	P     float64 `json:"p" doc:"Always valid, of units that are shared out as they should be."`
	Alarm bool    `json:"alarm" doc:"p is below 0.001: something loses units of one variant, and nothing else of the report is to be trusted."`
}

// Rail is a guard rail for a variant.
type Rail struct {
	Metric  string  `json:"metric"`
	Variant string  `json:"variant,omitempty"`
	Against string  `json:"against,omitempty" doc:"Where an increase is bounded."`
	Value   float64 `json:"value" doc:"Of the variant, or its difference to against."`
	Limit   float64 `json:"limit"`
	// Shown is the value's lower bound at 95 %, for all rails and looks together.
	Shown   *float64 `json:"shown" doc:"What the value is above for sure, at 95 % for all rails and looks together; null: not known yet."`
	Crossed bool     `json:"crossed"`
}

// Analyze reports on the tallies of all units, one each, at a time. It fails for one of a variant that the experiment
// does not have.
func Analyze(e *Experiment, tallies iter.Seq[*Tally], at time.Time) (*Report, error) {
	r := &Report{Experiment: e.ID, At: at, Variants: e.groups()}
	preference := Preference{}
	for t := range tallies {
		i := slices.IndexFunc(r.Variants, func(g Group) bool { return g.Name == t.Variant })
		if i < 0 {
			return nil, fault.New(fault.Corrupt, "experiment %q has no variant %q", e.ID, t.Variant)
		}
		r.Variants[i].add(t)
		preference.count(t, 1)
	}
	for i := range r.Variants {
		r.Variants[i].measure()
	}
	if e.Mode == Interleave {
		preference.First, preference.Second = e.Variants[0].Name, e.Variants[1].Name
		preference.measure()
		r.Preference = &preference
	} else {
		r.SampleRatio = e.sampleRatio(r.Variants)
		r.Differences = e.differences(r.Variants)
	}
	r.GuardRails = e.rails(r.Variants)
	r.Verdict = e.verdict(r)
	return r, nil
}

func (e *Experiment) groups() []Group {
	if e.Mode == Interleave {
		return []Group{{sums: make([]sums, len(metrics))}}
	}
	groups := make([]Group, len(e.Variants))
	for i := range groups {
		groups[i] = Group{Name: e.Variants[i].Name, sums: make([]sums, len(metrics))}
	}
	return groups
}

func (g *Group) add(t *Tally) {
	g.Units++
	g.Searches += t.Searches
	for i := range metrics {
		g.sums[i].add(metrics[i].of(t), metrics[i].per(t))
	}
}

func (g *Group) measure() {
	for i := range metrics {
		v := Value{Metric: metrics[i].name, Value: g.sums[i].ratio()}
		v.Low, v.High = g.sums[i].interval(metrics[i].isRate)
		g.Metrics = append(g.Metrics, v)
	}
}

// count adds a unit, or takes it away by -1.
func (p *Preference) count(t *Tally, by int) {
	switch {
	case t.ForA > t.ForB:
		p.Wins += by
	case t.ForB > t.ForA:
		p.Losses += by
	default:
		p.Ties += by
	}
}

func (p *Preference) measure() {
	wins, losses := float64(p.Wins), float64(p.Losses)
	p.Share = 0.5
	if n := wins + losses; n > 0 {
		p.Share = wins / n
	}
	p.P = signTest(wins, losses)
	p.Low, p.High = signInterval(wins, losses, level)
}

func (e *Experiment) sampleRatio(groups []Group) *SampleRatio {
	counts, shares := make([]float64, len(groups)), make([]float64, len(groups))
	sum := 0.0
	for i := range e.Variants {
		sum += e.Variants[i].Share
	}
	for i := range groups {
		counts[i], shares[i] = float64(groups[i].Units), e.Variants[i].Share/sum
	}
	p := multinomialP(counts, shares, sampleRatioPrior)
	return &SampleRatio{P: p, Alarm: p < sampleRatioLevel}
}

func (e *Experiment) differences(groups []Group) []Difference {
	var all []Difference
	for m := range metrics {
		all = append(all, e.differencesIn(m, groups)...)
	}
	return all
}

// differencesIn gives the differences of all pairs in a metric, each variant after those it is compared with
// (Bonferroni's correction).
func (e *Experiment) differencesIn(m int, groups []Group) []Difference {
	var all []Difference
	pairs := float64(e.pairs())
	for i := range groups {
		for j := range i {
			by := groups[i].sums[m].minus(&groups[j].sums[m])
			d := Difference{
				Metric: metrics[m].name, Variant: groups[i].Name, Against: groups[j].Name,
				Value: by.value, P: min(1, by.p()*pairs),
			}
			if half := by.half(level / pairs); by.isKnown() {
				low, high := by.value-half, by.value+half
				d.Low, d.High = &low, &high
			}
			all = append(all, d)
		}
	}
	return all
}

// rails are the guard rails for each variant that they are for.
func (e *Experiment) rails(groups []Group) []Rail {
	var all []Rail
	var units []int
	var by []estimate
	for i := range e.GuardRails {
		g := &e.GuardRails[i]
		m := slices.IndexFunc(metrics, func(m metric) bool { return m.name == g.Metric })
		for j := range groups {
			r, of := Rail{Metric: g.Metric, Variant: groups[j].Name}, &groups[j].sums[m]
			smaller := groups[j].Units
			switch {
			case g.AtMost != nil:
				r.Value, r.Limit = of.ratio(), *g.AtMost
				by = append(by, of.against(r.Limit))
			case j == 0:
				continue
			default:
				r.Against, r.Limit = groups[0].Name, *g.Increase
				d := of.minus(&groups[0].sums[m])
				r.Value, smaller = d.value, min(smaller, groups[0].Units)
				d.value -= r.Limit
				by = append(by, d)
			}
			all, units = append(all, r), append(units, smaller)
		}
	}
	for i := range all {
		all[i].judge(&by[i], units[i], len(all))
	}
	return all
}

// judge reports whether a rail is crossed: one of several that are checked together, after so many units.
func (r *Rail) judge(by *estimate, units, rails int) {
	if !by.isKnown() {
		// All units alike: what they all are is as sure as it gets.
		r.Crossed = units >= minUnits && r.Value > r.Limit
		return
	}
	shown := r.Value - by.half(level/float64(rails))
	r.Shown, r.Crossed = &shown, units >= minUnits && shown > r.Limit
}

// verdict is the first that holds of: not to be trusted, stopped, won, open.
func (e *Experiment) verdict(r *Report) Verdict {
	if r.SampleRatio != nil && r.SampleRatio.Alarm {
		return Verdict{Outcome: Invalid, Reason: fmt.Sprintf(
			"variants did not get the units that their shares say (p %.2g): something loses some of them", r.SampleRatio.P)}
	}
	for i := range r.GuardRails {
		if g := &r.GuardRails[i]; g.Crossed {
			return Verdict{Outcome: Stopped, Reason: g.Reason()}
		}
	}
	if p := r.Preference; p != nil {
		if p.P <= level {
			winner, other, share := p.First, p.Second, p.Share
			if p.Share < 0.5 {
				winner, other, share = p.Second, p.First, 1-p.Share
			}
			return Verdict{Outcome: Won, Winner: winner, Reason: fmt.Sprintf(
				"a share of %.3f of the users or sessions with a preference prefer %s to %s (p %.2g)", share, winner, other, p.P)}
		}
		return r.open(e)
	}
	for i := range r.Variants {
		if r.isBest(e, r.Variants[i].Name) {
			name := r.Variants[i].Name
			return Verdict{Outcome: Won, Winner: name, Reason: fmt.Sprintf(
				"%s is better than every other variant in %s", name, e.metric())}
		}
	}
	return r.open(e)
}

// Reason explains why a rail is crossed.
func (r *Rail) Reason() string {
	value, limit := fmt.Sprintf("%.4g", r.Value), fmt.Sprintf("%.4g", r.Limit)
	switch {
	case r.Against != "":
		return fmt.Sprintf("guard rail %s: %s is %s above %s; at most %s are accepted",
			r.Metric, r.Variant, value, r.Against, limit)
	case r.Variant != "":
		return fmt.Sprintf("guard rail %s: that of %s is %s; at most %s are accepted", r.Metric, r.Variant, value, limit)
	default:
		return fmt.Sprintf("guard rail %s is at %s; at most %s are accepted", r.Metric, value, limit)
	}
}

// isBest reports whether a variant is shown to be better than each other one.
func (r *Report) isBest(e *Experiment, name string) bool {
	lower := metricOf(e.metric()).lowerIsBetter
	for i := range r.Variants {
		if r.Variants[i].Units < minUnits {
			return false
		}
	}
	for i := range r.Differences {
		d := &r.Differences[i]
		if d.Metric != e.metric() || (d.Variant != name && d.Against != name) {
			continue
		}
		isHigher := (d.Variant == name) == (d.Value > 0)
		if d.P > level || isHigher == lower {
			return false
		}
	}
	return true
}

// open is the verdict of an experiment that shows no difference.
func (r *Report) open(e *Experiment) Verdict {
	units, least := 0, minUnits
	for i := range r.Variants {
		units += r.Variants[i].Units
		least = min(least, r.Variants[i].Units)
	}
	v := Verdict{Outcome: Open}
	switch {
	case e.Mode == Split && least < minUnits:
		v.Reason = fmt.Sprintf("no difference seen yet: a variant has %d users or sessions and needs %d", least, minUnits)
	case r.At.Before(e.End):
		v.Reason = fmt.Sprintf("no difference seen yet among %d users or sessions", units)
	default:
		v.Reason = fmt.Sprintf("no difference was seen among %d users or sessions until the end", units)
	}
	return v
}
