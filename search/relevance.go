package search

import (
	"context"
	"math"

	"github.com/hybridge-search/hybridge/analysis/language"
	"github.com/hybridge-search/hybridge/embedding/bank"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search/answer"
	"github.com/hybridge-search/hybridge/search/ask"
	"github.com/hybridge-search/hybridge/search/engines"
)

// Bank knows the scale of cosines of embedding models. An error of the kind Unavailable
// passes; of any other kind nothing will ever be known of the model.
type Bank interface {
	Centres(model string) (*bank.Centres, error)
}

// judge tells how relevant the hits of a knowledge base are, from what the legs measured
// and never from the fused score: so it says the same for every preset.
type judge struct {
	asked   string // language of the question
	profile *profile
	scales  []legScale // of the vector legs; none: by words
	err     error      // why nothing can be said by vectors
	bound   float64    // of the text scores, where it is by words; 0: nothing can be said
	chunks  int        // that the best of them is the best of
}

// legScale is what makes evidence of the cosines of a leg.
type legScale struct {
	leg    int
	asked  string // language of the phrasing
	parts  []part
	chunks int // with a vector
}

// part is the chunks in one language, and the line that stands for their evidence.
type part struct {
	bank.Scale
	language string
	share    float64     // of the chunks, in [0, 1]
	middle   float64     // cosine of the question and their mean vector
	exact    *bank.Exact // in another language than the question
}

// scale is that of a leg, nil where there is none.
func (j *judge) scale(leg int) *legScale {
	for i := range j.scales {
		if j.scales[i].leg == leg {
			return &j.scales[i]
		}
	}
	return nil
}

// moments of a leg's evidence, given those of its cosines.
func (j *judge) moments(leg int, cosines *scoring.Moments) *scoring.Moments {
	if s := j.scale(leg); s != nil {
		return s.moments(cosines)
	}
	return cosines // of a text leg
}

// of is the part of a language, nil where there is none.
func (s *legScale) of(language string) *part {
	for i := range s.parts {
		if s.parts[i].language == language {
			return &s.parts[i]
		}
	}
	return nil
}

// newJudge takes legs with their vectors. One that has nothing to go by is fine.
func (s *Searcher) newJudge(ctx context.Context, rt *retrieval, legs []leg) *judge {
	j := &judge{}
	fields := rt.KB.FieldsOf(scoring.Vector)
	if j.profile, j.err = s.profileOf(ctx, rt.Subject, fields); j.err != nil {
		return j
	}
	j.asked = rt.question.LanguageFor(j.profile.main)
	for i := range legs {
		if legs[i].Kind != scoring.Vector || legs[i].err != nil {
			continue
		}
		scale, err := s.scaleOf(ctx, rt, &legs[i], rt.question.In(legs[i].Query).LanguageFor(j.profile.main))
		if err != nil {
			j.err = err
			continue
		}
		scale.leg, scale.asked = i, rt.question.In(legs[i].Query).LanguageFor(j.profile.main)
		j.chunks = max(j.chunks, scale.chunks)
		j.scales = append(j.scales, scale)
	}
	return j
}

// profileOf is that of the first vector field; of a knowledge base without vectors, that
// of its texts.
func (s *Searcher) profileOf(ctx context.Context, subject *engines.Subject, fields []string) (*profile, error) {
	p, err := &profile{}, error(nil)
	if len(fields) > 0 {
		p, err = s.profiles.of(ctx, subject, fields[0])
	}
	if err == nil && p.main == "" {
		p, err = s.profiles.of(ctx, subject, "")
	}
	if err != nil {
		return &profile{}, err
	}
	return p, nil
}

// scaleOf makes the scale of a vector leg.
func (s *Searcher) scaleOf(ctx context.Context, rt *retrieval, l *leg, asked string) (legScale, error) {
	scale := legScale{}
	p, err := s.profiles.of(ctx, rt.Subject, l.Field)
	if err != nil {
		return scale, err
	}
	centres, err := s.Bank.Centres(rt.question.ModelFor(&rt.KB))
	if err != nil {
		return scale, err
	}
	scale.chunks = p.chunks
	for _, c := range p.centroids {
		line, ok := centres.Scale(l.vector, c.Mean, asked, c.Language)
		if !ok {
			continue
		}
		told := part{
			Scale: line, language: c.Language, share: float64(c.Chunks) / float64(p.sampled()),
			middle: cosineWith(c.Mean, l.vector),
		}
		if exact, ok := centres.Exact(l.vector, asked, c.Language); ok && c.Language != asked {
			told.exact = &exact
		}
		scale.parts = append(scale.parts, told)
	}
	return scale, nil
}

