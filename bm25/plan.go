package bm25

import (
	"math"

	"github.com/hybridge-search/hybridge/textquery"
)

// plan is a query with the weights that a snapshot gives it.
type plan struct {
	words   []word
	byText  map[string]int
	groups  []planGroup
	phrases []planGroup // add to the score of chunks that match
	need    int         // groups that must match
	// inverse is view.inverse per view, for another average length; nil: as they are.
	inverse [][]float32
}

// inverseOf is the table of a view.
func (p *plan) inverseOf(i int, v *view) []float32 {
	if p.inverse == nil {
		return v.inverse
	}
	return p.inverse[i]
}

// word is a distinct token of the query.
type word struct {
	text string
	ids  []int // per view, the term's index or -1
	idf  float32
	df   int
}

// planGroup is a term with its synonyms, of which the best counts, or a phrase.
type planGroup []planScorer

// planScorer is a term (one word) or a phrase.
type planScorer struct {
	words  []int // by position
	slop   int
	weight float32
}

// plan looks the words up. Parts that can match nothing are left out.
func (s *Snapshot) plan(q *textquery.Query) *plan {
	p := &plan{need: 1, byText: make(map[string]int)}
	if q == nil {
		return p
	}
	p.need = max(1, q.MinimumMatch)
	if l := q.Lengths; l != nil && l.Average > 0 {
		for _, v := range s.views {
			p.inverse = append(p.inverse, v.inverses(s.opts, float32(l.Average)))
		}
	}
	for _, t := range q.Terms {
		var g planGroup
		g = s.addScorer(p, g, textquery.Phrase{Terms: []string{t.Text}, Weight: t.Weight})
		for _, syn := range t.Synonyms {
			g = s.addScorer(p, g, syn)
		}
		if len(g) > 0 {
			p.groups = append(p.groups, g)
		}
	}
	for _, ph := range q.Phrases {
		if g := s.addScorer(p, nil, ph); len(g) > 0 {
			p.phrases = append(p.phrases, g)
		}
	}
	return p
}

// addScorer appends a scorer to the group unless one of its words is unknown.
func (s *Snapshot) addScorer(p *plan, g planGroup, ph textquery.Phrase) planGroup {
	if len(ph.Terms) == 0 || len(ph.Terms) > 1 && s.opts.WithoutPositions {
		return g
	}
	sc := planScorer{slop: max(0, ph.Slop)}
	idf := 0.0
	for _, t := range ph.Terms {
		w := s.word(p, t)
		if p.words[w].df == 0 {
			return g
		}
		idf += float64(p.words[w].idf)
		sc.words = append(sc.words, w)
	}
	sc.weight = finite(float32(ph.Weight) * (1 + float32(s.opts.K1)) * float32(idf))
	return append(g, sc)
}

// finite is w, or 0 when it is no number to compute with.
func finite(w float32) float32 {
	if w != w || math.IsInf(float64(w), 0) {
		return 0
	}
	return w
}

// word finds a token's statistics, once for each distinct token.
func (s *Snapshot) word(p *plan, text string) int {
	if i, known := p.byText[text]; known {
		return i
	}
	w := word{text: text, ids: make([]int, len(s.views))}
	for i, v := range s.views {
		w.ids[i] = v.seg.dict.find(text)
		if w.ids[i] >= 0 {
			w.df += v.df(w.ids[i], s.opts)
		}
	}
	if w.df > 0 {
		w.idf = s.idf(w.df)
	}
	p.byText[text] = len(p.words)
	p.words = append(p.words, w)
	return len(p.words) - 1
}
