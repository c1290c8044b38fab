package runs

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/catalog/jobs"
	"github.com/hybridge-search/hybridge/engine"
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
	ID string `json:"id"`
	TuningRequest

	State      State     `json:"state" enum:"running,done,failed,cancelled,interrupted"`
	Error      string    `json:"error,omitempty" doc:"Why it failed." locale:"text"`
	By         string    `json:"by,omitempty" doc:"Name of the key."`
	CreatedAt  time.Time `json:"created_at"`
	UpdatedAt  time.Time `json:"updated_at"`
	FinishedAt time.Time `json:"finished_at,omitzero"`

	Result     *tune.Result        `json:"result,omitempty" doc:"What was found, and what of it holds for queries that it was not chosen by."`
	Definition *presets.Definition `json:"definition,omitempty" doc:"What is recommended, if it is better beyond chance: PUT it to /v1/presets/{name}."`

	bases []string
}

// Presets are those that a tenant has.
type Presets interface {
	// Planners are all, by name.
	Planners(tenant string) map[string]search.Planner
	// Custom is what a preset that is not built in says; nil for one that is.
	Custom(tenant, name string) *presets.Custom
	// Usual is that of a search that names none.
	Usual() string
}

// Tunings search better weights by the query sets of a library. It is safe for concurrent use.
type Tunings struct {
	*Runs

	observer evaluation.Observer
	catalog  library.Catalog
	presets  Presets
}

// NewTunings keeps tunings beside runs.
func NewTunings(r *Runs, o evaluation.Observer, c library.Catalog, p Presets) *Tunings {
	return &Tunings{Runs: r, observer: o, catalog: c, presets: p}
}

// tuningRef is where a tuning is kept.
func tuningRef(tenant, id string) engine.RecordRef {
	return engine.RecordRef{Tenant: tenant, Kind: TuningJobKind, ID: id}
}

// storedTuning is the head of a tuning.
type storedTuning struct {
	Tuning

	Bases []string `json:"bases"`
}

func (t *Tunings) save(ctx context.Context, tenant string, of *Tuning, version int64) (engine.Records, error) {
	text, err := json.Marshal(&storedTuning{Tuning: *of, Bases: of.bases})
	if err != nil {
		return engine.Records{}, fault.Wrap(fault.Internal, err, "write tuning %q", of.ID)
	}
	return t.keeper.SaveRecords(ctx, engine.Records{RecordRef: tuningRef(tenant, of.ID), Version: version, Head: text})
}

func (t *Tunings) open(tenant string, records *engine.Records) (*Tuning, error) {
	s := &storedTuning{}
	if err := json.Unmarshal(records.Head, s); err != nil {
		return nil, fault.Wrap(fault.Internal, err, "read tuning %q", records.ID)
	}
	of := &s.Tuning
	of.ID, of.CreatedAt, of.UpdatedAt, of.bases = records.ID, records.CreatedAt, records.UpdatedAt, s.Bases
	if of.State == Running && t.gone(tenant, records) {
		of.State = Interrupted
	}
	return of, nil
}

func (t *Tunings) find(ctx context.Context, scope access.Scope, id string) (*Tuning, error) {
	absent := fault.New(fault.NotFound, "tuning %q does not exist", id)
	if library.CheckID("id", id) != nil {
		return nil, absent
	}
	records, err := t.keeper.Records(ctx, tuningRef(scope.Tenant, id))
	if fault.Is(err, fault.NotFound) {
		return nil, absent
	}
	if err != nil {
		return nil, err
	}
	of, err := t.open(scope.Tenant, &records)
	if err == nil && !sees(scope, of.bases) {
		return nil, absent
	}
	return of, err
}

// Get gives a tuning that the caller sees: whoever sees its knowledge bases; fault.NotFound.
func (t *Tunings) Get(ctx context.Context, scope access.Scope, id string) (*Tuning, error) {
	return t.find(ctx, scope, id)
}

// List gives the tunings that the caller sees, the latest first.
func (t *Tunings) List(ctx context.Context, scope access.Scope) ([]Tuning, error) {
	all, err := t.keeper.ListRecords(ctx, scope.Tenant, TuningJobKind)
	if err != nil {
		return nil, err
	}
	seen := []Tuning{}
	for i := range all {
		of, err := t.open(scope.Tenant, &all[i])
		if err != nil {
			return nil, err
		}
		if sees(scope, of.bases) {
			seen = append(seen, *of)
		}
	}
	slices.SortStableFunc(seen, func(a, b Tuning) int { return b.CreatedAt.Compare(a.CreatedAt) })
	return seen, nil
}

