package compare

import "math"

// Overlap is the share of the best k that two rankings have in common:
//
//	|A ∩ B| / max(|A|, |B|)
//
// over the first k of each. Two empty rankings agree.
func Overlap(a, b []string, k int) float64 {
	a, b = a[:min(k, len(a))], b[:min(k, len(b))]
	if len(a) == 0 && len(b) == 0 {
		return 1
	}
	return float64(common(a, b)) / float64(max(len(a), len(b)))
}

func common(a, b []string) int {
	in := places(a)
	n := 0
	for _, id := range b {
		if _, ok := in[id]; ok {
			n++
		}
	}
	return n
}

func places(ids []string) map[string]int {
	at := make(map[string]int, len(ids))
	for i, id := range ids {
		at[id] = i
	}
	return at
}

// RankBiasedOverlap is RBO extrapolated to lists of unequal length, with
// persistence p in (0, 1): Webber, Moffat, Zobel, "A similarity measure for
// indefinite rankings", TOIS 2010, equation 32. It is 1 for equal rankings and
// 0 for disjoint ones; ids in one ranking are distinct.
func RankBiasedOverlap(a, b []string, p float64) float64 {
	short, long := a, b
	if len(short) > len(long) {
		short, long = long, short
	}
	s, l := len(short), len(long)
	if s == 0 {
		if l == 0 {
			return 1
		}
		return 0
	}
	shared := sharedUpTo(short, long)
	atShort, atLong := float64(shared[s]), float64(shared[l])
	sum := 0.0
	for d := 1; d <= l; d++ {
		weight := math.Pow(p, float64(d))
		sum += float64(shared[d]) / float64(d) * weight
		if d > s {
			sum += atShort * float64(d-s) / float64(s*d) * weight
		}
	}
	tail := ((atLong-atShort)/float64(l) + atShort/float64(s)) * math.Pow(p, float64(l))
	return min(1, (1-p)/p*sum+tail)
}

// sharedUpTo counts the ids that both rankings have within the first d, for
// every d up to the longer one's length.
func sharedUpTo(short, long []string) []int {
	seen := make(map[string]bool, len(long))
	counts := make([]int, len(long)+1)
	for d := 1; d <= len(long); d++ {
		counts[d] = counts[d-1]
		pair := []string{long[d-1]}
		if d <= len(short) {
			pair = append(pair, short[d-1])
		}
		for _, id := range pair {
			if seen[id] {
				counts[d]++
			}
			seen[id] = true
		}
	}
	return counts
}

// KendallTau is the share of concordant pairs less that of discordant ones, in
// [-1, 1], among the chunks that both rankings have; false with fewer than two.
func KendallTau(a, b []string) (float64, bool) {
	at := places(b)
	order := []int{}
	for _, id := range a {
		if place, ok := at[id]; ok {
			order = append(order, place)
		}
	}
	n := len(order)
	if n < 2 {
		return 0, false
	}
	balance := 0
	for i := range order {
		for j := i + 1; j < n; j++ {
			if order[i] < order[j] {
				balance++
			} else {
				balance--
			}
		}
	}
	return float64(balance) / float64(n*(n-1)/2), true
}

// Moves follows every chunk through the rankings, in the order of its best
// rank, the earlier ranking first.
func Moves(rankings [][]string) []Move {
	moves := []Move{}
	at := map[string]int{}
	for depth := 0; ; depth++ {
		deeper := false
		for column, ranking := range rankings {
			if depth >= len(ranking) {
				continue
			}
			deeper = true
			id := ranking[depth]
			i, ok := at[id]
			if !ok {
				i = len(moves)
				at[id] = i
				moves = append(moves, Move{ID: id, Ranks: make([]*int, len(rankings)), Moved: make([]*int, len(rankings))})
			}
			rank := depth + 1
			moves[i].Ranks[column] = &rank
		}
		if !deeper {
			break
		}
	}
	for i := range moves {
		moves[i].settle()
	}
	return moves
}

// settle fills in what follows from the ranks.
func (m *Move) settle() {
	holders := 0
	for column, rank := range m.Ranks {
		if rank == nil {
			continue
		}
		holders++
		if first := m.Ranks[0]; first != nil {
			won := *first - *rank
			m.Moved[column] = &won
		}
	}
	m.Unique = holders == 1
}
