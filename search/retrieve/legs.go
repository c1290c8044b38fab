package retrieve

import (
	"context"
	"math"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search/answer"
	"github.com/hybridge-search/hybridge/search/ask"
	"github.com/hybridge-search/hybridge/search/engines"
	"github.com/hybridge-search/hybridge/search/plan"
	"github.com/hybridge-search/hybridge/search/relevance"
	"github.com/hybridge-search/hybridge/textquery"
)

// leg is a planned leg for one knowledge base: with its text query or vector, its
// weight and scale from statistics, and its outcome.
type leg struct {
	plan.Leg
	Text        *textquery.Query
	Vector      []float32
	AskedSignal *engine.Signal
	moments     *scoring.Moments // of the fused values: raw scores, or evidence in their place
	cosines     *scoring.Moments // of the raw scores, where moments are over evidence
	bound       float64          // of a text score
	// frequencies of the vocabulary in a text leg's field, where the plan needs them.
	vocabulary   *analysis.Vocabulary
	frequencies  analysis.Frequencies
	own          analysis.Frequencies // of the knowledge base, where frequencies are over a pool
	sameLanguage analysis.Frequencies // of the knowledge bases of the pool in its language, if it has several
	vectors      int                  // of the knowledge base, that moments are over
	weighed      *answer.Coverage     // nil: the weight is as planned
	byQuestion   *plan.ByQuestion     // nil: no model changed the weight
	err          error                // why it failed
	ran          bool
	took         float64 // ms
}

// raws are the moments of raw scores.
func (l *leg) raws() *scoring.Moments {
	if l.cosines != nil {
		return l.cosines
	}
	return l.moments
}

// Sends reports whether the leg is sent to the engine.
func (l *leg) Sends() bool {
	switch {
	case l.err != nil, l.Kind == scoring.Signal: // the engine adds it to what legs find
		return false
	default:
		return l.Kind == scoring.Vector || !l.Text.Empty()
	}
}

// unobserved is the observation of a chunk by a leg that was not sent: 0 for a text
// query without words, unknown for a leg that failed.
func (l *leg) unobserved() scoring.Observation {
	if l.err == nil {
		return scoring.Observation{}
	}
	return scoring.Observation{Raw: math.NaN()}
}

func (l *leg) scoring() scoring.Leg {
	return scoring.Leg{
		Name: l.Name, Kind: l.Kind, Weight: l.Weight, K: l.K,
		Moments: l.moments, Bound: l.bound, Degraded: l.err != nil,
	}
}

// target is a knowledge base that the legs of a search are asked of.
type target struct {
	*engines.Subject
	Question *ask.Question
	Rules    *ask.MatchedRules // nil: no rule matches
	source   int32             // its place among the knowledge bases
	several  bool              // other knowledge bases are searched with it
	wants    plan.Exactness
	demand   Demand
	measured *Measured
	// vocabulary of the run, see ask.Asked.
	vocabulary func(query int) *analysis.Vocabulary
	pool       *pool // nil: scored by itself
	part       int   // of the pool: the members whose legs weigh the same
}

// prepared is a knowledge base with the legs of one attempt: with queries, vectors, statistics and weights.
type prepared struct {
	*target
	Legs  []leg
	Known *float64 // share of the query's idf mass that the text index knows
}

// Measured are the planned legs of a knowledge base with the parts that depend on neither the text
// rules nor the filter: vectors and statistics. The first retrieval that needs them asks.
type Measured struct {
	once      sync.Once
	legs      []leg
	estimator *relevance.Estimator
	err       error
}

// measureOnce measures a knowledge base once.
func (s *Retriever) measureOnce(ctx context.Context, t *target) {
	m := t.measured
	m.once.Do(func() {
		if m.legs, m.err = t.measure(ctx); m.err == nil && s.Bank != nil && len(m.legs) > 0 {
			m.estimator = s.newEstimator(ctx, t, m.legs)
		}
	})
}

// prepare gives each measured leg its query, and the statistics of the pool.
func (s *Retriever) prepare(t *target, rules analysis.Rules) (prepared, error) {
	p := prepared{target: t, Legs: slices.Clone(t.measured.legs)}
	if t.measured.err != nil {
		return p, t.measured.err
	}
	if t.pool != nil {
		t.pool.apply(&p)
	}
	expander := s.Asker.Expander(&t.KB)
	for i := range p.Legs {
		if p.Legs[i].Kind == scoring.Text {
			p.Legs[i].compose(t.Question.In(p.Legs[i].Query).Parsed, expander, rules)
		}
	}
	if t.Plan.Coverage {
		p.weighByCoverage()
	}
	return p, nil
}

