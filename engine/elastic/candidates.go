package elastic

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/hybridge-search/hybridge/engine"
)

// candidates is the union of the hits of all legs.
type candidates struct {
	p        *plan
	hits     []engine.Hit
	places   map[string]int // in hits, by id
	outcomes []engine.LegOutcome
	chunks   []engine.Chunk // prefetched
	full     []bool         // per leg: it may have more hits than it returned
}

func newCandidates(p *plan) *candidates {
	c := &candidates{p: p, full: make([]bool, len(p.legs)), outcomes: make([]engine.LegOutcome, len(p.legs))}
	for i := range p.legs {
		c.outcomes[i] = engine.LegOutcome{Method: p.legs[i].method(), Err: p.legs[i].err}
	}
	return c
}

func (c *candidates) result(method string) *engine.Result {
	return &engine.Result{Legs: c.outcomes, Hits: c.hits, Method: method, Chunks: c.chunks}
}

// markFailedUnknown marks the raw scores of failed legs as unknown.
func (c *candidates) markFailedUnknown() {
	for i := range c.outcomes {
		if c.outcomes[i].Err == nil {
			continue
		}
		for n := range c.hits {
			c.hits[n].Observations[i].Raw = math.NaN()
		}
	}
}

// failure returns the first error if all legs failed.
func (c *candidates) failure() error {
	var first error
	for i := range c.outcomes {
		if c.outcomes[i].Err == nil {
			return nil
		}
		if first == nil {
			first = c.outcomes[i].Err
		}
	}
	return first
}

// reserve makes room for the hits of all legs.
func (c *candidates) reserve(legs []*ranking) {
	n := 0
	for _, a := range legs {
		n += len(a.hits)
	}
	c.hits, c.places = make([]engine.Hit, 0, n), make(map[string]int, n)
}

// add adds a leg's hits, on the leg's own scale, ranked by raw score, then by id.
func (c *candidates) add(i int, found *ranking, k int) {
	l := &c.p.legs[i]
	c.full[i] = len(found.hits) >= k || l.knn
	returned := make([]int, 0, len(found.hits))
	for n, score := range found.scores {
		at := c.place(&found.hits[n])
		c.hits[at].Observations[i].Raw = l.raw(score)
		if l.knn {
			c.hits[at].Observations[i].Raw = cosineOfKNN(float64(score))
		}
		returned = append(returned, at)
	}
	sortByScore(c.hits, returned, func(at int) float64 { return c.hits[at].Observations[i].Raw })
	for rank, at := range returned {
		c.hits[at].Observations[i].Rank = rank + 1
	}
}

// place returns the index of a hit, which is added if it is new.
func (c *candidates) place(found *engine.Hit) int {
	at, known := c.places[found.ID]
	if !known {
		at = len(c.hits)
		c.places[found.ID] = at
		c.hits = append(c.hits, *found)
	}
	return at
}

// orderTies orders hits of equal sums, which are adjacent, by their ids.
func (c *candidates) orderTies(sums []float32) {
	for start := 0; start < len(sums); {
		end := start + 1
		for end < len(sums) && sums[end] == sums[start] {
			end++
		}
		if end-start > 1 {
			slices.SortFunc(c.hits[start:end], func(a, b engine.Hit) int { return strings.Compare(a.ID, b.ID) })
		}
		start = end
	}
}

// keepBest cuts the hits to the best candidates, in the order of their sums.
func (c *candidates) keepBest(sums []float64) {
	order := make([]int, len(sums))
	for at := range order {
		order[at] = at
	}
	sortByScore(c.hits, order, func(at int) float64 { return sums[at] })
	order = order[:min(len(order), c.p.req.Sum.Candidates)]
	kept := make([]engine.Hit, len(order))
	for i, at := range order {
		kept[i] = c.hits[at]
	}
	c.hits = kept
}

// sortByScore sorts indices of hits by a score, the best first, then by id.
func sortByScore(hits []engine.Hit, places []int, score func(at int) float64) {
	slices.SortFunc(places, func(a, b int) int {
		return cmp.Or(cmp.Compare(score(b), score(a)), strings.Compare(hits[a].ID, hits[b].ID))
	})
}

// deferMissing marks as unknown the scores that complete would fill in.
func (c *candidates) deferMissing() {
	for i := range c.p.legs {
		if !c.mayHaveMore(i) {
			continue
		}
		for n := range c.hits {
			if o := &c.hits[n].Observations[i]; o.Rank == 0 {
				o.Raw = math.NaN()
			}
		}
	}
}

// mayHaveMore reports whether a leg may have a score for hits that it did not return.
func (c *candidates) mayHaveMore(leg int) bool { return c.full[leg] && c.outcomes[leg].Err == nil }

// missing lists the legs that did not return some hit, and the ids of these hits.
func (c *candidates) missing() (legs []int, ids []string) {
	seen := map[string]bool{}
	for i := range c.p.legs {
		if !c.mayHaveMore(i) {
			continue
		}
		incomplete := false
		for n := range c.hits {
			f := &c.hits[n]
			if f.Observations[i].Rank > 0 {
				continue
			}
			incomplete = true
			if !seen[f.ID] {
				seen[f.ID] = true
				ids = append(ids, f.ID)
			}
		}
		if incomplete {
			legs = append(legs, i)
		}
	}
	return legs, ids
}

// markUnknown marks as unknown the missing scores of these hits by these legs.
func (c *candidates) markUnknown(legs []int, ids []string) {
	for _, id := range ids {
		for _, i := range legs {
			if o := &c.hits[c.places[id]].Observations[i]; o.Rank == 0 {
				o.Raw = math.NaN()
			}
		}
	}
}
