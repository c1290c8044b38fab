package search

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/lib/admission"
	"github.com/hybridge-search/hybridge/lib/tracing"
	"github.com/hybridge-search/hybridge/search/answer"
	"github.com/hybridge-search/hybridge/search/ask"
	"github.com/hybridge-search/hybridge/search/engines"
	"github.com/hybridge-search/hybridge/search/plan"
	"github.com/hybridge-search/hybridge/search/present"
	"github.com/hybridge-search/hybridge/search/refine"
	"github.com/hybridge-search/hybridge/search/retrieve"
)

// SavedPresets are presets that tenants keep while the program runs, beside Options.Planners, which win.
type SavedPresets interface {
	// Planner is nil where the tenant has no preset of the name.
	Planner(tenant, name string) plan.Planner
	// Names gives the names of the tenant's presets, in order.
	Names(tenant string) []string
}

// Options are the dependencies of a Searcher. Embedder, Embedders, Synonyms, Rules, Rerankers, Rewriter,
// Bank and Saved may be nil.
type Options struct {
	Catalog       engines.Catalog
	Analyzer      ask.Analyzer
	Embedder      ask.Embedder // of knowledge bases that name no model, or none of the following
	Embedders     map[string]ask.Embedder
	Synonyms      ask.Synonyms
	Rules         ask.Rules
	Rerankers     map[string]refine.Reranker
	Rewriter      Rewriter
	Bank          retrieve.Bank // nil: answers say nothing of relevance
	Planners      map[string]plan.Planner
	Saved         SavedPresets
	DefaultPreset string
	// AnswerBytes is about how many bytes the texts of an answer may take; one that takes
	// more is refused as fault.TooLarge. 0: any number.
	AnswerBytes int64
	// MakingBytes is how many bytes the texts of all answers in progress may take;
	// beyond, searches are fault.Overloaded. 0: any number.
	MakingBytes int64
	// Admission bounds how much is computed at a time; nil: no bound.
	Admission *admission.Gate
	// Registry takes the metrics of engines and legs; nil: there are none.
	Registry prometheus.Registerer
	// Slow logs slow searches, if it has a Logger.
	Slow SlowLog
}

// Searcher answers questions. It caches only the languages of knowledge bases and the vectors
// of sentences. It is safe for concurrent use.
type Searcher struct {
	Options
	profiles  retrieve.Profiles
	sentences present.Sentences
	making    atomic.Int64     // bytes of the answers being made
	metrics   *engines.Metrics // nil: there are none
}

// New makes a Searcher.
func New(o Options) *Searcher { return &Searcher{Options: o, metrics: engines.NewMetrics(o.Registry)} }

// WithSynonyms is a Searcher with other synonyms that shares everything else. It is meant for a
// few questions: its cache of knowledge bases is empty.
func (s *Searcher) WithSynonyms(other ask.Synonyms) *Searcher {
	options := s.Options
	options.Synonyms = other
	return &Searcher{Options: options, metrics: s.metrics}
}

// Search answers a request within a scope. A leg that fails is listed in Degraded
// and costs no more than its own hits; the search fails when no leg is left.
func (s *Searcher) Search(ctx context.Context, scope access.Scope, req plan.Request) (_ *answer.Response, err error) {
	ctx, span := tracing.Start(ctx, engines.SpanSearch)
	defer func() { span.End(err) }()
	return engines.Settled(ctx, s.Catalog, scope, &req, func() (*answer.Response, []answer.Degraded, error) {
		r, err := s.search(ctx, scope, req)
		if err != nil {
			return nil, nil, err
		}
		return r, r.Degraded, nil
	})
}

func (s *Searcher) search(ctx context.Context, scope access.Scope, req plan.Request) (*answer.Response, error) {
	started := time.Now()
	r, release, err := s.prepare(ctx, scope, &req)
	if err != nil {
		return nil, err
	}
	defer release()
	return s.answer(ctx, r, started)
}

// answer takes all steps after the question is known, and logs slow searches.
func (s *Searcher) answer(ctx context.Context, r *run, started time.Time) (*answer.Response, error) {
	response, err := s.steps(ctx, r, started)
	s.Slow.note(ctx, r, response, time.Since(started), err)
	return response, err
}

func (s *Searcher) steps(ctx context.Context, r *run, started time.Time) (*answer.Response, error) {
	ctx = engine.OneSearch(ctx)
	s.asker().Match(&r.Asked)
	r.forPage(s.allowance())
	defer r.bytes.Done()
	apart := s.rankApart(ctx, r)
	defer apart.stop()
	set, err := s.refine(ctx, r)
	if err != nil {
		return nil, err
	}
	response, err := s.presenter().Present(ctx, &r.Asked, set, &r.timings)
	if err != nil {
		return nil, err
	}
	apart.count(response)
	if r.Plan.DidYouMean {
		response.DidYouMean = s.didYouMean(ctx, r, set)
	}
	response.TookMS = answer.Milliseconds(time.Since(started))
	return response, nil
}
