package live

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/events"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/search"
)

// Below answers searches: *search.Searcher, or the cache above it.
type Below interface {
	Search(ctx context.Context, scope access.Scope, req search.Request) (*search.Response, error)
	Explain(ctx context.Context, scope access.Scope, req search.ExplainRequest) (*search.ExplainResponse, error)
	Analyze(ctx context.Context, scope access.Scope, req search.Request) (*search.AnalyzeResponse, error)
	Together(ctx context.Context, scope access.Scope, requests []search.Request) ([]search.Outcome, error)
	Suggest(ctx context.Context, scope access.Scope, req search.SuggestRequest) (*search.Suggestions, error)
	ScoreTexts(ctx context.Context, req *search.TextsRequest) (*search.TextScores, error)
	Presets(tenant string) (names []string, standard string)
	Models() (rerankers []string, writes bool)
}

// asking is Below.Search, or its SearchShared.
type asking func(ctx context.Context, scope access.Scope, req search.Request) (*search.Response, error)

// Searched is a search that is over.
type Searched struct {
	Request  *search.Request  // as the caller sent it
	Response *search.Response // nil: it failed
	Err      error
	Started  time.Time
	Took     time.Duration
	// Experiments are the parts that it has in experiments, also where it failed.
	Experiments []events.Participation
}

// Searcher asks for each search what the experiments of its tenant say. What is not a search of a user is passed on:
// explanations, analyses, comparisons. It is safe for concurrent use.
type Searcher struct {
	Below

	store  *Store
	note   func(access.Scope, *Searched)
	shared asking
}

// NewSearcher puts experiments before a searcher. The store may be nil: there are none; so may note, which is told of
// every search.
func NewSearcher(below Below, store *Store, note func(access.Scope, *Searched)) *Searcher {
	s := &Searcher{Below: below, store: store, note: note, shared: below.Search}
	if faster, ok := below.(interface {
		SearchShared(ctx context.Context, scope access.Scope, req search.Request) (*search.Response, error)
	}); ok {
		s.shared = faster.SearchShared
	}
	return s
}

// Search answers a request, by the variants of the experiments that it is part of.
func (s *Searcher) Search(ctx context.Context, scope access.Scope, req search.Request) (*search.Response, error) {
	if s.isIdle(scope.Tenant) {
		return s.Below.Search(ctx, scope, req)
	}
	return s.search(ctx, scope, req, s.Below.Search)
}

// SearchShared is Search for those who want nothing but the JSON, see search.Response.Shared.
func (s *Searcher) SearchShared(
	ctx context.Context, scope access.Scope, req search.Request,
) (*search.Response, error) {
	if s.isIdle(scope.Tenant) {
		return s.shared(ctx, scope, req)
	}
	return s.search(ctx, scope, req, s.shared)
}

// isIdle reports whether there is nothing to do beside the search: no note, and no experiment.
func (s *Searcher) isIdle(tenant string) bool {
	return s.note == nil && (s.store == nil || len(s.store.running(tenant, s.store.options.Now())) == 0)
}

func (s *Searcher) search(
	ctx context.Context, scope access.Scope, req search.Request, ask asking,
) (*search.Response, error) {
	var parts []part
	if s.store != nil {
		parts = s.store.parts(scope.Tenant, &req)
	}
	started := time.Now()
	response, teams, err := s.answer(ctx, scope, &req, parts, ask)
	if err == nil && len(parts) > 0 {
		own := *response // others may read the same one
		own.Experiments = make([]search.InExperiment, len(parts))
		for i := range parts {
			own.Experiments[i] = search.InExperiment{ID: parts[i].of.ID, Variant: parts[i].variant()}
		}
		response = &own
	}
	if s.note != nil {
		s.note(scope, &Searched{
			Request: &req, Response: response, Started: started, Err: err, Took: time.Since(started),
			Experiments: participations(parts, teams),
		})
	}
	return response, err
}

// variant is the name of the one that answers; empty where both do.
func (p *part) variant() string {
	if p.arm == nil {
		return ""
	}
	return p.arm.Name
}

func participations(parts []part, teams []int8) []events.Participation {
	var all []events.Participation
	for i := range parts {
		p := events.Participation{Experiment: parts[i].of.ID, Variant: parts[i].variant(), Unit: parts[i].unit}
		if parts[i].arm == nil {
			p.Teams = teams
		}
		all = append(all, p)
	}
	return all
}

// answer asks by the variants of all parts together. teams are the teams of the hits, where two lists are merged.
func (s *Searcher) answer(
	ctx context.Context, scope access.Scope, req *search.Request, parts []part, ask asking,
) (response *search.Response, teams []int8, err error) {
	varied := *req
	var both *part
	for i := range parts {
		if parts[i].arm == nil {
			both = &parts[i]
		} else {
			varied = parts[i].arm.over(varied)
		}
	}
	if both != nil {
		response, teams, err = s.interleave(ctx, scope, varied, both)
	} else {
		response, err = ask(ctx, scope, varied)
	}
	if len(parts) == 0 || !isUnfit(err) {
		return response, teams, err
	}
	// The search may be one that the variant cannot run, as of a knowledge base that is newer than the experiment.
	plain, failed := s.Below.Search(ctx, scope, *req)
	if failed != nil {
		return nil, nil, failed // which is the caller's own
	}
	return degradedBy(plain, err), nil, nil
}

// isUnfit reports whether a request is at fault, and not who answers it.
func isUnfit(err error) bool {
	return fault.Is(err, fault.InvalidArgument) || fault.Is(err, fault.Unsupported) || fault.Is(err, fault.NotFound)
}

// step is the name in Response.Degraded of a variant that did not answer.
const step = "experiment"

func degradedBy(response *search.Response, err error) *search.Response {
	own := *response
	reason := "internal error"
	var f *fault.Error
	if errors.As(err, &f) && f.Kind != fault.Internal {
		reason = f.Detail
	}
	own.Degraded = append(slices.Clip(own.Degraded), search.Degraded{Leg: step, Code: fault.KindOf(err), Reason: reason})
	return &own
}
