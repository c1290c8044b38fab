package search

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/textquery"
)

// Several knowledge bases are scored as one: by statistics of all their chunks together,
// and by ranks and windows among the candidates of all of them.
//
//	docs, document frequencies, lengths   summed
//	mean of the cosines                   m = Σ N·mₖ / Σ N
//	their variance                        Σ N·(sₖ² + mₖ²) / Σ N − m²
//
// A pool is the knowledge bases that can be: of the same legs, model and formula.
type pool struct {
	members []*retrieval
	legs    []pooledLeg
	ranked  []scoring.Fused // all candidates
	kept    []scoring.Fused // that no threshold on a leg cut
	cuts    []scoring.Cut
}

// pooledLeg is what a leg has in place of a knowledge base's own statistics.
type pooledLeg struct {
	frequencies analysis.Frequencies // DF nil: none
	cosines     *scoring.Moments
}

// mergedPooled is what Response.MergedBy says of one pool.
const mergedPooled = "pooled"

// measureAll measures all knowledge bases and pools them.
func (s *Searcher) measureAll(ctx context.Context, retrievals []retrieval) {
	var group errgroup.Group
	group.SetLimit(parallelSubjects)
	for i := range retrievals {
		rt := &retrievals[i]
		group.Go(func() error {
			s.measureOnce(ctx, rt)
			return nil // each keeps its own error
		})
	}
	_ = group.Wait()
	pools := map[string]*pool{}
	for i := range retrievals {
		rt := &retrievals[i]
		if rt.measured.err != nil {
			continue
		}
		key := rt.scale()
		if pools[key] == nil {
			pools[key] = &pool{}
		}
		p := pools[key]
		p.members = append(p.members, rt)
	}
	for _, p := range pools {
		if len(p.members) > 1 {
			p.sumUp()
		}
	}
}

// scale names what makes raw scores comparable.
func (rt *retrieval) scale() string {
	parts := []string{rt.question.modelFor(&rt.KB), rt.KB.BM25, rt.KB.Analyzer}
	for i := range rt.Plan.Legs {
		l := &rt.Plan.Legs[i]
		parts = append(parts, l.Name, string(l.Kind), l.Field)
	}
	return strings.Join(parts, "\x00")
}

// sumUp pools the statistics of the members.
func (p *pool) sumUp() {
	for _, rt := range p.members {
		rt.pool = p
	}
	p.legs = make([]pooledLeg, len(p.members[0].measured.legs))
	for i := range p.legs {
		p.legs[i] = pooledLeg{frequencies: p.sumFrequencies(i), cosines: p.sumMoments(i)}
	}
}

func (p *pool) sumFrequencies(leg int) analysis.Frequencies {
	var sum analysis.Frequencies
	length := 0.0
	for _, rt := range p.members {
		f := &rt.measured.legs[leg].frequencies
		if f.DF == nil {
			continue
		}
		if sum.DF == nil {
			sum.DF = make([]int, len(f.DF))
		}
		sum.Docs += f.Docs
		length += f.AverageLength * float64(f.Docs)
		for i, n := range f.DF {
			sum.DF[i] += n
		}
	}
	if sum.DF == nil {
		return sum
	}
	if sum.Docs > 0 {
		sum.AverageLength = length / float64(sum.Docs)
	}
	return p.members[0].vocabulary().Substituted(sum)
}

func (p *pool) sumMoments(leg int) *scoring.Moments {
	var n, sum, squares float64
	for _, rt := range p.members {
		l := &rt.measured.legs[leg]
		if l.moments == nil {
			continue
		}
		m := l.moments
		n += float64(l.vectors)
		sum += float64(l.vectors) * m.Mean
		squares += float64(l.vectors) * (m.Deviation*m.Deviation + m.Mean*m.Mean)
	}
	if n == 0 {
		return nil
	}
	mean := sum / n
	return &scoring.Moments{Mean: mean, Deviation: math.Sqrt(max(squares/n-mean*mean, 0))}
}

// apply gives the legs of a member the pooled statistics in place of their own.
func (p *pool) apply(legs []leg) {
	for i := range legs {
		l := &legs[i]
		if l.frequencies.DF != nil {
			l.own, l.frequencies = l.frequencies, p.legs[i].frequencies
		}
		if l.moments != nil {
			l.moments = p.legs[i].cosines
		}
	}
}

