package refine

import (
	"github.com/hybridge-search/hybridge/search/answer"
	"github.com/hybridge-search/hybridge/search/ask"
	"github.com/hybridge-search/hybridge/search/rank"
	"github.com/hybridge-search/hybridge/search/retrieve"
)

// Fuse makes one answer set of the answers of the knowledge bases.
func Fuse(r *ask.Asked, answers []retrieve.Answered) *Set {
	retrievals, rankings := retrieve.Fuse(answers)
	set := &Set{
		Ranked:     rank.Ranked{Dropped: map[string]int{}, Bases: make([]*rank.Base, len(retrievals))},
		Retrievals: retrievals, Degraded: []answer.Degraded{},
	}
	for i := range retrievals {
		rt := &retrievals[i]
		set.Bases[i] = &rt.Base
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