// Cancel ends the job of a tuning, if this gateway has it.
func (t *Tunings) Cancel(ctx context.Context, scope access.Scope, id string) (*Tuning, error) {
	of, err := t.find(ctx, scope, id)
	if err != nil || of.State != Running {
		return of, err
	}
	if _, err := t.jobs.Cancel(scope.Tenant, id); err != nil {
		return nil, fault.New(fault.Conflict, "tuning %q runs at another gateway", id)
	}
	return of, nil
}

// Delete deletes a tuning.
func (t *Tunings) Delete(ctx context.Context, scope access.Scope, id string) error {
	of, err := t.find(ctx, scope, id)
	if err != nil {
		return err
	}
	if of.State == Running {
		return fault.New(fault.Conflict, "tuning %q is running; cancel its job first", id)
	}
	return t.keeper.DeleteRecords(ctx, tuningRef(scope.Tenant, id))
}

// climbing is a tuning under way.
type climbing struct {
	tunings *Tunings
	scope   access.Scope
	of      *Tuning
	version int64

	kb      engine.KnowledgeBase
	engine  engine.Engine
	queries []library.Query
	judged  map[string]*judged
	scale   int
	options tune.Options
	tuner   *tune.Tuner

	mu     sync.Mutex
	chunks map[string]found // that were found, by id
	asked  int
	noted  time.Time
	report func(jobs.Progress)
}

