package bm25

import (
	"math"
	"slices"
	"sort"

	"github.com/hybridge-search/hybridge/textquery"
)

// reference scores by reading every chunk: plain formulas in float64, no index.
type reference struct {
	docs []Doc // that count in the statistics
	dead map[uint32]bool
	opts Options

	lengths *textquery.Lengths // of the query that is scored
}

// referenceOf takes the chunks that the snapshot counts, deleted or not.
func referenceOf(s *Snapshot, docs []Doc) *reference {
	r := &reference{dead: map[uint32]bool{}, opts: s.opts}
	byKey := map[uint32]Doc{}
	for _, d := range docs {
		byKey[d.Key] = d
	}
	for _, v := range s.views {
		for ord, key := range v.seg.keys {
			r.dead[key] = !v.isLive(uint32(ord))
			if r.dead[key] && s.opts.LiveStatistics {
				continue
			}
			r.docs = append(r.docs, byKey[key])
		}
	}
	return r
}

func (r *reference) stats() (n, avg float64) {
	tokens := 0
	for _, d := range r.docs {
		tokens += len(d.Tokens)
		if len(d.Tokens) > 0 || r.opts.Variant == Okapi {
			n++
		}
	}
	return n, float64(tokens) / n
}

func (r *reference) df(term string) (df float64) {
	for _, d := range r.docs {
		if slices.Contains(d.Tokens, term) {
			df++
		}
	}
	return df
}

func (r *reference) idf(term string) float64 {
	n, _ := r.stats()
	df := r.df(term)
	if r.opts.Variant == Lucene {
		return math.Log(1 + (n-df+.5)/(df+.5))
	}
	// rank_bm25: a negative idf becomes epsilon times the average of all idfs.
	raw := func(df float64) float64 { return math.Log(n-df+.5) - math.Log(df+.5) }
	if idf := raw(df); idf >= 0 {
		return idf
	}
	seen := map[string]bool{}
	sum := 0.0
	for _, d := range r.docs {
		for _, t := range d.Tokens {
			if !seen[t] {
				seen[t] = true
				sum += raw(r.df(t))
			}
		}
	}
	return r.opts.Epsilon * sum / float64(len(seen))
}

// phrase is the score of a phrase or a term; ok is false when it does not match.
func (r *reference) phrase(d Doc, p textquery.Phrase) (score float64, ok bool) {
	if len(p.Terms) == 0 || len(p.Terms) > 1 && r.opts.WithoutPositions {
		return 0, false
	}
	freq := phraseFrequency(d.Tokens, p)
	if freq == 0 {
		return 0, false
	}
	idf := 0.0
	for _, t := range p.Terms {
		idf += r.idf(t)
	}
	_, avg := r.stats()
	if r.lengths != nil {
		avg = r.lengths.Average
	}
	k1, b := r.opts.K1, r.opts.B
	length := float64(r.opts.Variant.effectiveLength(uint32(len(d.Tokens))))
	return p.Weight * idf * freq * (k1 + 1) / (freq + k1*(1-b+b*length/avg)), true
}

func (r *reference) score(d Doc, q *textquery.Query) (score float64, ok bool) {
	matched := 0
	for _, t := range q.Terms {
		best, any := r.phrase(d, textquery.Phrase{Terms: []string{t.Text}, Weight: t.Weight})
		for _, syn := range t.Synonyms {
			if s, ok := r.phrase(d, syn); ok && (!any || s > best) {
				best, any = s, true
			}
		}
		if any {
			matched++
			score += best
		}
	}
	for _, p := range q.Phrases {
		s, _ := r.phrase(d, p)
		score += s
	}
	return score, matched >= max(1, q.MinimumMatch)
}

// all scores every live chunk that matches.
func (r *reference) all(q *textquery.Query) map[uint32]float64 {
	out := map[uint32]float64{}
	r.lengths = q.Lengths
	for _, d := range r.docs {
		if s, ok := r.score(d, q); ok && !r.dead[d.Key] {
			out[d.Key] = s
		}
	}
	return out
}

func positionsOf(tokens []string, term string) (out []int) {
	for i, t := range tokens {
		if t == term {
			out = append(out, i)
		}
	}
	return out
}

func phraseFrequency(tokens []string, p textquery.Phrase) float64 {
	if len(p.Terms) > 1 && p.Slop > 0 {
		return sloppyFrequency(tokens, p)
	}
	n := 0.0
	for i := range tokens {
		if i+len(p.Terms) <= len(tokens) && slices.Equal(tokens[i:i+len(p.Terms)], p.Terms) {
			n++
		}
	}
	return n
}

// sloppyFrequency follows the published description of Lucene's sloppy matcher
// with a sorted list as the queue.
func sloppyFrequency(tokens []string, p textquery.Phrase) (freq float64) {
	type pointer struct {
		term   string
		offset int
		left   []int
	}
	position := func(p *pointer) int { return p.left[0] - p.offset }
	var all []*pointer
	used := map[string]int{}
	for i, t := range p.Terms {
		pos := positionsOf(tokens, t)
		if len(pos) <= used[t] {
			return 0
		}
		all = append(all, &pointer{term: t, offset: i, left: pos[used[t]:]})
		used[t]++
	}
	end := math.MinInt
	for _, x := range all {
		end = max(end, position(x))
	}
	queue := slices.Clone(all)
	order := func() {
		sort.Slice(queue, func(i, j int) bool {
			a, b := position(queue[i]), position(queue[j])
			return a < b || a == b && queue[i].offset < queue[j].offset
		})
	}
	advance := func(x *pointer) bool {
		if len(x.left) == 1 {
			return false
		}
		x.left = x.left[1:]
		end = max(end, position(x))
		return true
	}
	separate := func(x *pointer) bool {
		for again := true; again; {
			again = false
			for _, y := range all {
				if y == x || y.term != x.term || y.left[0] != x.left[0] {
					continue
				}
				// The lesser by adjusted position moves on: the one of higher offset.
				if y.offset > x.offset {
					x = y
				}
				if !advance(x) {
					return false
				}
				again = true
				break
			}
		}
		return true
	}
	for {
		order()
		x := queue[0]
		queue = queue[1:]
		length, next, done := end-position(x), position(queue[0]), true
		for advance(x) && separate(x) {
			if position(x) > next {
				done = false
				break
			}
			length = min(length, end-position(x))
		}
		if length <= p.Slop {
			freq += 1 / (1 + float64(length))
		}
		if done {
			return freq
		}
		queue = append(queue, x)
	}
}
