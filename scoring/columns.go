package scoring

import (
	"cmp"
	"slices"
	"strings"
)

// Columns are the legs' observations of the candidates of one question, laid out to be fused repeatedly with other
// weights: a candidate costs a multiplication for each leg, and no memory. The ranking is the one of Fuse. They are
// immutable and safe for concurrent use.
type Columns struct {
	method     method
	kinds      []Kind
	values     [][]float64 // [leg][candidate] of what curve makes points; nil: the leg is degraded
	candidates []int32     // in the order of ties, so that of equal sums the first wins
	positive   bool        // chunks with a sum of 0 are in no ranking
	only       []bool      // by candidate: it takes a sum above 0; nil: as positive says for all
	others     []float64   // by leg, as values: what it says of chunks that are no candidates, at most; nil: nothing
}

// curve is how the value of a column becomes points.
type curve int

const (
	straight   curve = iota // weight · value
	reciprocal              // weight/(k + value), 0 for 0
	saturating              // weight · value/(value + pivot)
)

// of is a leg's contribution for a value.
func (c curve) of(f *Fusion, weight, value float64) float64 {
	switch c {
	case reciprocal:
		return reciprocalRank(weight, f.RRFK, value)
	case saturating:
		return weight * saturate(value, f.Pivot)
	case straight:
	}
	return weight * value
}

// Scratch is the working memory of Columns.Rank for one goroutine at a time.
type Scratch struct {
	weights, sums, best []float64
	points              [][]float64 // [leg][candidate], where the order of adding up matters
	places              []int32
}

// Columns lays candidates out for Rank. Weights of the legs and the numbers of the fusion do not matter, its
// method and normaliser do. others are upper bounds of the legs' scores for chunks outside the candidates, for
// Complete; nil: there are none.
func (f Fusion) Columns(legs []Leg, candidates []Candidate, others []Observation) *Columns {
	f, legs = f.usable(legs)
	for i := range legs {
		legs[i].Weight = 1
	}
	m := f.method()
	w := newWindow(legs, candidates)
	if w.unranked {
		w.rankAll()
	}
	l := &ledger{window: w, scheme: m.scheme(f, w)}
	c := &Columns{method: m, values: make([][]float64, len(legs))}
	c.kinds, _ = columnsOf(legs)
	c.choose(l)
	for leg := range legs {
		if legs[leg].Degraded {
			continue
		}
		values := make([]float64, len(c.candidates))
		for i, candidate := range c.candidates {
			values[i] = c.value(f, l, leg, w.row(int(candidate))[leg])
		}
		c.values[leg] = values
	}
	if others != nil {
		c.others = make([]float64, len(legs))
		for leg := range legs {
			c.others[leg] = c.value(f, l, leg, others[leg].usable(legs[leg].Kind))
		}
	}
	return c
}

// value is the entry of an observation in a leg's column.
func (c *Columns) value(f Fusion, l *ledger, leg int, o Observation) float64 {
	switch c.curve(&f, leg) {
	case reciprocal:
		return float64(max(o.Rank, 0))
	case saturating:
		if o.Known() {
			return o.Raw
		}
		return 0
	case straight:
	}
	return l.points(leg, o)
}

func (c *Columns) curve(f *Fusion, leg int) curve {
	if c.method.curve == nil {
		return straight
	}
	return c.method.curve(*f, c.kinds[leg])
}

// choose takes the candidates that may come into a ranking, in the order of ties.
func (c *Columns) choose(l *ledger) {
	type chosen struct {
		candidate int32
		best      int
		positive  bool
	}
	var all []chosen
	mixed := false
	for i := range l.candidates {
		returned := slices.ContainsFunc(l.row(i), Observation.returned)
		if !l.scheme.keeps(returned, 1) {
			continue
		}
		x := chosen{candidate: int32(i), best: l.best(i), positive: !l.scheme.keeps(returned, 0)} //nolint:gosec // few
		mixed = mixed || len(all) > 0 && all[0].positive != x.positive
		all = append(all, x)
	}
	slices.SortFunc(all, func(a, b chosen) int {
		return cmp.Or(cmp.Compare(a.best, b.best), strings.Compare(l.id(int(a.candidate)), l.id(int(b.candidate))))
	})
	c.candidates = make([]int32, len(all))
	c.positive = len(all) > 0 && all[0].positive
	for i, x := range all {
		c.candidates[i] = x.candidate
		if mixed {
			c.only = append(c.only, x.positive)
		}
	}
}

// Candidates are the places of those that may come into a ranking, in the list that the columns were made of. Rank
// gives places in this list.
func (c *Columns) Candidates() []int32 { return c.candidates }

// Bytes is how much memory they take.
func (c *Columns) Bytes() int {
	const row = 8
	return len(c.values)*len(c.candidates)*row + len(c.candidates)*4 + len(c.only) + len(c.others)*row
}

// Rank gives the first n of the ranking by these weights of the legs, by their places in Candidates, valid until
// the next call with the same scratch. f must have the method and normaliser of the columns. Of the
// thresholds those on scores apply.
func (c *Columns) Rank(f Fusion, weights []float64, t *Thresholds, n int, s *Scratch) []int32 {
	f = c.prepare(f, weights, s)
	c.addUp(&f, s)
	c.takeBest(n, s)
	if t != nil && (t.Score != nil || t.Relative != nil) {
		c.cut(f, t, s)
	}
	return s.places
}

