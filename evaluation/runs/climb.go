package runs

import (
	"context"
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
	"github.com/hybridge-search/hybridge/evaluation/library"
	"github.com/hybridge-search/hybridge/evaluation/metric"
	"github.com/hybridge-search/hybridge/evaluation/tune"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/presets"
	"github.com/hybridge-search/hybridge/search"
)

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

// read reads queries and judgments, and finds the knowledge base.
func (c *climbing) read(ctx context.Context) error {
	t, of := c.tunings, c.of
	set, err := t.runs.library.QuerySet(ctx, c.scope, of.QuerySet)
	if err != nil {
		return err
	}
	list, err := t.runs.library.JudgmentList(ctx, c.scope, of.Judgments)
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
	if c.judged, err = judgmentsOf(ctx, t.runs.library, c.scope, of.Judgments); err != nil {
		return err
	}
	c.queries, err = t.runs.queries(ctx, c.scope, of.QuerySet, func(q *library.Query) bool {
		return c.judged[q.ID].relevant()
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
	if err := space.Search("space", of.Space, false); err != nil {
		return err
	}
	if err := space.Search("retrieval", of.Retrieval, true); err != nil {
		return err
	}
	if err := space.Complete(); err != nil {
		return err
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
	c.of.end(ctx, err, c.tunings.now())
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
	within, cancel := context.WithTimeout(ctx, searchTimeout)
	defer cancel()
	return c.tunings.observer.Observe(within, c.scope, req)
}

// grades returns the judgments' grades by chunk id. Of a judged chunk that was not found only the grade counts, and
// of a judged document the one chunk that it has.
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

// candidates returns the keys to find judgments of the observed chunks.
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
		d.WeightsBy = custom.WeightsBy
	}
	d.Provenance = &presets.Provenance{
		DataHash: "sha256:" + c.options.Digests[c.of.QuerySet], Date: r.Date.Format(time.RFC3339), Metric: r.Metric,
		Base: r.Preset, Mean: &r.Gain.Mean, Interval: []float64{r.Gain.Low, r.Gain.High}, Queries: &r.Questions,
		Note: fmt.Sprintf("tuning %s by %s of %s, p %.4f", c.of.ID, c.of.Judgments, c.of.QuerySet, r.P),
	}
	return d
}