// copy is for one of the searches that share what was measured.
func (j *judge) copy() *judge {
	if j == nil {
		return nil
	}
	own := *j
	return &own
}

// byVectors reports whether cosines are evidence here.
func (j *judge) byVectors() bool { return len(j.scales) > 0 }

// evidence of a hit in a language whose raw score in each leg is given, NaN where nothing
// is known. Of several legs the best one counts.
func (rt *retrieval) evidenceOf(hit int, told string, raw func(leg int) float64) float64 {
	best, j := math.NaN(), rt.judge
	if j.byVectors() {
		for i := range j.scales {
			best = answer.LargerKnown(best, rt.vectorEvidence(&j.scales[i], hit, told, raw(j.scales[i].leg)))
		}
		return best
	}
	return j.byWords(told, raw, rt.legs)
}

// byWords is the evidence of a chunk where no vectors were compared.
func (j *judge) byWords(told string, raw func(leg int) float64, legs []leg) float64 {
	best := math.NaN()
	for i := range legs {
		if legs[i].Kind == scoring.Text && legs[i].Query == 0 && j.bound > 0 && told == j.asked {
			best = answer.LargerKnown(best, raw(i)/j.bound)
		}
	}
	return best
}

// languageOf is the language of a hit.
func (j *judge) languageOf(h *engine.Hit) string {
	if j.profile.mixed() {
		for _, said := range h.Facets[engine.MetadataLanguage] {
			if l := language.Code(said); j.profile.has(l) {
				return l
			}
		}
	}
	return j.profile.main
}

// assess finds the evidence of every hit, and the best of all.
func (s *Searcher) assess(ctx context.Context, set *answerSet) {
	for i := range set.retrievals {
		rt := &set.retrievals[i]
		j := rt.judge
		if rt.err != nil || j == nil {
			continue
		}
		if !j.byVectors() {
			if err := s.judgeByWords(ctx, rt); err != nil {
				j.err = err
			}
		}
		rt.evidence = make([]float64, len(rt.hits))
		best := &set.best[kindOf(j)]
		set.chunks[kindOf(j)] += j.chunks
		for h := range rt.hits {
			observed := rt.hits[h].Observations
			e := rt.evidenceOf(h, j.languageOf(&rt.hits[h]), func(leg int) float64 { return observed[leg].Raw })
			rt.evidence[h] = e
			if !math.IsNaN(e) && (*best == nil || e > **best) {
				*best = new(e)
			}
		}
		if rt.lacksRelevance() {
			set.degraded = append(set.degraded, answer.NewDegraded(answer.StepRelevance, rt.KB.ID, j.err))
		}
	}
}

// lacksRelevance reports whether relevance is missing where a later search will have it, or
// where the request asks to cut by it.
func (rt *retrieval) lacksRelevance() bool {
	j := rt.judge
	if j.err == nil || j.byVectors() || j.bound > 0 {
		return false
	}
	return engines.IsUnavailable(j.err) || rt.Plan.Threshold.ByRelevance()
}

// judgeByWords finds the largest score that the words of the question could have, for an
// answer that no vector leg took part in. The share of it that a chunk reaches is its
// evidence.
func (s *Searcher) judgeByWords(ctx context.Context, rt *retrieval) error {
	j := rt.judge
	if j.asked == "" || rt.KB.BM25 == engine.BM25Okapi || !j.profile.has(j.asked) {
		return nil // words of another language say nothing
	}
	for i := range rt.legs {
		l := rt.legs[i] // a copy: what the search used stays as it was
		if l.Kind != scoring.Text || l.Query > 0 || l.err != nil || l.text.Empty() {
			continue
		}
		if l.frequencies.DF == nil {
			stats, err := engines.Ask(ctx, rt.Subject, engines.CallStatistics, rt.Engine.Statistics, &engine.StatisticsRequest{
				KB: rt.KB, Field: l.Field, Terms: rt.vocabulary(0).Words, Alone: true,
			})
			if err != nil {
				return err
			}
			if stats.TextErr != nil {
				return stats.TextErr
			}
			l.frequencies = ask.FrequenciesOf(rt.vocabulary(0), stats)
			l.compose(rt.question.Parsed, s.asker().Expander(&rt.KB), rt.Plan.Text)
		}
		j.bound = max(j.bound, l.bound)
		docs := l.frequencies.Docs
		if l.own.DF != nil { // the frequencies are those of a pool
			docs = l.own.Docs
		}
		j.chunks = max(j.chunks, docs)
	}
	return nil
}