// Start begins a tuning, whose searches are the caller's. What cannot be tuned is refused at once.
func (t *Tunings) Start(ctx context.Context, scope access.Scope, req TuningRequest) (*Tuning, error) {
	req.complete(t.presets.Usual())
	if err := req.check(); err != nil {
		return nil, err
	}
	of := &Tuning{
		ID:            t.now().UTC().Format("20060102-150405-") + strings.ToLower(rand.Text()[:6]),
		TuningRequest: req, State: Running, By: scope.Key,
	}
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
	saved, err := t.save(ctx, scope.Tenant, of, 0)
	if err != nil {
		return nil, err
	}
	c.version, of.CreatedAt, of.UpdatedAt = saved.Version, saved.CreatedAt, saved.UpdatedAt
	answer := *of
	_, err = t.jobs.Start(jobs.Job{ID: of.ID, Kind: TuningJobKind, Tenant: scope.Tenant, KnowledgeBase: c.kb.ID}, c.run)
	return &answer, err
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

// read reads queries and judgments, and finds the knowledge base.
func (c *climbing) read(ctx context.Context) error {
	t, of := c.tunings, c.of
	set, err := t.library.QuerySet(ctx, c.scope, of.QuerySet)
	if err != nil {
		return err
	}
	list, err := t.library.JudgmentList(ctx, c.scope, of.Judgments)
	if err != nil {
		return err
	}
	if list.QuerySet != set.ID {
		return fault.Invalid("judgments", list.ID, fmt.Sprintf("a list of query set %s", set.ID))
	}
	if of.KnowledgeBase == "" && len(set.KnowledgeBases) == 1 {
		of.KnowledgeBase = set.KnowledgeBases[0]
	}
	if !slices.Contains(set.KnowledgeBases, of.KnowledgeBase) {
		return fault.Invalid("knowledge_base", of.KnowledgeBase,
			"one of the query set's: "+strings.Join(set.KnowledgeBases, ", "))
	}
	of.bases, c.scale = set.KnowledgeBases, list.MaxGrade
	if c.kb, c.engine, err = t.catalog.Get(ctx, c.scope, of.KnowledgeBase); err != nil {
		return err
	}
	if c.judged, err = judgmentsOf(ctx, t.library, c.scope, of.Judgments); err != nil {
		return err
	}
	err = t.library.EachQuery(ctx, c.scope, of.QuerySet, func(q *library.Query) error {
		if c.judged[q.ID].relevant() {
			c.queries = append(c.queries, *q)
		}
		return nil
	})
	if err == nil && len(c.queries) < of.Folds {
		err = fault.Invalid("query_set", set.ID,
			fmt.Sprintf("one with at least %d queries that have something relevant", of.Folds))
	}
	return err
}

// relevant reports whether anything is.
func (q *judged) relevant() bool {
	if q == nil {
		return false
	}
	for _, grade := range q.grades {
		if grade > 0 {
			return true
		}
	}
	return false
}

// prepare makes the tuner.
func (c *climbing) prepare() error {
	of := c.of
	m, err := metric.Parse(of.Metric)
	if err != nil {
		return err
	}
	space := tune.Space{
		Preset: of.Preset, TopK: m.Depth(), Planners: c.tunings.presets.Planners(c.scope.Tenant), Fields: c.kb.Fields(),
	}
	searched := false
	for _, given := range []struct {
		field     string
		texts     []string
		retrieves bool
	}{{"space", of.Space, false}, {"retrieval", of.Retrieval, true}} {
		for _, text := range given.texts {
			p, err := tune.Parse(text)
			if err != nil {
				return err
			}
			if p.Retrieves() != given.retrieves {
				return fault.Invalid(given.field, text, "one of "+strings.Join(tune.Names(given.retrieves), ", "))
			}
			space.Parameters = append(space.Parameters, p)
			searched = searched || !given.retrieves
		}
	}
	if !searched {
		usual, err := space.Usual()
		if err != nil {
			return err
		}
		space.Parameters = append(usual, space.Parameters...)
	}
	c.options = tune.Options{
		Space: space, Metric: m, Method: tune.Method(of.Method), Trials: of.Trials, Folds: of.Folds, Seed: uint64(of.Seed),
		Digests: map[string]string{of.QuerySet: c.digest()}, Progress: c.tried,
	}
	c.tuner, err = tune.New(c.options)
	return err
}

// digest is the SHA-256 of the queries and the judgments.
func (c *climbing) digest() string {
	sum := sha256.New()
	encoder := json.NewEncoder(sum)
	for i := range c.queries {
		q := &c.queries[i]
		_ = encoder.Encode([]any{q.ID, q.Text, q.Filter, c.judged[q.ID].grades}) // into a hash, which takes all
	}
	return hex.EncodeToString(sum.Sum(nil))
}

func (c *climbing) run(ctx context.Context, report func(jobs.Progress)) error {
	c.report = report
	err := c.climb(ctx)
	switch {
	case err == nil:
		c.of.State = Done
	case errors.Is(context.Cause(ctx), jobs.ErrCancelled):
		c.of.State = Cancelled
	case ctx.Err() != nil:
		c.of.State = Interrupted
	default:
		c.of.State, c.of.Error = Failed, publicDetail(err)
	}
	c.of.FinishedAt = c.tunings.now().UTC()
	return errors.Join(err, c.keep(context.WithoutCancel(ctx)))
}

// keep stores the head.
func (c *climbing) keep(ctx context.Context) error {
	saved, err := c.tunings.save(ctx, c.scope.Tenant, c.of, c.version)
	if err == nil {
		c.version = saved.Version
	}
	return err
}

// climb asks every query once for each way of retrieving, then searches.
func (c *climbing) climb(ctx context.Context) error {
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for way := range c.tuner.Requests() {
		for i := range c.queries {
			group.Go(func() error { return c.take(within, way, &c.queries[i]) })
		}
	}
	if err := group.Wait(); err != nil {
		return err
	}
	result, err := c.search(ctx)
	if err != nil {
		return err
	}
	c.of.Result = result
	if result.Recommended {
		c.of.Definition = c.define(result)
	}
	return nil
}

// search searches, and stores now and then that it does.
func (c *climbing) search(ctx context.Context) (*tune.Result, error) {
	var beating sync.WaitGroup
	beat, stop := context.WithCancel(ctx)
	defer beating.Wait()
	defer stop()
	beating.Go(func() {
		for {
			select {
			case <-beat.Done():
				return
			case <-time.After(silence / 4):
				c.mu.Lock()
				_ = c.keep(beat) // the end tells of an error
				c.mu.Unlock()
			}
		}
	})
	return c.tuner.Run(ctx)
}

// take asks one query in one way, and adds what was found.
func (c *climbing) take(ctx context.Context, way int, q *library.Query) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	said, err := c.observe(ctx, way, q)
	if err != nil {
		return fault.Wrap(fault.KindOf(err), err, "query %s", q.ID)
	}
	grades, err := c.grades(ctx, q, said)
	if err != nil {
		return err
	}
	question := tune.Question{Set: c.of.QuerySet, ID: q.ID, Judged: grades, Scale: c.scale}
	if err := c.tuner.Add(way, question, said); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked++
	c.report(jobs.Progress{Step: "ask", Done: c.asked, Total: len(c.queries) * len(c.tuner.Requests())})
	if c.tunings.now().Sub(c.noted) < noteEvery {
		return nil
	}
	c.noted = c.tunings.now()
	return c.keep(ctx)
}

