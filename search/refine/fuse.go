package refine

import (
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search/answer"
	"github.com/hybridge-search/hybridge/search/ask"
	"github.com/hybridge-search/hybridge/search/rank"
	"github.com/hybridge-search/hybridge/search/retrieve"
)

// Fuse makes one answer set of the results of the knowledge bases.
func Fuse(r *ask.Asked, retrievals []retrieve.Retrieval) *Set {
	set := &Set{
		Ranked:     rank.Ranked{Dropped: map[string]int{}, Bases: make([]*rank.Base, len(retrievals))},
		Retrievals: retrievals, Degraded: []answer.Degraded{},
	}
	for i := range retrievals {
		set.Bases[i] = &retrievals[i].Base
	}
	rankings := set.rankings()
	for i := range retrievals {
		set.collect(&retrievals[i])
	}
	merged, basis := r.Plan.Fusion.Merge(rankings...)
	set.Entries = merged
	switch {
	case len(rankings) > 1:
		set.MergedBy = string(basis)
	case len(retrievals) > 1:
		set.MergedBy = retrieve.MergedPooled
	}
	return set
}

// rankings gives one ranking of each pool, and of each knowledge base outside all pools.
func (set *Set) rankings() []scoring.Ranking {
	var all []scoring.Ranking
	for i := range set.Retrievals {
		rt := &set.Retrievals[i]
		switch p := rt.Pool; {
		case p == nil && rt.Err != nil: // it has none
		case p == nil:
			for j := range rt.Ranking {
				rt.Ranking[j].Source = rt.Source
			}
			all = append(all, scoring.Ranking{Legs: rt.ScoringLegs(), Fused: rt.Ranking})
		case p.Members[0] == rt:
			p.Fuse()
			set.Drop(p.Cuts)
			all = append(all, scoring.Ranking{Legs: p.ScoringLegs(), Fused: p.Kept})
		}
	}
	return all
}

// collect takes over a retrieval's results beside its hits.
func (set *Set) collect(rt *retrieve.Retrieval) {
	set.More = set.More || rt.Full
	set.Degraded = append(set.Degraded, rt.Degraded...)
	set.Drop(rt.Cuts)
	if rt.Relaxed != "" {
		set.Relaxed = &rt.Relaxed
	}
	if set.Known == nil {
		set.Known = rt.Known
	}
}
