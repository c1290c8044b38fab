package live

import (
	"context"
	"maps"
	"time"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/experiments"
	"github.com/hybridge-search/hybridge/fault"
)

// Plan asks how long an experiment would take.
type Plan struct {
	Experiment Definition       `json:"experiment" doc:"As it would be made."`
	Goal       experiments.Goal `json:"goal" doc:"What it is to find. units_per_day, base and deviation that are left out are taken from the log of the last week."`
}

// Estimate is how long an experiment takes to reach a goal.
type Estimate struct {
	experiments.Needed

	Goal         experiments.Goal `json:"goal" doc:"As it was counted with."`
	UnitsSeen    int              `json:"units_seen" doc:"Users or sessions of the last week that the log has, whose searches would take part."`
	SearchesSeen int              `json:"searches_seen" doc:"Their searches."`
}

const (
	day  = 24 * time.Hour
	week = 7 * day
)

// Needed says how long an experiment takes that is not made yet. What the goal leaves out is of the last week: as many
// units a day as the log has different ones, over the days that it has, and the metric as they have it. Of two lists in
// one those count that clicked, which is the most that can have a preference.
func (s *Store) Needed(ctx context.Context, scope access.Scope, p Plan) (*Estimate, error) {
	d := &p.Experiment
	if err := d.Check(); err != nil {
		return nil, fault.Within("experiment.", err)
	}
	if !d.visible(scope) {
		return nil, fault.Invalid("experiment.knowledge_bases", d.KnowledgeBases, "among those that the key is limited to")
	}
	answer := &Estimate{Goal: p.Goal}
	g := &answer.Goal
	unknown := g.UnitsPerDay == 0 || d.Mode == experiments.Split && g.Base == 0 && g.Deviation == 0
	if unknown && s.options.Log == nil {
		return nil, errNoLog
	}
	if unknown {
		if err := s.lastWeek(ctx, scope.Tenant, d, answer); err != nil {
			return nil, err
		}
	}
	needed, err := d.Needed(*g)
	if err != nil {
		return nil, fault.Within("goal.", err)
	}
	answer.Needed = *needed
	return answer, nil
}

// lastWeek fills in missing parts of the goal from the log.
func (s *Store) lastWeek(ctx context.Context, tenant string, d *Definition, answer *Estimate) error {
	now := s.options.Now()
	units, first := map[string]*experiments.Tally{}, now
	for entry, err := range s.options.Log.Read(ctx, tenant, now.Add(-week), now) {
		if err != nil {
			return err
		}
		q := entry.Query
		if q == nil || !d.covers(q.Attributes.KnowledgeBases) {
			continue
		}
		unit, seen := d.unitOf(q.ClientID, q.Attributes.SessionID), impressionOf(&entry)
		if unit == "" || seen == nil {
			continue
		}
		if q.Timestamp.Before(first) {
			first = q.Timestamp
		}
		of := units[unit]
		if of == nil {
			of = &experiments.Tally{}
			units[unit] = of
		}
		of.Add(seen)
		answer.SearchesSeen++
		if len(units) > maxUnits {
			return tooMany(d.ID)
		}
	}
	answer.UnitsSeen = len(units)
	counted := float64(len(units))
	if d.Mode == experiments.Interleave {
		counted = 0
		for _, t := range units {
			if t.Clicked > 0 {
				counted++
			}
		}
	}
	g := &answer.Goal
	if g.UnitsPerDay == 0 {
		if counted == 0 {
			return fault.Invalid("goal.units_per_day", 0, "given, as the log of the last week has no such users or sessions")
		}
		g.UnitsPerDay = counted / max(1, now.Sub(first).Hours()/24)
	}
	if d.Mode == experiments.Split && g.Base == 0 && g.Deviation == 0 {
		g.Base, g.Deviation = d.Measured(maps.Values(units))
	}
	return nil
}
