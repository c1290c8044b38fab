package search

import (
	"context"
	"time"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/lib/tracing"
	"github.com/hybridge-search/hybridge/search/answer"
	"github.com/hybridge-search/hybridge/search/ask"
	"github.com/hybridge-search/hybridge/search/engines"
	"github.com/hybridge-search/hybridge/search/plan"
	"github.com/hybridge-search/hybridge/search/present"
	"github.com/hybridge-search/hybridge/search/refine"
	"github.com/hybridge-search/hybridge/search/retrieve"
)

func (s *Searcher) resolver() engines.Resolver {
	return engines.Resolver{Catalog: s.Catalog, Metrics: s.metrics}
}

func (s *Searcher) retriever() *retrieve.Retriever {
	return &retrieve.Retriever{Asker: s.asker(), Bank: s.Bank, Profiles: &s.profiles}
}

func (s *Searcher) refiner() *refine.Refiner {
	return &refine.Refiner{Analyzer: s.Analyzer, Rerankers: s.Rerankers, Retriever: s.retriever()}
}

func (s *Searcher) presenter() *present.Presenter {
	return &present.Presenter{Asker: s.asker(), Sentences: &s.sentences}
}

// The steps of a search, each with its input and its result:
//
//	prepare   plan, rewrite, admit, ask              a request   -> a run, with ask.Asked
//	retrieve  statistics, legs                       ask.Asked   -> []retrieve.Answered
//	rank      fuse, calibrate, cut, pin, group       answers     -> refine.Set, with []retrieve.Retrieval
//	refine    fold, rerank, diversify, gather        refine.Set  -> refine.Set
//	present   the page                               refine.Set  -> answer.Response
//
// Search takes all of them, Explain all but the last, counts of disjunctive facets end with rank and Observe with
// retrieve.

// prepare takes the steps before an engine is asked for hits. release frees the resources it holds.
func (s *Searcher) prepare(
	ctx context.Context, scope access.Scope, req *plan.Request,
) (r *run, release func(), err error) {
	if r, err = s.planRewritten(ctx, scope, req); err != nil {
		return nil, nil, err
	}
	release, err = s.begin(ctx, scope, r)
	return r, release, err
}

// begin waits until a planned run is admitted, and makes its question.
func (s *Searcher) begin(ctx context.Context, scope access.Scope, r *run) (release func(), err error) {
	if release, err = s.admit(ctx, scope, r); err != nil {
		return nil, err
	}
	q, err := s.asker().Ask(ctx, r.Request, r.Bound, r.Subjects, &r.timings)
	if err != nil {
		release()
		return nil, err
	}
	s.setQuestion(r, q)
	return release, nil
}

// setQuestion sets the question of a run.
func (s *Searcher) setQuestion(r *run, q ask.Question) {
	r.Question = q
	r.Vocabulary = s.asker().Vocabularies(&r.Question, r.Subjects, &r.Plan.Text)
}

// retrieve asks the engines for the legs of a run, and counts them in metrics, which may be nil.
func (s *Searcher) retrieve(ctx context.Context, r *run, metrics *engines.Metrics) ([]retrieve.Answered, error) {
	answers := s.retriever().Execute(ctx, &r.Asked, r.measured, r.demand)
	for i := range answers {
		retrieve.CountLegs(metrics, &answers[i])
	}
	if err := retrieve.Failure(ctx, answers); err != nil {
		return nil, err
	}
	for i := range answers {
		retrieve.AddTimes(&r.timings, &answers[i])
	}
	return answers, nil
}

// allowance is the byte budget of one answer.
func (s *Searcher) allowance() *answer.Allowance {
	return &answer.Allowance{Limit: s.AnswerBytes, Making: &s.making, MakingLimit: s.MakingBytes}
}

// rank makes one ranking of the results of all knowledge bases.
func (s *Searcher) rank(ctx context.Context, r *run) (*refine.Set, error) {
	answers, err := s.retrieve(ctx, r, s.metrics)
	if err != nil {
		return nil, err
	}
	started := time.Now()
	_, span := tracing.Start(ctx, engines.SpanFuse)
	set := refine.Fuse(&r.Asked, answers)
	set.Bytes = r.bytes
	set.Boost(&r.Plan.Fusion, r.BaseBoosts())
	span.End(nil)
	refiner := s.refiner()
	refiner.Cut(ctx, set, &r.threshold)
	refiner.Pin(ctx, &r.Asked, set)
	if err := refiner.Group(ctx, &r.Asked, set); err != nil {
		return nil, err
	}
	set.Truncate(r.Plan.Candidates)
	set.Counted = set.Entries
	for _, more := range [][]answer.Degraded{r.unavailable, r.vectorless, r.rewriting} {
		set.Degraded = append(set.Degraded, more...)
	}
	r.timings.Fuse += answer.Milliseconds(time.Since(started))
	return set, nil
}

// refine takes the steps up to the final ranking, which pages and explanations share.
func (s *Searcher) refine(ctx context.Context, r *run) (*refine.Set, error) {
	set, err := s.rank(ctx, r)
	if err != nil {
		return nil, err
	}
	refiner := s.refiner()
	if err := refiner.Fold(ctx, &r.Asked, set, r.foldReach); err != nil {
		return nil, err
	}
	for _, step := range []func(context.Context, *ask.Asked, *refine.Set) error{
		refiner.Rerank, refiner.Diversify, refiner.Gather,
	} {
		if err := step(ctx, &r.Asked, set); err != nil {
			return nil, err
		}
	}
	return set, nil
}

func (s *Searcher) asker() ask.Asker {
	return ask.Asker{
		Analyzer: s.Analyzer, Embedder: s.Embedder, Embedders: s.Embedders, Synonyms: s.Synonyms, Rules: s.Rules,
	}
}