// What evidence is made of. The two are not on one scale.
const (
	byVectors = iota
	byWords
	kindsOfEvidence
)

func kindOf(j *judge) int {
	if j.byVectors() {
		return byVectors
	}
	return byWords
}

// answerable is the probability that a chunk of the answer set answers the question, nil
// where nothing is known.
func (set *answerSet) answerable() *float64 {
	var most *float64
	for i := range set.retrievals {
		rt := &set.retrievals[i]
		switch {
		case rt.err != nil || rt.judge == nil:
		case set.best[kindOf(rt.judge)] != nil:
			most = larger(most, new(set.answerableBy(kindOf(rt.judge))))
		case len(rt.hits) == 0 && rt.judge.knows():
			most = larger(most, new(0.0))
		}
	}
	return most
}

// knows reports whether a hit would have had evidence.
func (j *judge) knows() bool { return j.byVectors() || j.bound > 0 }

func (set *answerSet) answerableBy(kind int) float64 {
	if kind == byVectors {
		return bank.Answerable(*set.best[kind], set.chunks[kind])
	}
	return bank.AnswerableByWords(*set.best[kind], set.chunks[kind])
}

// relevance is the probability that a chunk with this evidence answers the question, nil
// where there is none.
func (set *answerSet) relevance(rt *retrieval, evidence float64) *float64 {
	if rt.judge == nil || math.IsNaN(evidence) {
		return nil
	}
	kind, best := kindOf(rt.judge), evidence
	if known := set.best[kind]; known != nil {
		best = max(best, *known)
	}
	if kind == byVectors {
		return new(bank.Relevance(evidence, best, set.chunks[kind]))
	}
	return new(bank.RelevanceByWords(evidence, best, set.chunks[kind]))
}

// relevanceOf is that of an entry, as far as the search knows it.
func (set *answerSet) relevanceOf(entry *scoring.Fused) *float64 {
	rt := set.from(entry)
	if rt.evidence == nil {
		return nil
	}
	return set.relevance(rt, rt.evidence[int(entry.Index)-rt.offset])
}

// relevanceOfHit is the same for a hit of the page, whose scores are all known.
func (set *answerSet) relevanceOfHit(rt *retrieval, hit int, legs []scoring.Contribution, told string) *float64 {
	if rt.judge == nil {
		return nil
	}
	if !rt.judge.profile.has(told) { // as the ranking had it, which knows no texts
		told = rt.judge.profile.main
	}
	return set.relevance(rt, rt.evidenceOf(hit, told, func(leg int) float64 {
		if legs[leg].Raw == nil {
			return math.NaN()
		}
		return *legs[leg].Raw
	}))
}

// accounts tells it for every knowledge base.
func (set *answerSet) accounts() []answer.RelevanceAccount {
	var all []answer.RelevanceAccount
	for i := range set.retrievals {
		rt := &set.retrievals[i]
		j := rt.judge
		if j == nil {
			continue
		}
		a := answer.RelevanceAccount{
			KnowledgeBase: rt.KB.ID, By: "nothing", Question: j.asked, Best: set.best[kindOf(j)], Bound: j.bound,
			Chunks: set.chunks[kindOf(j)],
		}
		switch {
		case j.byVectors():
			a.By, a.Languages = "vectors", j.lines(rt.legs)
		case j.bound > 0:
			a.By = "words"
		case j.err != nil:
			a.Why = answer.Reason(j.err)
		default:
			a.Why = "question and chunks are in different languages, and nothing but words was compared"
		}
		all = append(all, a)
	}
	return all
}

func (j *judge) lines(legs []leg) []answer.LanguageScale {
	var lines []answer.LanguageScale
	for i := range j.scales {
		scale := &j.scales[i]
		for _, p := range scale.parts {
			lines = append(lines, answer.LanguageScale{
				Leg: legs[scale.leg].Name, Language: p.language, Share: p.share, Scale: p.Scale,
			})
		}
	}
	return lines
}
