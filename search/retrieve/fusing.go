package retrieve

import (
	"cmp"
	"math"
	"slices"

	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search/ask"
	"github.com/hybridge-search/hybridge/search/rank"
)

// Retrieval is the result of one knowledge base for the question, ranked among the candidates that it is scored with.
type Retrieval struct {
	Answered
	rank.Base
	Cuts   []scoring.Cut   // hits dropped, per threshold on a leg; of a pool, its first member has them
	Pins   []ask.Pin       // of the rules, with the chunks they show
	ranked []scoring.Fused // all candidates, before the thresholds
}

// MergedPooled is the value of Response.MergedBy for one pool.
const MergedPooled = "pooled"

// Fuse gives one ranking of each pool, and of each knowledge base outside all pools that has an answer.
func Fuse(answers []Answered) (retrievals []Retrieval, rankings []scoring.Ranking) {
	retrievals = make([]Retrieval, len(answers))
	var members map[*pool][]*Retrieval
	for i := range answers {
		a := &answers[i]
		retrievals[i] = Retrieval{Answered: *a, Base: rank.Base{Found: a.Found, Full: a.full, Source: a.source}}
		if a.pool == nil {
			continue
		}
		if members == nil {
			members = map[*pool][]*Retrieval{}
		}
		members[a.pool] = append(members[a.pool], &retrievals[i])
	}
	for i := range retrievals {
		switch rt := &retrievals[i]; {
		case rt.pool == nil && rt.Err == nil:
			rankings = append(rankings, fuse([]*Retrieval{rt}))
		case rt.pool != nil && members[rt.pool][0] == rt:
			rankings = append(rankings, fuse(members[rt.pool]))
		}
	}
	return retrievals, rankings
}

// fuse ranks the candidates of members together, and applies the thresholds on legs. Members whose text
// counts differently are fused side by side: ranks, moments and so the sums are over the whole pool.
func fuse(members []*Retrieval) scoring.Ranking {
	weighByQuestion(members)
	var parts [][]*Retrieval
	for _, rt := range members {
		for len(parts) <= rt.part {
			parts = append(parts, nil)
		}
		parts[rt.part] = append(parts[rt.part], rt)
	}
	if members[0].pool != nil {
		rankAgain(members, len(parts) > 1)
	}
	fused := make([][]scoring.Fused, len(parts))
	for i := range parts {
		fused[i] = fuseTogether(parts[i])
	}
	ranked, legs := scoring.MergeParts(fused...), scoringLegs(members)
	thresholds := members[0].LegThresholds().Applicable(legs)
	thresholds.Spares = func(f *scoring.Fused) bool {
		from := slices.IndexFunc(members, func(rt *Retrieval) bool { return rt.Source == f.Source })
		return members[from].PinnedBy[f.ID()] != ""
	}
	for _, rt := range members {
		rt.ranked = ranked
		rt.choosePins()
	}
	kept, cuts := thresholds.Cut(ranked)
	members[0].Cuts = cuts
	for _, rt := range members {
		if rt.Ranking = kept; len(members) > 1 {
			rt.Ranking = slices.DeleteFunc(slices.Clone(kept), func(f scoring.Fused) bool { return f.Source != rt.Source })
		}
	}
	return scoring.Ranking{Legs: legs, Fused: kept}
}

// fuseTogether fuses the candidates of members whose legs weigh the same.
func fuseTogether(members []*Retrieval) []scoring.Fused {
	hits := 0
	for _, rt := range members {
		rt.Offset = hits
		hits += len(rt.Hits)
	}
	candidates := make([]scoring.Candidate, 0, hits)
	for _, rt := range members {
		for i := range rt.Hits {
			candidates = append(candidates, rt.Hits[i].Candidate)
		}
	}
	legs := scoringLegs(members)
	if members[0].centred() {
		for leg := range legs {
			legs[leg].Evidence = evidences(members, leg)
		}
	}
	ranked := members[0].Plan.Fusion.Fuse(legs, candidates)
	for i := range ranked {
		at := int(ranked[i].Index)
		found := func(rt *Retrieval) bool { return at < rt.Offset+len(rt.Hits) }
		ranked[i].Source = members[slices.IndexFunc(members, found)].Source
	}
	return ranked
}

// evidences gives the evidence of all hits in a vector leg, nil for a text leg.
func evidences(members []*Retrieval, leg int) []float64 {
	if members[0].Legs[leg].Kind != scoring.Vector {
		return nil
	}
	var all []float64
	for _, rt := range members {
		for hit := range rt.Hits {
			all = append(all, rt.fusedBy(hit, leg))
		}
	}
	return all
}