// rescale changes the weights of a text query so that an engine, which has the document
// frequencies of one knowledge base, gives the scores of the pool's.
func (l *leg) rescale() {
	if l.own.DF == nil {
		return
	}
	words := l.vocabulary.Words
	idfs := make(map[string][2]float64, len(words)) // of the pool, and its own
	for i, word := range words {
		idfs[word] = [2]float64{l.frequencies.IDF(i), l.own.IDF(i)}
	}
	ratio := func(terms ...string) float64 {
		var pooled, own float64
		for _, term := range terms {
			pooled, own = pooled+idfs[term][0], own+idfs[term][1]
		}
		if own == 0 {
			return 1
		}
		return pooled / own
	}
	scaled := textquery.Query{MinimumMatch: l.text.MinimumMatch}
	if own, pooled := l.own.AverageLength, l.frequencies.AverageLength; own > 0 && pooled > 0 {
		scaled.Lengths = &textquery.Lengths{Average: pooled, Own: own}
	}
	for _, term := range l.text.Terms {
		term.Weight *= ratio(term.Text)
		for i := range term.Synonyms {
			term.Synonyms[i].Weight *= ratio(term.Synonyms[i].Terms...)
		}
		scaled.Terms = append(scaled.Terms, term)
	}
	for _, phrase := range l.text.Phrases {
		phrase.Weight *= ratio(phrase.Terms...)
		scaled.Phrases = append(scaled.Phrases, phrase)
	}
	l.text = &scaled
}

// fuse ranks the candidates of all members together.
func (p *pool) fuse() {
	var candidates []scoring.Candidate
	var sources []int32
	for _, rt := range p.members {
		rt.offset = len(candidates)
		for i := range rt.hits {
			candidates, sources = append(candidates, rt.hits[i].Candidate), append(sources, rt.source)
		}
	}
	legs, first := p.scoringLegs(), p.members[0]
	p.rank(candidates)
	p.ranked = first.Plan.Fusion.Fuse(legs, candidates)
	for i := range p.ranked {
		p.ranked[i].Source = sources[p.ranked[i].Index]
	}
	p.kept, p.cuts = first.legThresholds().Applicable(legs).Cut(p.ranked)
	for _, rt := range p.members {
		rt.ranking, rt.cuts = of(p.kept, rt.source), nil
	}
}

// of are the chunks of one source.
func of(ranking []scoring.Fused, source int32) []scoring.Fused {
	return slices.DeleteFunc(slices.Clone(ranking), func(f scoring.Fused) bool { return f.Source != source })
}

// rank gives each leg one ranking of all candidates that it returned for any member, as
// long as it was planned for one knowledge base. Joint rankings have none.
func (p *pool) rank(candidates []scoring.Candidate) {
	for i := range candidates {
		candidates[i].Observations = slices.Clone(candidates[i].Observations) // hits keep theirs
	}
	first := p.members[0]
	if first.Plan.Joint {
		return
	}
	for leg := range first.legs {
		var returned []int
		for i := range candidates {
			if candidates[i].Observations[leg].Rank > 0 {
				returned = append(returned, i)
			}
		}
		slices.SortStableFunc(returned, func(a, b int) int {
			x, y := candidates[a].Observations[leg], candidates[b].Observations[leg]
			return cmp.Or(cmp.Compare(y.Raw, x.Raw), cmp.Compare(x.Rank, y.Rank),
				cmp.Compare(candidates[a].ID, candidates[b].ID))
		})
		for place, i := range returned {
			o := &candidates[i].Observations[leg]
			o.Rank = place + 1
			if o.Rank > first.legs[leg].K {
				o.Rank = 0
			}
		}
	}
}

// scoringLegs are those of the pool: a leg is degraded where it took no part anywhere.
func (p *pool) scoringLegs() []scoring.Leg {
	legs := p.members[0].scoringLegs()
	for _, rt := range p.members[1:] {
		for i, l := range rt.scoringLegs() {
			if legs[i].Degraded && !l.Degraded {
				legs[i] = l
			}
			legs[i].Bound = max(legs[i].Bound, l.Bound)
		}
	}
	return legs
}
