package experiments

import (
	"slices"
	"time"
)

// Curve is the history of a deciding difference: its value at each earlier look.
type Curve struct {
	Metric  string  `json:"metric" doc:"That decides; preference where lists are interleaved."`
	Variant string  `json:"variant"`
	Against string  `json:"against"`
	Even    float64 `json:"even" doc:"The value without a difference: 0; of a preference, which is the share of units that prefer the variant, 0.5."`
	// LeftAt is the time of the first point that shows a difference.
	LeftAt *time.Time `json:"left_at,omitempty" doc:"Time of the first point whose interval is beyond the value without a difference, with as many units as a verdict needs."`
	Points []Point    `json:"points" nullable:"false" doc:"By time; the last is that of the report."`
}

// Point is a difference of all searches before a time, with what users have done with these by now.
type Point struct {
	At    time.Time `json:"at"`
	Units int       `json:"units" doc:"Of all variants."`
	Value float64   `json:"value"`
	Low   *float64  `json:"low" doc:"Lower end of the interval that holds at all looks together, as that of the report; null: not known yet."`
	High  *float64  `json:"high"`
}

// preferred is the name of the deciding metric between interleaved lists.
const preferred = "preference"

// History makes the curves of an experiment while its searches are counted in the order of their times. It holds sums,
// no units: a caller has their tallies. It is for one goroutine.
type History struct {
	of         *Experiment
	metric     int
	groups     []Group
	preference Preference
	curves     []Curve
}

// NewHistory begins one without searches.
func NewHistory(e *Experiment) *History {
	h := &History{of: e, groups: e.groups()}
	h.metric = slices.IndexFunc(metrics, func(m metric) bool { return m.name == e.metric() })
	if e.Mode == Interleave {
		h.preference.First, h.preference.Second = e.Variants[0].Name, e.Variants[1].Name
	}
	return h
}

// Change takes the tally of a unit before and after a search of its own.
func (h *History) Change(before, after *Tally) {
	i := slices.IndexFunc(h.groups, func(g Group) bool { return g.Name == after.Variant })
	if i < 0 {
		return // Analyze reports it
	}
	g, m := &h.groups[i], &metrics[h.metric]
	if before.Searches > 0 {
		g.Units--
		g.sums[h.metric].remove(m.of(before), m.per(before))
		h.preference.count(before, -1)
	}
	g.Units++
	g.sums[h.metric].add(m.of(after), m.per(after))
	h.preference.count(after, 1)
}

// Look adds a point at a time, which is not before that of the last.
func (h *History) Look(at time.Time) {
	r := &Report{At: at, Variants: h.groups}
	if h.of.Mode == Interleave {
		now := h.preference
		now.measure()
		r.Preference = &now
	} else {
		r.Differences = h.of.differencesIn(h.metric, h.groups)
	}
	h.take(r)
}

// Curves gives all curves, their last points those of a report on the same searches, the last of which were then.
func (h *History) Curves(r *Report, then time.Time) []Curve {
	last := *r
	last.At = then
	h.take(&last)
	return h.curves
}

// take adds a report to the curves. An empty report adds nothing.
func (h *History) take(r *Report) {
	units := 0
	for i := range r.Variants {
		units += r.Variants[i].Units
	}
	if units == 0 {
		return
	}
	if p := r.Preference; p != nil {
		c := h.curveOf(preferred, p.First, p.Second)
		c.Even = 0.5
		low, high := p.Low, p.High
		c.add(Point{At: r.At, Units: units, Value: p.Share, Low: &low, High: &high}, true)
	}
	for i := range r.Differences {
		if d := &r.Differences[i]; d.Metric == metrics[h.metric].name {
			enough := r.unitsOf(d.Variant) >= minUnits && r.unitsOf(d.Against) >= minUnits
			c := h.curveOf(d.Metric, d.Variant, d.Against)
			c.add(Point{At: r.At, Units: units, Value: d.Value, Low: d.Low, High: d.High}, enough)
		}
	}
}

func (r *Report) unitsOf(variant string) int {
	for i := range r.Variants {
		if r.Variants[i].Name == variant {
			return r.Variants[i].Units
		}
	}
	return 0
}

func (h *History) curveOf(metric, variant, against string) *Curve {
	for i := range h.curves {
		if c := &h.curves[i]; c.Variant == variant && c.Against == against {
			return c
		}
	}
	h.curves = append(h.curves, Curve{Metric: metric, Variant: variant, Against: against})
	return &h.curves[len(h.curves)-1]
}

// add adds a point; enough tells whether it has as many units as a verdict needs.
func (c *Curve) add(p Point, enough bool) {
	if enough && c.LeftAt == nil && p.Low != nil && p.High != nil && (*p.Low > c.Even || *p.High < c.Even) {
		c.LeftAt = &p.At
	}
	c.Points = append(c.Points, p)
}
