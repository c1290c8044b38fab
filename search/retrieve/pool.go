package retrieve

import (
	"math"
	"slices"
	"strings"

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
// A pool groups knowledge bases that share legs, model and formula. One with chunks in
// another language than the question's is a pool by itself.
type pool struct {
	members []*target
	legs    []pooledLeg
	centred bool // evidence is fused in place of cosines
}

// pooledLeg is a leg's statistics over the pool, in place of the knowledge base's own.
type pooledLeg struct {
	frequencies analysis.Frequencies   // DF nil: none
	parts       []analysis.Frequencies // of the members in one language each; nil: all are in one
	moments     *scoring.Moments
}

// poolAll pools the measured knowledge bases.
func poolAll(targets []*target) {
	pools := map[string]*pool{}
	for _, t := range targets {
		if t.measured.err != nil {
			continue
		}
		key := t.scale()
		if pools[key] == nil {
			pools[key] = &pool{}
		}
		pools[key].members = append(pools[key].members, t)
	}
	for _, p := range pools {
		if p.centred = p.centres(); p.centred || len(p.members) > 1 {
			p.sumUp()
		}
	}
}

// centres reports whether evidence is fused in place of cosines: if some chunks
// are in another language than the question, and the evidence of all is known.
func (p *pool) centres() bool {
	fusion, foreign := &p.members[0].Plan.Fusion, false
	switch {
	case fusion.Method == scoring.RRF:
	case fusion.Method == scoring.Linear && fusion.Normalizer != scoring.Theoretical: // evidence has no bounds
	default:
		return false
	}
	for _, t := range p.members {
		j := t.measured.estimator
		foreign = foreign || j.Foreign()
		if !j.WithoutVectors() && !j.CoversAll() {
			return false
		}
	}
	return foreign
}

// scale names the scale on which raw scores are comparable. Boosts of parts of a text move them within it.
func (t *target) scale() string {
	parts := []string{t.Question.ModelFor(&t.KB), t.KB.BM25, t.KB.Analyzer}
	for i := range t.Plan.Legs {
		l := &t.Plan.Legs[i]
		parts = append(parts, l.Name, string(l.Kind), l.Field)
	}
	return strings.Join(parts, "\x00")
}

// sumUp pools the statistics of the members.
func (p *pool) sumUp() {
	parts := p.byLanguage()
	for n, members := range parts {
		for _, t := range members {
			t.pool, t.part = p, n
		}
	}
	p.legs = make([]pooledLeg, len(p.members[0].measured.legs))
	for i := range p.legs {
		p.legs[i] = pooledLeg{frequencies: sumFrequencies(p.members, i), moments: p.sumMoments(i)}
		for _, members := range parts {
			if len(parts) > 1 {
				p.legs[i].parts = append(p.legs[i].parts, sumFrequencies(members, i))
			}
		}
	}
}

// byLanguage groups the members by their main language, which decides the weight of their
// texts; all of them are one group if evidence is not fused.
func (p *pool) byLanguage() [][]*target {
	if !p.centred || !p.members[0].Plan.Coverage {
		return [][]*target{p.members}
	}
	var parts [][]*target
	for _, t := range p.members {
		at := slices.IndexFunc(parts, func(m []*target) bool { return m[0].mainLanguage() == t.mainLanguage() })
		if at < 0 {
			at, parts = len(parts), append(parts, nil)
		}
		parts[at] = append(parts[at], t)
	}
	return parts
}

// mainLanguage is the language of most chunks, empty where it is not known.
func (t *target) mainLanguage() string {
	if t.measured.estimator == nil {
		return ""
	}
	return t.measured.estimator.Profile.Main
}

// sumFrequencies adds up the frequencies of several knowledge bases.
func sumFrequencies(members []*target, leg int) analysis.Frequencies {
	var sum analysis.Frequencies
	length := 0.0
	for _, t := range members {
		f := &t.measured.legs[leg].frequencies
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
	for _, t := range p.members {
		l := &t.measured.legs[leg]
		if l.moments == nil {
			continue
		}
		m := l.moments
		if p.centred {
			m = t.measured.estimator.Moments(leg, m)
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
func (p *pool) apply(m *prepared) {
	for i := range m.Legs {
		l := &m.Legs[i]
		if l.frequencies.DF != nil {
			l.own, l.frequencies = l.frequencies, p.legs[i].frequencies
			if parts := p.legs[i].parts; parts != nil {
				l.sameLanguage = parts[m.part]
			}
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
