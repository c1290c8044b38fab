package scoring

import (
	"cmp"
	"slices"
)

// Basis is the score by which the rankings of several knowledge bases were merged.
type Basis string

// The two bases of a merge.
const (
	ByRaw   Basis = "raw_score" // the sums are on one scale
	ByScore Basis = "score"
)

// Ranking is the ranking of one knowledge base, with the legs that made it. All rankings of
// a merge come from the same plan.
type Ranking struct {
	Legs  []Leg
	Fused []Fused
}

// basis tells by which score rankings compare: by raw sums where all knowledge
// bases share a scale, by fused scores else. It takes the legs of each.
func (f Fusion) basis(plans ...[]Leg) Basis {
	if comparable := f.method().comparable; comparable != nil && comparable(f, plans) {
		return ByRaw
	}
	return ByScore
}

func sameWeights(plans [][]Leg) bool {
	return slices.IndexFunc(plans, func(legs []Leg) bool {
		return !slices.EqualFunc(legs, plans[0], func(a, b Leg) bool { return a.Kind == b.Kind && a.Weight == b.Weight })
	}) < 0
}

// Merge makes one ranking of those of several knowledge bases for the same query and
// plan; ties as within one, then in the order of the rankings. Where the score is
// relative to the best chunk of the list it becomes relative to the best of all. A
// single ranking is given as it is. Chunks keep their Source.
func (f Fusion) Merge(rankings ...Ranking) ([]Fused, Basis) {
	if len(rankings) == 1 {
		return rankings[0].Fused, f.basis(rankings[0].Legs)
	}
	plans := make([][]Leg, len(rankings))
	lists := make([][]Fused, len(rankings))
	best := 0.0
	for i, r := range rankings {
		plans[i], lists[i] = r.Legs, slices.Clone(r.Fused)
		for j := range lists[i] {
			best = max(best, r.Fused[j].Raw)
		}
	}
	basis := f.basis(plans...)
	merged := basis.merge(lists)
	if basis == ByScore {
		return merged, basis
	}
	relative := f.method().relative
	for i := range merged {
		if relative != nil && relative(f) {
			merged[i].Score = ratio(merged[i].Raw, best)
		}
		if i > 0 {
			merged[i].Score = min(merged[i].Score, merged[i-1].Score) // rounding could lift it
		}
	}
	return merged, basis
}

// MergeParts makes one ranking of those of parts of one list, which differ in the weights
// of their legs alone and whose scores do not depend on the best of the list: by raw sums,
// ties as within one.
func MergeParts(parts ...[]Fused) []Fused {
	merged := ByRaw.merge(parts)
	if len(parts) > 1 {
		for i := range merged[min(1, len(merged)):] {
			merged[i+1].Score = min(merged[i+1].Score, merged[i].Score) // rounding could lift it
		}
	}
	return merged
}

// merge halves the lists until there are two to merge.
func (b Basis) merge(lists [][]Fused) []Fused {
	switch len(lists) {
	case 0:
		return nil
	case 1:
		return lists[0]
	}
	half := len(lists) / 2
	left, right := b.merge(lists[:half]), b.merge(lists[half:])
	merged := make([]Fused, 0, len(left)+len(right))
	for len(left) > 0 && len(right) > 0 {
		from := &left
		if b.compare(&right[0], &left[0]) < 0 {
			from = &right
		}
		merged, *from = append(merged, (*from)[0]), (*from)[1:]
	}
	return append(append(merged, left...), right...)
}

// compare is negative when x comes before y.
func (b Basis) compare(x, y *Fused) int {
	order := cmp.Compare(y.Score, x.Score)
	if b == ByRaw {
		order = cmp.Compare(y.Raw, x.Raw)
	}
	if order != 0 {
		return order
	}
	return cmp.Or(cmp.Compare(x.bestRank(), y.bestRank()), cmp.Compare(x.ID(), y.ID()))
}
