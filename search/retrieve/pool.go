package retrieve

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search/engines"
	"github.com/hybridge-search/hybridge/textquery"
)

// Several knowledge bases are scored as one: by statistics of all their chunks together,
// and by ranks and windows among the candidates of all of them.
//
//	docs, document frequencies, lengths   summed
//	mean of the cosines                   m = Σ N·mₖ / Σ N
//	their variance                        Σ N·(sₖ² + mₖ²) / Σ N − m²
//
// A pool groups knowledge bases that share legs, model and formula. One with chunks in
// another language than the question's is a pool by itself.
type pool struct {
	Members []*Retrieval
	legs    []pooledLeg
	centred bool            // evidence is fused in place of cosines
	ranked  []scoring.Fused // all candidates
	Kept    []scoring.Fused // the ones that pass all thresholds on legs
	Cuts    []scoring.Cut
}

// pooledLeg is a leg's statistics over the pool, in place of the knowledge base's own.
type pooledLeg struct {
	frequencies analysis.Frequencies            // DF nil: none
	alike       map[string]analysis.Frequencies // by language, of the knowledge bases in it
	moments     *scoring.Moments
}

// MergedPooled is the value of Response.MergedBy for one pool.
const MergedPooled = "pooled"

// measureAll measures all knowledge bases and pools them.
func (s *Retriever) measureAll(ctx context.Context, retrievals []Retrieval) {
	var group errgroup.Group
	group.SetLimit(engines.ParallelSubjects)
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
		p.Members = append(p.Members, rt)
	}
	for _, p := range pools {
		if p.centred = p.centres(); p.centred || len(p.Members) > 1 {
			p.sumUp()
		}
	}
}

// centres reports whether evidence is fused in place of cosines: if some chunks
// are in another language than the question, and the evidence of all is known.
func (p *pool) centres() bool {
	fusion, foreign := &p.Members[0].Plan.Fusion, false
	switch {
	case fusion.Method == scoring.RRF:
	case fusion.Method == scoring.Linear && fusion.Normalizer != scoring.Theoretical: // evidence has no bounds
	default:
		return false
	}
	for _, rt := range p.Members {
		j := rt.measured.estimator
		foreign = foreign || j.Foreign()
		if !j.WithoutVectors() && !j.CoversAll() {
			return false
		}
	}
	return foreign
}

// scale names the scale on which raw scores are comparable. Boosts of parts of a text move them within it.
func (rt *Retrieval) scale() string {
	parts := []string{rt.Question.ModelFor(&rt.KB), rt.KB.BM25, rt.KB.Analyzer}
	for i := range rt.Plan.Legs {
		l := &rt.Plan.Legs[i]
		parts = append(parts, l.Name, string(l.Kind), l.Field)
	}
	return strings.Join(parts, "\x00")
}

// sumUp pools the statistics of the members.
func (p *pool) sumUp() {
	for _, rt := range p.Members {
		rt.Pool = p
	}
	p.legs = make([]pooledLeg, len(p.Members[0].measured.legs))
	byLanguage := p.byLanguage()
	for i := range p.legs {
		p.legs[i] = pooledLeg{frequencies: sumFrequencies(p.Members, i), moments: p.sumMoments(i)}
		if len(byLanguage) > 1 {
			p.legs[i].alike = make(map[string]analysis.Frequencies, len(byLanguage))
			for _, members := range byLanguage {
				p.legs[i].alike[members[0].mainLanguage()] = sumFrequencies(members, i)
			}
		}
	}
}

// byLanguage groups the members by their main language, which decides the weight of their
// texts; all of them are one group if evidence is not fused.
func (p *pool) byLanguage() [][]*Retrieval {
	if !p.centred || !p.Members[0].Plan.Coverage {
		return [][]*Retrieval{p.Members}
	}
	var parts [][]*Retrieval
	for _, rt := range p.Members {
		at := slices.IndexFunc(parts, func(m []*Retrieval) bool { return m[0].mainLanguage() == rt.mainLanguage() })
		if at < 0 {
			at, parts = len(parts), append(parts, nil)
		}
		parts[at] = append(parts[at], rt)
	}
	return parts
}

// mainLanguage is the language of most chunks, empty where it is not known.
func (rt *Retrieval) mainLanguage() string {
	if rt.measured.estimator == nil {
		return ""
	}
	return rt.measured.estimator.Profile.Main
}

