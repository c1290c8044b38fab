package bm25

import (
	"bytes"
	"cmp"
	"context"
	"slices"
)

// Word is a term with the chunks that have it.
type Word struct {
	Text   string
	Chunks int
	Keys   []uint32 // of the first of them, at most WordsQuery.Samples
}

// WordsQuery asks for terms.
type WordsQuery struct {
	Prefix string
	Keep   func(term []byte) bool // of those with the prefix; nil keeps all
	Words  []string               // further terms
	// Accept says which chunks count; nil counts all. Terms that no chunk counts for are
	// left out.
	Accept func(key uint32) bool
	Limit  int
	// Samples is how many keys are given with a term.
	Samples int
}

const (
	// wordCandidates is how many terms, the most frequent ones, may have their chunks counted.
	wordCandidates = 1 << 12
	// wordPostings bounds how many places are looked at to count the chunks of terms. Terms
	// that come after are left out.
	wordPostings = 1 << 20
	// openingPostings is the same for Openings.
	openingPostings = 1 << 18
)

// candidateTerm is a term with the chunks that have it, deleted ones included.
type candidateTerm struct {
	text []byte
	df   int
}

// Words gives the terms with the most chunks, then by text. The dictionaries are sorted:
// a prefix is a range of each.
func (s *Snapshot) Words(ctx context.Context, q *WordsQuery) []Word {
	candidates := s.candidateTerms(ctx, q)
	var found []Word
	budget := wordPostings
	order := func(a, b Word) int { return cmp.Or(cmp.Compare(b.Chunks, a.Chunks), cmp.Compare(a.Text, b.Text)) }
	for _, c := range candidates {
		full := len(found) == q.Limit
		if ctx.Err() != nil || budget <= 0 || full && (q.Limit == 0 || c.df < found[q.Limit-1].Chunks) {
			break // the others have fewer chunks
		}
		w := Word{Text: string(c.text)}
		s.count(&w, q, &budget)
		if w.Chunks == 0 {
			continue
		}
		at, _ := slices.BinarySearchFunc(found, w, order)
		found = slices.Insert(found, at, w)
		found = found[:min(len(found), q.Limit)]
	}
	return found
}

// candidateTerms are by the number of their chunks, most first.
func (s *Snapshot) candidateTerms(ctx context.Context, q *WordsQuery) []candidateTerm {
	var all []candidateTerm
	walk := newDictionaryWalk(s.views)
	for i, d := range walk.dicts {
		walk.at[i] = d.lowerBound(q.Prefix)
	}
	prefix := []byte(q.Prefix)
	for n := 0; ; n++ {
		holders, ok := walk.next()
		if !ok || !bytes.HasPrefix(walk.term, prefix) || n%windowSize == 0 && ctx.Err() != nil {
			break
		}
		if q.Keep != nil && !q.Keep(walk.term) {
			continue
		}
		c := candidateTerm{text: walk.term}
		for _, i := range holders {
			c.df += int(s.views[i].seg.terms[walk.at[i]-1].df)
		}
		all = append(all, c)
	}
	for _, word := range q.Words {
		c := candidateTerm{text: []byte(word)}
		if slices.ContainsFunc(all, func(o candidateTerm) bool { return bytes.Equal(o.text, c.text) }) {
			continue
		}
		for _, v := range s.views {
			if id := v.seg.dict.find(word); id >= 0 {
				c.df += int(v.seg.terms[id].df)
			}
		}
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b candidateTerm) int {
		return cmp.Or(cmp.Compare(b.df, a.df), bytes.Compare(a.text, b.text))
	})
	return all[:min(len(all), wordCandidates)]
}

// count looks at the chunks of a term. Where all count, only deleted ones have to be looked at.
func (s *Snapshot) count(w *Word, q *WordsQuery, budget *int) {
	for _, v := range s.views {
		id := v.seg.dict.find(w.Text)
		if id < 0 {
			continue
		}
		c, seen := newCursor(v.seg, id), 0
		for ord, ok := c.next(0); ok; ord, ok = c.step() {
			*budget--
			seen++
			if !v.isLive(ord) || q.Accept != nil && !q.Accept(v.seg.keys[ord]) {
				continue
			}
			if w.Chunks++; len(w.Keys) < q.Samples {
				w.Keys = append(w.Keys, v.seg.keys[ord])
			} else if q.Accept == nil && v.deleted == nil {
				w.Chunks += int(c.df) - seen
				break
			}
		}
	}
}

// opening is a chunk with the first place of a term in it.
type opening struct{ key, place uint32 }

// Openings gives the chunks that have one of the terms among their first tokens, the
// nearest to the beginning first, then by key.
func (s *Snapshot) Openings(
	ctx context.Context, terms []string, within, limit int, accept func(key uint32) bool,
) []uint32 {
	if s.opts.WithoutPositions {
		return nil
	}
	var all []opening
	var places []uint32
	budget := openingPostings
	for _, term := range terms {
		for _, v := range s.views {
			id := v.seg.dict.find(term)
			if id < 0 {
				continue
			}
			c := newCursor(v.seg, id)
			for ord, ok := c.next(0); ok && budget > 0; ord, ok = c.step() {
				if budget--; budget%windowSize == 0 && ctx.Err() != nil {
					return nil
				}
				if !v.isLive(ord) || accept != nil && !accept(v.seg.keys[ord]) {
					continue
				}
				places = c.appendPositions(places[:0])
				if int64(places[0]) < int64(within) {
					all = append(all, opening{v.seg.keys[ord], places[0]})
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b opening) int {
		return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(a.key, b.key))
	})
	keys := make([]uint32, 0, min(limit, len(all)))
	seen := make(map[uint32]bool, min(limit, len(all)))
	for _, o := range all {
		if len(keys) == limit {
			break
		}
		if !seen[o.key] {
			seen[o.key] = true
			keys = append(keys, o.key)
		}
	}
	return keys
}
