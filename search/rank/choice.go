package rank

import (
	"slices"

	"github.com/hybridge-search/hybridge/lib/vector"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search/plan"
)

// choice holds the inputs of a diverse order.
type choice struct {
	relevance []float64   // (1 − diversity) · (s − last)/(best − last)
	vectors   [][]float32 // of length 1; nil where there is none
	penalty   float64     // diversity/(1 − m)
	mean      float64     // m
	Similar   []*float64  // the largest cosine to one that was chosen before
}

// RankingScores gives the scores that entries are ranked by.
func (set *Ranked) RankingScores(p *plan.Plan, entries []scoring.Fused) []float64 {
	rescored := p.Rerank != nil || p.SecondStage != nil
	byScore := rescored || set.Boosts != nil || set.MergedBy == string(scoring.ByScore)
	scores := make([]float64, len(entries))
	for i := range scores {
		if scores[i] = entries[i].Raw; byScore {
			scores[i] = entries[i].Score
		}
	}
	return scores
}

// NewChoice takes the scores and vectors of chunks, and the weight of dissimilarity.
func NewChoice(scores []float64, vectors [][]float32, diversity float64) *choice {
	n := len(scores)
	c := &choice{relevance: make([]float64, n), vectors: vectors, Similar: make([]*float64, n)}
	last, best := slices.Min(scores), slices.Max(scores)
	for i, w := range scores {
		if best > last {
			c.relevance[i] = (1 - diversity) * (w - last) / (best - last)
		}
	}
	pairs, sum := 0, 0.0
	for i := range vectors {
		for j := range i {
			if cosine, known := c.cosine(i, j); known {
				pairs++
				sum += cosine
			}
		}
	}
	if pairs > 0 {
		c.mean = sum / float64(pairs)
	}
	c.penalty = diversity / max(1-c.mean, 1e-6)
	return c
}

func (c *choice) cosine(i, j int) (cosine float64, known bool) {
	a, b := c.vectors[i], c.vectors[j]
	if a == nil || len(a) != len(b) {
		return 0, false
	}
	return float64(vector.Dot(a, b)), true
}

// Order gives the places of all, the next one best; of equals, the earlier one.
func (c *choice) Order() []int {
	left := make([]int, len(c.relevance))
	for i := range left {
		left[i] = i
	}
	order := make([]int, 0, len(left))
	for len(left) > 0 {
		next, most := 0, c.value(left[0])
		for i, at := range left {
			if v := c.value(at); v > most {
				next, most = i, v
			}
		}
		last := left[next]
		left = slices.Delete(left, next, next+1)
		order = append(order, last)
		for _, at := range left {
			cosine, known := c.cosine(at, last)
			if known && (c.Similar[at] == nil || cosine > *c.Similar[at]) {
				c.Similar[at] = &cosine
			}
		}
	}
	return order
}

func (c *choice) value(at int) float64 {
	if c.Similar[at] == nil {
		return c.relevance[at]
	}
	return c.relevance[at] - c.penalty*max(0, *c.Similar[at]-c.mean)
}