// sumFrequencies adds up the frequencies of several knowledge bases.
func sumFrequencies(members []*Retrieval, leg int) analysis.Frequencies {
	var sum analysis.Frequencies
	length := 0.0
	for _, rt := range members {
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
	return members[0].vocabulary(members[0].measured.legs[leg].Query).Substituted(sum)
}

func (p *pool) sumMoments(leg int) *scoring.Moments {
	var n, sum, squares float64
	for _, rt := range p.Members {
		l := &rt.measured.legs[leg]
		if l.moments == nil {
			continue
		}
		m := l.moments
		if p.centred {
			m = rt.measured.estimator.Moments(leg, m)
		}
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
func (p *pool) apply(rt *Retrieval) {
	for i := range rt.Legs {
		l := &rt.Legs[i]
		if l.frequencies.DF != nil {
			l.own, l.frequencies = l.frequencies, p.legs[i].frequencies
			l.alike = p.legs[i].alike[rt.mainLanguage()]
		}
		if l.err != nil || l.Kind != scoring.Vector {
			continue
		}
		if p.centred {
			l.cosines = l.moments // the engine ranks by these
		}
		l.moments = p.legs[i].moments // also without vectors: the fused values are the pool's
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
	scaled := textquery.Query{MinimumMatch: l.Text.MinimumMatch}
	if own, pooled := l.own.AverageLength, l.frequencies.AverageLength; own > 0 && pooled > 0 {
		scaled.Lengths = &textquery.Lengths{Average: pooled, Own: own}
	}
	for _, term := range l.Text.Terms {
		term.Weight *= ratio(term.Text)
		for i := range term.Synonyms {
			term.Synonyms[i].Weight *= ratio(term.Synonyms[i].Terms...)
		}
		scaled.Terms = append(scaled.Terms, term)
	}
	for _, phrase := range l.Text.Phrases {
		phrase.Weight *= ratio(phrase.Terms...)
		scaled.Phrases = append(scaled.Phrases, phrase)
	}
	l.Text = &scaled
}

// Fuse ranks the candidates of all members together. Members whose text counts differently
// are fused side by side: ranks, moments and so the sums are over the whole pool.
func (p *pool) Fuse() {
	first, parts := p.Members[0], p.byLanguage()
	weighByQuestion(p.Members)
	p.rank(len(parts) > 1)
	rankings := make([][]scoring.Fused, len(parts))
	for i, members := range parts {
		rankings[i] = p.fuseTogether(members)
	}
	p.ranked = scoring.MergeParts(rankings...)
	thresholds := first.LegThresholds().Applicable(p.ScoringLegs())
	thresholds.Spares = p.choosePins()
	p.Kept, p.Cuts = thresholds.Cut(p.ranked)
	for _, rt := range p.Members {
		rt.Ranking, rt.Cuts = of(p.Kept, rt.Source), nil
	}
}

// choosePins chooses the pins of each member, and reports whether a chunk is pinned.
func (p *pool) choosePins() (pinned func(*scoring.Fused) bool) {
	by := make(map[int32]*Retrieval, len(p.Members))
	for _, rt := range p.Members {
		by[rt.Source] = rt
		if rt.Rules != nil {
			rt.ChoosePins(of(p.ranked, rt.Source))
		}
	}
	return func(f *scoring.Fused) bool { return by[f.Source].PinnedBy[f.ID()] != "" }
}

// fuseTogether fuses the candidates of members whose legs weigh the same.
func (p *pool) fuseTogether(members []*Retrieval) []scoring.Fused {
	var candidates []scoring.Candidate
	var sources []int32
	for _, rt := range members {
		rt.Offset = len(candidates)
		for i := range rt.Hits {
			candidates, sources = append(candidates, rt.Hits[i].Candidate), append(sources, rt.Source)
		}
	}
	legs := scoringLegs(members)
	if p.centred {
		for leg := range legs {
			legs[leg].Evidence = evidences(members, leg)
		}
	}
	ranked := members[0].Plan.Fusion.Fuse(legs, candidates)
	for i := range ranked {
		ranked[i].Source = sources[ranked[i].Index]
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

// of gives the chunks of one source.
func of(ranking []scoring.Fused, source int32) []scoring.Fused {
	return slices.DeleteFunc(slices.Clone(ranking), func(f scoring.Fused) bool { return f.Source != source })
}

// rank gives each leg one ranking of all candidates that it returned for any member, no longer
// than planned for one knowledge base. Joint rankings, which have none, get
// one if they are fused in parts.
func (p *pool) rank(inParts bool) {
	joint := p.Members[0].Plan.Joint
	if joint && !inParts {
		return
	}
	for leg := range p.Members[0].Legs {
		if p.Members[0].Legs[leg].Kind == scoring.Signal {
			continue // it is ranked among the candidates by the fusion
		}
		var returned []place
		for _, rt := range p.Members {
			returned = append(returned, rt.returnedBy(leg)...)
		}
		slices.SortStableFunc(returned, func(a, b place) int {
			return cmp.Or(cmp.Compare(b.value, a.value), cmp.Compare(a.said.Rank, b.said.Rank), cmp.Compare(a.id, b.id))
		})
		for i, at := range returned {
			at.said.Rank = i + 1
			if !joint && at.said.Rank > p.Members[0].Legs[leg].K {
				at.said.Rank = 0
			}
		}
	}
}

// place holds the criteria for the position of a candidate in a leg.
type place struct {
	said  *scoring.Observation
	value float64
	id    string
}

// returnedBy gives the hits that a leg has.
func (rt *Retrieval) returnedBy(leg int) (places []place) {
	for i := range rt.Hits {
		if o := &rt.Hits[i].Observations[leg]; o.Rank != 0 {
			places = append(places, place{o, rt.fusedBy(i, leg), rt.Hits[i].ID})
		}
	}
	return places
}

// fusedBy is the value of a hit in a leg that enters the fusion.
func (rt *Retrieval) fusedBy(hit, leg int) float64 {
	raw := rt.Hits[hit].Observations[leg].Raw
	if rt.Pool == nil || !rt.Pool.centred || rt.Legs[leg].Kind != scoring.Vector {
		return raw
	}
	j := rt.Estimator
	s, told := j.ScaleOf(leg), j.LanguageOf(&rt.Hits[hit])
	if s == nil { // the leg could not be run
		return math.NaN()
	}
	if s.Of(told) == nil {
		told = j.Profile.Main // the other is unknown
	}
	return rt.VectorEvidence(s, hit, told, raw)
}

// ScoringLegs gives the legs of the pool.
func (p *pool) ScoringLegs() []scoring.Leg { return scoringLegs(p.Members) }

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