// tried tells how far the search is.
func (c *climbing) tried(done, of int) {
	if done%100 == 0 || done == of {
		c.report(jobs.Progress{Step: "search", Done: done, Total: of})
	}
}

func (c *climbing) observe(ctx context.Context, way int, q *library.Query) (*search.Observed, error) {
	req := c.tuner.Requests()[way]
	req.Query, req.Filter, req.KnowledgeBases = q.Text, q.Filter, []string{c.kb.ID}
	within, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return c.tunings.observer.Observe(within, c.scope, req)
}

// grades are those of the judgments, by the ids of chunks. Of a judged chunk that was not found only the grade
// counts, and of a judged document the one chunk that it has.
func (c *climbing) grades(ctx context.Context, q *library.Query, said *search.Observed) (metric.Judgments, error) {
	candidates, err := c.candidates(ctx, said)
	if err != nil {
		return nil, err
	}
	known := c.judged[q.ID]
	grades, chunkOf := metric.Judgments{}, map[string]string{}
	for _, f := range candidates {
		hit := known.of(f, nil)
		if hit.Grade == nil {
			continue
		}
		if other, twice := chunkOf[hit.Key]; twice && other != f.chunk {
			return nil, fault.New(fault.Unsupported,
				"document %q has several chunks and is judged as a whole; tuning needs judgments of chunks", f.document)
		}
		chunkOf[hit.Key], grades[f.chunk] = f.chunk, *hit.Grade
	}
	for key, grade := range known.grades {
		if _, found := chunkOf[key]; !found {
			grades[key] = grade // it counts for what could have been found
		}
	}
	return grades, nil
}

// candidates are what judgments of the observed chunks are found by.
func (c *climbing) candidates(ctx context.Context, said *search.Observed) ([]found, error) {
	var missing []string
	c.mu.Lock()
	for i := range said.Candidates {
		if _, known := c.chunks[said.Candidates[i].ID]; !known {
			missing = append(missing, said.Candidates[i].ID)
		}
	}
	c.mu.Unlock()
	var chunks []engine.Chunk
	if len(missing) > 0 {
		var err error
		if chunks, err = c.engine.Chunks(ctx, engine.ChunksRequest{KB: c.kb, IDs: missing}); err != nil {
			return nil, err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range chunks {
		k := &chunks[i]
		c.chunks[k.ID] = foundIn(&search.Hit{
			ID: k.ID, DocumentID: k.DocumentID, KnowledgeBase: c.kb.ID, Title: k.Title, Content: k.Content, QA: k.QA,
		})
	}
	all := make([]found, 0, len(said.Candidates))
	for i := range said.Candidates {
		if f, known := c.chunks[said.Candidates[i].ID]; known { // it may be gone by now
			all = append(all, f)
		}
	}
	return all, nil
}

// define is the preset that a result recommends: what it changes of a built-in one, and where that comes from.
func (c *climbing) define(r *tune.Result) *presets.Definition {
	d := &presets.Definition{Custom: presets.Custom{Base: r.Best.Preset, Overrides: r.Best.Overrides}}
	if custom := c.tunings.presets.Custom(c.scope.Tenant, r.Best.Preset); custom != nil {
		d.Base, d.TopK, d.Overrides = custom.Base, custom.TopK, d.Over(custom.Overrides)
	}
	d.Provenance = &presets.Provenance{
		DataHash: "sha256:" + c.options.Digests[c.of.QuerySet], Date: r.Date.Format(time.RFC3339), Metric: r.Metric,
		Base: r.Preset, Mean: &r.Gain.Mean, Interval: []float64{r.Gain.Low, r.Gain.High}, Queries: &r.Questions,
		Note: fmt.Sprintf("tuning %s by %s of %s, p %.4f", c.of.ID, c.of.Judgments, c.of.QuerySet, r.P),
	}
	return d
}