// rankAgain gives each leg one ranking of all candidates that it returned for any member, no longer
// than planned for one knowledge base. Joint rankings, which have none, get
// one if they are fused in parts.
func rankAgain(members []*Retrieval, inParts bool) {
	joint := members[0].Plan.Joint
	if joint && !inParts {
		return
	}
	for leg := range members[0].Legs {
		if members[0].Legs[leg].Kind == scoring.Signal {
			continue // it is ranked among the candidates by the fusion
		}
		var returned []place
		for _, rt := range members {
			returned = append(returned, rt.returnedBy(leg)...)
		}
		slices.SortStableFunc(returned, func(a, b place) int {
			return cmp.Or(cmp.Compare(b.value, a.value), cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.id, b.id))
		})
		for i, at := range returned {
			at.Rank = i + 1
			if !joint && at.Rank > members[0].Legs[leg].K {
				at.Rank = 0
			}
		}
	}
}

// place holds the criteria for the position of a candidate in a leg.
type place struct {
	*scoring.Observation
	value float64
	id    string
}

// returnedBy gives the hits that a leg has.
func (rt *Answered) returnedBy(leg int) (places []place) {
	for i := range rt.Hits {
		if o := &rt.Hits[i].Observations[leg]; o.Rank != 0 {
			places = append(places, place{o, rt.fusedBy(i, leg), rt.Hits[i].ID})
		}
	}
	return places
}

// fusedBy is the value of a hit in a leg that enters the fusion.
func (rt *Answered) fusedBy(hit, leg int) float64 {
	raw := rt.Hits[hit].Observations[leg].Raw
	if !rt.centred() || rt.Legs[leg].Kind != scoring.Vector {
		return raw
	}
	j := rt.Estimator
	s, chunkLanguage := j.ScaleOf(leg), j.LanguageOf(&rt.Hits[hit])
	if s == nil { // the leg could not be run
		return math.NaN()
	}
	if s.Of(chunkLanguage) == nil {
		chunkLanguage = j.Profile.Main // the other is unknown
	}
	return rt.VectorEvidence(s, hit, chunkLanguage, raw)
}

// findsSome reports whether some hit passes the thresholds on legs.
func (rt *Answered) findsSome() bool {
	legs := rt.ScoringLegs()
	thresholds := rt.LegThresholds().Applicable(legs)
	if len(rt.Hits) == 0 || len(thresholds.Legs) == 0 {
		return len(rt.Hits) > 0
	}
	passing, _ := thresholds.Cut(rt.Plan.Fusion.Fuse(legs, rt.candidates()))
	return len(passing) > 0
}

// candidates are the hits, to be fused.
func (rt *Answered) candidates() []scoring.Candidate {
	candidates := make([]scoring.Candidate, len(rt.Hits))
	for i := range rt.Hits {
		candidates[i] = rt.Hits[i].Candidate
	}
	return candidates
}

// CutByLeg looks for a chunk among the hits that a leg's threshold cut.
func (rt *Retrieval) CutByLeg(id string) (scoring.Cut, bool) {
	own := slices.DeleteFunc(slices.Clone(rt.ranked), func(f scoring.Fused) bool { return f.Source != rt.Source })
	return rt.LegThresholds().Applicable(rt.ScoringLegs()).Why(own, id)
}

// scoringLegs combines the legs of several members: a leg is degraded where it took no
// part anywhere.
func scoringLegs(members []*Retrieval) []scoring.Leg {
	legs := members[0].ScoringLegs()
	for _, rt := range members[1:] {
		for i, l := range rt.ScoringLegs() {
			if legs[i].Degraded && !l.Degraded {
				legs[i] = l
			}
			legs[i].Bound = max(legs[i].Bound, l.Bound)
		}
	}
	return legs
}

// ScoringLegs converts the legs for the fusion.
func (p *prepared) ScoringLegs() []scoring.Leg {
	legs := make([]scoring.Leg, len(p.Legs))
	for i := range p.Legs {
		legs[i] = p.Legs[i].scoring()
	}
	return legs
}

// LegThresholds are the absolute thresholds on the legs' raw scores. Those for text and
// vector skip secondary fields: a passage is not cut for its title.
func (p *prepared) LegThresholds() scoring.Thresholds {
	var thresholds scoring.Thresholds
	for i := range p.Legs {
		var minimum *float64
		switch p.Legs[i].Kind {
		case scoring.Text:
			minimum = p.Plan.Threshold.Text
		case scoring.Vector:
			minimum = p.Plan.Threshold.Vector
		case scoring.Signal:
		}
		if minimum != nil && !p.isSecondary(&p.Legs[i]) {
			thresholds.Legs = append(thresholds.Legs, scoring.LegThreshold{Index: i, Min: *minimum})
		}
	}
	return thresholds
}

// isSecondary reports whether another leg is named as the kind of this one. A chunk may
// lack the field of a secondary leg.
func (p *prepared) isSecondary(l *leg) bool {
	kind := string(l.Kind)
	return l.Name != kind && slices.ContainsFunc(p.Legs, func(other leg) bool { return other.Name == kind })
}
