package refine

import (
	"context"
	"slices"

	"github.com/hybridge-search/hybridge/lib/tracing"
	"github.com/hybridge-search/hybridge/rules"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search/answer"
	"github.com/hybridge-search/hybridge/search/ask"
	"github.com/hybridge-search/hybridge/search/engines"
	"github.com/hybridge-search/hybridge/search/rank"
)

// Pin puts pinned hits before all other entries, in the order of the knowledge bases, rules and
// pins, whether or not a leg found them. It reads missing ones, to be sure that the search may
// show them.
func (s *Refiner) Pin(ctx context.Context, r *ask.Asked, set *Set) {
	if !r.Pins() {
		return
	}
	ctx, span := tracing.Start(ctx, engines.SpanRules)
	defer span.End(nil)
	found := map[rank.Key]*scoring.Fused{}
	for i := range set.Entries {
		if e := &set.Entries[i]; set.IsPinned(e) {
			found[set.Key(e)] = e
		}
	}
	unfound := set.readPins(ctx, r)
	front := make([]scoring.Fused, 0, len(set.Entries))
	for i := range set.Retrievals {
		rt := &set.Retrievals[i]
		placed := map[string]bool{}
		for _, p := range rt.Pins {
			if p.Shown == "" || placed[p.Shown] {
				continue
			}
			placed[p.Shown] = true
			if e := found[rank.Key{Source: rt.Source, ID: p.Shown}]; e != nil {
				front = append(front, *e)
			} else if e, read := unfound[i][p.Shown]; read {
				front = append(front, e)
			}
		}
	}
	for i := range set.Entries {
		if e := &set.Entries[i]; !set.IsPinned(e) {
			front = append(front, *e)
		}
	}
	set.Entries = front
}

// readPins reads the pinned chunks that no leg found, of all knowledge bases at a time, and gives their
// entries by id. If that fails, the answer lacks them and is degraded.
func (set *Set) readPins(ctx context.Context, r *ask.Asked) []map[string]scoring.Fused {
	unfound, failed := make([]map[string]scoring.Fused, len(set.Retrievals)), make([]error, len(set.Retrievals))
	engines.Each(len(set.Retrievals), func(i int) {
		rt := &set.Retrievals[i]
		if rt.Err == nil && slices.ContainsFunc(rt.Pins, func(p ask.Pin) bool { return p.Shown == "" }) {
			unfound[i], failed[i] = rt.ReadPins(ctx, r)
		}
	})
	for i, err := range failed {
		if err != nil {
			set.Degraded = append(set.Degraded, answer.NewDegraded(answer.StepRules, set.Retrievals[i].KB.ID, err))
		}
	}
	return unfound
}

// AppliedRules reports the effects of the rules. Hidden chunks may be beyond the filter of a key, and
// are not reported to a key with a filter.
func (set *Set) AppliedRules(r *ask.Asked) []answer.AppliedRule {
	var all []answer.AppliedRule
	for i := range set.Retrievals {
		rt := &set.Retrievals[i]
		if rt.Rules == nil {
			continue
		}
		for _, rule := range rt.Rules.All {
			applied := answer.AppliedRule{
				KnowledgeBase: rt.KB.ID, Rule: rule.Name, Pinned: []string{}, Hidden: []rules.Target{},
			}
			for _, p := range rt.Pins {
				if p.Shown != "" && p.Rule == rule.Name && !slices.Contains(applied.Pinned, p.Shown) {
					applied.Pinned = append(applied.Pinned, p.Shown)
				}
			}
			if len(r.Bound) == 0 {
				applied.Hidden = append(applied.Hidden, rule.Hide...)
			}
			all = append(all, applied)
		}
	}
	return all
}
