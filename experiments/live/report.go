package live

import (
	"context"
	"iter"
	"slices"
	"time"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/events"
	"github.com/hybridge-search/hybridge/experiments"
	"github.com/hybridge-search/hybridge/fault"
)

var errNoLog = fault.New(fault.Unsupported,
	"nothing is known of what users do with answers, as events are not kept; set events.enabled")

// maxUnits is how many users or sessions are counted: each takes some 200 bytes of memory meanwhile.
const maxUnits = 2_000_000

func tooMany(id string) error {
	return fault.New(fault.TooLarge, "experiment %q has more than %d users or sessions", id, maxUnits)
}

// Report says what is known of an experiment: of all searches that the log has of it until now. A page of an answer is
// a search of its own, as it is logged, whose hits stand at the ranks that they have in the answer; a page beyond the
// last hit is none. fault.Unsupported where nothing is logged.
func (s *Store) Report(ctx context.Context, scope access.Scope, id string) (*experiments.Report, error) {
	e, err := s.Get(ctx, scope, id)
	if err != nil {
		return nil, err
	}
	if s.options.Log == nil {
		return nil, errNoLog
	}
	c := newCount(scope.Tenant, e)
	c.history = experiments.NewHistory(&e.Experiment)
	return c.look(ctx, s.options.Log, s.options.Now(), false)
}

// count sums up the searches of an experiment, unit by unit.
type count struct {
	tenant string
	of     *Experiment
	// settled tallies the searches before until that are expected to get no more clicks.
	settled map[string]*experiments.Tally
	until   time.Time
	history *experiments.History // nil: the report has no curves
}

func newCount(tenant string, e *Experiment) *count {
	c := &count{tenant: tenant, of: e, settled: map[string]*experiments.Tally{}, until: e.Start}
	if e.CreatedAt.After(c.until) { // another one may have had its id before
		c.until = e.CreatedAt
	}
	return c
}

const (
	// settling is how long after a search clicks on it are waited for.
	settling = time.Hour
	// skew is how far the id of a search may be from its time.
	skew = time.Minute
)

// look reports on all searches until a time. With keep those that are settled are counted once for all, so that the
// next look reads the others alone. After an error the count is of no more use.
func (c *count) look(ctx context.Context, log Log, now time.Time, keep bool) (*experiments.Report, error) {
	end := c.of.over()
	if now.Before(end) {
		end = now
	}
	if end.Before(c.until) { // it has not begun
		end = c.until
	}
	settle := c.until
	if keep && end.Add(-settling).After(settle) {
		settle = end.Add(-settling)
	}
	recent, marks := map[string]*experiments.Tally{}, c.marks(end)
	for entry, err := range log.Read(ctx, c.tenant, c.until.Add(-skew), end.Add(skew)) {
		if err != nil {
			return nil, err
		}
		q := entry.Query
		if q == nil || q.Timestamp.Before(c.until) || !q.Timestamp.Before(end) {
			continue
		}
		p, seen := c.of.partOf(q), impressionOf(&entry)
		if p == nil || seen == nil {
			continue
		}
		if p.Teams != nil {
			seen.Teams = teamsOf(q.Attributes.Offset, p.Teams)
		}
		marks = c.pass(marks, q.Timestamp)
		of := c.settled[p.Unit]
		if q.Timestamp.Before(settle) {
			if of == nil {
				of = &experiments.Tally{Variant: p.Variant}
				c.settled[p.Unit] = of
			}
		} else {
			of = during(recent, p, of)
		}
		before := *of
		of.Add(seen)
		if c.history != nil {
			c.history.Change(&before, of)
		}
		if len(c.settled)+len(recent) > maxUnits {
			return nil, tooMany(c.of.ID)
		}
	}
	c.until = settle
	report, err := experiments.Analyze(&c.of.Experiment, c.tallies(recent), now)
	if err != nil || c.history == nil {
		return report, err
	}
	c.pass(marks, end)
	report.Curves = c.history.Curves(report, end)
	return report, nil
}

// during is the tally of a unit with searches that are not settled: those that are, and these.
func during(
	recent map[string]*experiments.Tally, p *events.Participation, settled *experiments.Tally,
) *experiments.Tally {
	of := recent[p.Unit]
	if of == nil {
		of = &experiments.Tally{Variant: p.Variant}
		if settled != nil {
			*of = *settled
		}
		recent[p.Unit] = of
	}
	return of
}

// tallies gives the tally of each unit.
func (c *count) tallies(recent map[string]*experiments.Tally) iter.Seq[*experiments.Tally] {
	return func(yield func(*experiments.Tally) bool) {
		for _, t := range recent {
			if !yield(t) {
				return
			}
		}
		for unit, t := range c.settled {
			if recent[unit] == nil && !yield(t) {
				return
			}
		}
	}
}

// partOf is the part of a search in the experiment, nil where it has none.
func (e *Experiment) partOf(q *events.Query) *events.Participation {
	for i := range q.Attributes.Experiments {
		p := &q.Attributes.Experiments[i]
		if p.Experiment != e.ID {
			continue
		}
		isOne := e.Mode == experiments.Interleave && p.Variant == "" ||
			slices.ContainsFunc(e.Variants, func(v experiments.Variant) bool { return v.Name == p.Variant })
		if isOne {
			return p
		}
	}
	return nil
}

// impressionOf is a search as its user saw it; nil where there was nothing to see: it was the caller's mistake, or
// given up, or a page beyond the last hit.
func impressionOf(entry *events.Entry) *experiments.Impression {
	q := entry.Query
	a := &q.Attributes
	if a.Error != "" {
		if !isOurs(a.Error) {
			return nil
		}
		return &experiments.Impression{Failed: true, Latency: a.TookMS}
	}
	if a.Offset > 0 && len(q.HitIDs) == 0 {
		return nil
	}
	seen := &experiments.Impression{Refused: q.Refused(), Latency: a.TookMS}
	if len(q.HitIDs) > 0 {
		seen.Hits = a.Offset + len(q.HitIDs)
	}
	for i := range entry.Events {
		if rank := clicked(&entry.Events[i], q); rank > 0 {
			seen.Clicks = append(seen.Clicks, rank)
		}
	}
	return seen
}

// isOurs reports whether an error is the gateway's and not its caller's.
func isOurs(kind fault.Kind) bool {
	switch kind { //nolint:exhaustive // the others are the caller's
	case fault.Overloaded, fault.Unavailable, fault.Timeout, fault.DiskFull, fault.Corrupt, fault.Internal:
		return true
	default:
		return false
	}
}

// clicked is the rank in the answer, from 1, of a hit that was clicked; 0 where the event is no click on one. The id of
// the hit says more than its position, which a page may have counted from its own beginning.
func clicked(e *events.Event, q *events.Query) int {
	if e.ActionName != events.ActionClick {
		return 0
	}
	if o := e.Attributes.Object; o != nil {
		if i := slices.Index(q.HitIDs, o.ObjectID); i >= 0 {
			return q.Attributes.Offset + i + 1
		}
	}
	if p := e.Attributes.Position; p != nil {
		return p.Ordinal
	}
	return 0
}

// teamsOf gives the teams of a page's hits, at their ranks in the answer.
func teamsOf(offset int, of []int8) []experiments.Team {
	teams := make([]experiments.Team, offset, offset+len(of))
	for _, team := range of {
		teams = append(teams, experiments.Team(team))
	}
	return teams
}