// Scores appends the scores in [0, 1] of what Rank has just given, for the same fusion and scratch, in its order.
func (c *Columns) Scores(f Fusion, s *Scratch, to []float64) []float64 {
	if len(s.best) == 0 {
		return to
	}
	score := c.method.scorer(f.withDefaults(), c.kinds, s.weights)
	for _, sum := range s.best {
		to = append(to, clamp(score(sum, s.best[0]), 1))
	}
	return to
}

// Complete reports whether no chunk beyond the candidates can have a place among the first n of what Rank has just
// given for the same fusion, weights and scratch: none reaches the sum of the last (the stopping rule of the
// threshold algorithm: Fagin, Lotem, Naor, "Optimal Aggregation Algorithms for Middleware", 2003).
func (c *Columns) Complete(f Fusion, n int, s *Scratch) bool {
	if c.others == nil {
		return true
	}
	f = f.withDefaults()
	sum := 0.0
	for leg := range c.values {
		if c.values[leg] != nil {
			sum += c.curve(&f, leg).of(&f, s.weights[leg], c.others[leg])
		}
	}
	return len(s.places) >= n && sum < s.best[n-1]
}

// prepare fills in defaults, and the weights as the formula uses them.
func (c *Columns) prepare(f Fusion, weights []float64, s *Scratch) Fusion {
	f = f.withDefaults()
	s.weights = append(s.weights[:0], weights[:len(c.values)]...)
	for i := range s.weights {
		s.weights[i] = clamp(s.weights[i], maxWeight)
	}
	if c.method.weigh != nil {
		c.method.weigh(s.weights)
	}
	return f
}

// addUp makes the sum of each candidate, as Fuse does.
func (c *Columns) addUp(f *Fusion, s *Scratch) {
	n := len(c.candidates)
	s.sums = slices.Grow(s.sums[:0], n)[:n]
	clear(s.sums)
	if len(c.values) > 2 { // the order of two makes no difference
		c.addUpSorted(f, s)
		return
	}
	for leg, values := range c.values {
		c.add(f, leg, values, s.weights[leg], s.sums)
	}
}

// add adds the contributions of a leg.
func (c *Columns) add(f *Fusion, leg int, values []float64, weight float64, sums []float64) {
	sums = sums[:len(values)]
	curved := c.curve(f, leg)
	if curved == straight {
		for i, v := range values {
			sums[i] += weight * v
		}
		return
	}
	for i, v := range values {
		sums[i] += curved.of(f, weight, v)
	}
}

func (c *Columns) addUpSorted(f *Fusion, s *Scratch) {
	s.points = slices.Grow(s.points[:0], len(c.values))[:len(c.values)]
	for leg, values := range c.values {
		s.points[leg] = slices.Grow(s.points[leg][:0], len(s.sums))[:len(s.sums)]
		clear(s.points[leg])
		c.add(f, leg, values, s.weights[leg], s.points[leg])
	}
	var few [8]float64
	for i := range s.sums {
		addends := few[:0]
		for leg := range s.points {
			addends = append(addends, s.points[leg][i])
		}
		s.sums[i] = addUp(addends)
	}
}

// takeBest puts the best n into the scratch. Of equal sums the earlier candidate stays ahead.
func (c *Columns) takeBest(n int, s *Scratch) {
	s.best, s.places = s.best[:0], s.places[:0]
	n = min(n, len(s.sums))
	if n <= 0 {
		return
	}
	for i, sum := range s.sums {
		full := len(s.best) == n
		if full && !(sum > s.best[n-1]) || !(sum > 0) && c.takesMore(i) {
			continue
		}
		if !full {
			s.best, s.places = append(s.best, 0), append(s.places, 0)
		}
		at := len(s.best) - 1
		for at > 0 && sum > s.best[at-1] {
			s.best[at], s.places[at] = s.best[at-1], s.places[at-1]
			at--
		}
		s.best[at], s.places[at] = sum, int32(i) //nolint:gosec // few
	}
}

// takesMore reports whether a candidate is in no ranking with a sum of 0.
func (c *Columns) takesMore(candidate int) bool {
	if c.only != nil {
		return c.only[candidate]
	}
	return c.positive
}

// cut drops chunks below the thresholds on scores: as scores fall, all later ones too.
func (c *Columns) cut(f Fusion, t *Thresholds, s *Scratch) {
	if len(s.best) == 0 {
		return
	}
	score := c.method.scorer(f, c.kinds, s.weights)
	best := clamp(score(s.best[0], s.best[0]), 1)
	least := 0.0
	if t.Score != nil {
		least = *t.Score
	}
	if t.Relative != nil && best >= least {
		least = max(least, clamp(*t.Relative, 1)*best)
	}
	for i, sum := range s.best {
		if clamp(score(sum, s.best[0]), 1) < least {
			s.best, s.places = s.best[:i], s.places[:i]
			return
		}
	}
}