// measure gives the planned legs their vectors, and asks the engine for the statistics
// that weighting and normalising need: the document frequencies of the query's terms and
// their synonyms per text field, and the moments of the cosines.
func (t *target) measure(ctx context.Context) ([]leg, error) {
	legs := make([]leg, len(t.Plan.Legs))
	for i, planned := range t.Plan.Legs {
		legs[i].Leg, legs[i].AskedSignal = planned, planned.EngineSignal()
		if planned.Kind == scoring.Vector {
			legs[i].Vector, legs[i].err = t.Question.VectorFor(&t.KB, planned.Query)
		}
	}
	if !t.Plan.NeedsStatistics() && !t.several {
		return legs, nil
	}
	asked := slices.DeleteFunc(pairs(legs), func(p pair) bool { return p.text == nil && p.vector == nil })
	withVectors := hasVector(legs)
	if len(asked) == 1 {
		return legs, t.measurePair(ctx, asked[0], withVectors)
	}
	group, ctx := errgroup.WithContext(ctx)
	for _, p := range asked {
		group.Go(func() error { return t.measurePair(ctx, p, withVectors) })
	}
	return legs, group.Wait()
}

// measurePair asks for the statistics of two legs.
func (t *target) measurePair(ctx context.Context, p pair, withVectors bool) error {
	if t.Plan.Fusion.Normalizer != scoring.ZScore {
		p.vector = nil // nothing else asks for the moments of cosines
	}
	if p.text == nil && p.vector == nil {
		return nil
	}
	req := &engine.StatisticsRequest{KB: t.KB, Alone: !withVectors, Exact: t.wants.Statistics}
	var vocabulary *analysis.Vocabulary
	if p.text != nil {
		vocabulary = t.vocabulary(p.text.Query)
		req.Field, req.Terms = p.text.Field, vocabulary.Words
	}
	if p.vector != nil {
		req.VectorField, req.Vector = p.vector.Field, p.vector.Vector
	}
	stats, err := engines.Ask(ctx, t.Subject, engines.CallStatistics, t.Engine.Statistics, req)
	if err != nil {
		return err
	}
	switch {
	case p.text == nil:
	case stats.TextErr != nil:
		p.text.err = stats.TextErr
	default:
		p.text.vocabulary, p.text.frequencies = vocabulary, ask.FrequenciesOf(vocabulary, stats)
	}
	if p.vector != nil && stats.Vectors > 0 {
		p.vector.moments = &scoring.Moments{Mean: stats.Cosine.Mean, Deviation: stats.Cosine.Deviation}
		p.vector.vectors = stats.Vectors
	}
	return nil
}

// hasVector reports whether a vector leg can run.
func hasVector(legs []leg) bool {
	return slices.ContainsFunc(legs, func(l leg) bool { return l.Kind == scoring.Vector && l.err == nil })
}

// pair is a text and a vector leg whose statistics are asked for together.
type pair struct{ text, vector *leg }

// pairs combines the n-th text leg with the n-th vector leg that has a vector.
func pairs(legs []leg) []pair {
	list := make([]pair, len(legs))
	texts, vectors := 0, 0
	for i := range legs {
		switch l := &legs[i]; {
		case l.Kind == scoring.Text:
			list[texts].text = l
			texts++
		case l.Kind == scoring.Vector && l.err == nil:
			list[vectors].vector = l
			vectors++
		}
	}
	return list[:max(texts, vectors)]
}

// compose makes the text query of a leg. The document frequencies of its terms give
// the moments and the bound of its scores.
func (l *leg) compose(parsed analysis.Query, e analysis.Expander, rules analysis.Rules) {
	f := &l.frequencies
	query := analysis.Compose(parsed, *f, e, rules)
	l.Text = &query
	if f.DF == nil {
		return // nothing in the plan depends on them
	}
	terms := make([]scoring.TermStatistics, len(query.Terms))
	of := 0 // the term's place in the question: the text query keeps the order
	for i := range query.Terms {
		term := &query.Terms[i]
		for parsed.Terms[of].Text != term.Text {
			of++
		}
		share, idf, weight := f.Scored(of)
		terms[i] = scoring.TermStatistics{Share: share, IDF: idf, Weight: term.Weight * weight}
		l.bound += term.Weight * weight * idf * scoring.BM25Factor
	}
	if f.Docs > 0 {
		moments := scoring.TextMoments(terms)
		l.moments = &moments
	}
	l.rescale()
}

// signals gives the signals of the plan, which are the legs at the places given.
func (p *prepared) signals() (signals []engine.Signal, places []int) {
	for i := range p.Legs {
		if l := &p.Legs[i]; l.AskedSignal != nil {
			signals, places = append(signals, *l.AskedSignal), append(places, i)
		}
	}
	return signals, places
}

// observedSignal is a signal's observation of a chunk, without a rank if the value is 0.
func observedSignal(value float64) scoring.Observation {
	if value > 0 {
		return scoring.Observation{Rank: scoring.Unranked, Raw: value}
	}
	return scoring.Observation{Raw: value}
}
