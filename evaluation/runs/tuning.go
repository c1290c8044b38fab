package runs

import (
	"context"
	"fmt"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/catalog/jobs"
	"github.com/hybridge-search/hybridge/evaluation"
	"github.com/hybridge-search/hybridge/evaluation/library"
	"github.com/hybridge-search/hybridge/evaluation/metric"
	"github.com/hybridge-search/hybridge/evaluation/tune"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/presets"
	"github.com/hybridge-search/hybridge/search"
)

// TuningJobKind is the kind of the job of a tuning, which has the tuning's id.
const TuningJobKind = "tuning"

// TuningRequest asks for better weights of a preset.
type TuningRequest struct {
	Name          string   `json:"name,omitempty" doc:"For people; at most 128 bytes."`
	QuerySet      string   `json:"query_set"`
	Judgments     string   `json:"judgments" doc:"The judgment list, one of the query set."`
	KnowledgeBase string   `json:"knowledge_base,omitempty" doc:"That is searched; the default is the query set's, if it has one."`
	Preset        string   `json:"preset,omitempty" doc:"That is begun with; the default is that of a search."`
	Metric        string   `json:"metric,omitempty" doc:"What is to be better; the default is ndcg@10."`
	Method        string   `json:"method,omitempty" enum:"cmaes,grid,random" doc:"How numbers are searched; the default is cmaes."`
	Trials        int      `json:"trials,omitempty" minimum:"1" maximum:"1000000" doc:"Variants that one search tries; the default is 2000."`
	Folds         int      `json:"folds,omitempty" minimum:"3" maximum:"10" doc:"Parts that the queries are divided into; the default is 5."`
	Seed          int      `json:"seed,omitempty" minimum:"0" maximum:"1000000000" doc:"Of what is drawn; the default is 1."`
	Space         []string `json:"space,omitempty" maxItems:"32" doc:"What is searched, as weights.text=0..1, rrf_k=1..200:log or normalizer=min_max,z_score; the default is what the preset has."`
	Retrieval     []string `json:"retrieval,omitempty" maxItems:"8" doc:"What else is asked for, as candidates=50,100,200; at most 32 ways of retrieving in all."`
}

// Tuning is one, as far as it is.
type Tuning struct {
	Work
	TuningRequest

	Result     *tune.Result        `json:"result,omitempty" doc:"What was found, and what of it holds for queries that it was not chosen by."`
	Definition *presets.Definition `json:"definition,omitempty" doc:"What is recommended, if it is better beyond chance: PUT it to /v1/presets/{name}."`
}

// Presets gives access to a tenant's presets.
type Presets interface {
	// Planners are all, by name.
	Planners(tenant string) map[string]search.Planner
	// Custom returns the definition of a saved preset; nil for a built-in one.
	Custom(tenant, name string) *presets.Custom
	// Usual is the default preset of a search.
	Usual() string
}

// Tunings search better weights by the query sets of a library. It is safe for concurrent use.
type Tunings struct {
	book[Tuning, *Tuning]

	runs     *Runs // whose library it is
	observer evaluation.Observer
	catalog  library.Catalog
	presets  Presets
}

// NewTunings keeps tunings beside runs.
func NewTunings(r *Runs, o evaluation.Observer, c library.Catalog, p Presets) *Tunings {
	return &Tunings{
		book: book[Tuning, *Tuning]{
			keeper: r.keeper, jobs: r.jobs, now: r.now, kind: TuningJobKind,
			absent: func(id string) error { return fault.New(fault.NotFound, "tuning %q does not exist", id) },
			running: func(id string) error {
				return fault.New(fault.Conflict, "tuning %q is running; cancel its job first", id)
			},
			elsewhere: func(id string) error { return fault.New(fault.Conflict, "tuning %q runs at another gateway", id) },
		},
		runs: r, observer: o, catalog: c, presets: p,
	}
}

// Get gives a tuning that the caller sees: whoever sees its knowledge bases; fault.NotFound.
func (t *Tunings) Get(ctx context.Context, scope access.Scope, id string) (*Tuning, error) {
	of, _, err := t.read(ctx, scope, id)
	return of, err
}

// List gives the tunings that the caller sees, the latest first.
func (t *Tunings) List(ctx context.Context, scope access.Scope) ([]Tuning, error) {
	return t.list(ctx, scope)
}

// Cancel ends the job of a tuning, if this gateway has it.
func (t *Tunings) Cancel(ctx context.Context, scope access.Scope, id string) (*Tuning, error) {
	return t.cancel(ctx, scope, id)
}

// Delete deletes a tuning; one that is running is a fault.Conflict.
func (t *Tunings) Delete(ctx context.Context, scope access.Scope, id string) error {
	return t.remove(ctx, scope, id)
}

// Start begins a tuning, whose searches are the caller's. What cannot be tuned is refused at once.
func (t *Tunings) Start(ctx context.Context, scope access.Scope, req TuningRequest) (*Tuning, error) {
	req.complete(t.presets.Usual())
	if err := req.check(); err != nil {
		return nil, err
	}
	of := &Tuning{Work: newWork(scope.Key, t.now()), TuningRequest: req}
	c := &climbing{tunings: t, scope: scope, of: of, chunks: map[string]found{}}
	if err := c.read(ctx); err != nil {
		return nil, err
	}
	if err := c.prepare(); err != nil {
		return nil, err
	}
	if _, err := c.observe(ctx, 0, &c.queries[0]); err != nil {
		return nil, err
	}
	return t.launch(ctx, of, &c.version, jobs.Job{Tenant: scope.Tenant, KnowledgeBase: c.kb.ID}, c.run)
}

// complete fills in what is left out.
func (r *TuningRequest) complete(usual string) {
	for _, member := range []struct {
		of       *string
		standard string
	}{{&r.Preset, usual}, {&r.Metric, "ndcg@10"}, {&r.Method, string(tune.CMAES)}} {
		if *member.of == "" {
			*member.of = member.standard
		}
	}
	for _, member := range []struct {
		of       *int
		standard int
	}{{&r.Trials, 2000}, {&r.Folds, 5}, {&r.Seed, 1}} {
		if *member.of == 0 {
			*member.of = member.standard
		}
	}
}

func (r *TuningRequest) check() error {
	if err := checkName("name", r.Name); err != nil {
		return err
	}
	if err := library.CheckID("query_set", r.QuerySet); err != nil {
		return err
	}
	if err := library.CheckID("judgments", r.Judgments); err != nil {
		return err
	}
	if r.Seed < 0 {
		return fault.Invalid("seed", r.Seed, "a whole number of at least 0")
	}
	if r.Folds < tune.MinFolds || r.Folds > tune.MaxFolds {
		return fault.Invalid("folds", r.Folds, fmt.Sprintf("a whole number from %d to %d", tune.MinFolds, tune.MaxFolds))
	}
	_, err := metric.Parse(r.Metric)
	return err
}
