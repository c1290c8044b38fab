package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/catalog/jobs"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/evaluation/library"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/filter"
	"github.com/hybridge-search/hybridge/search"
)

const (
	// atOnce is the number of concurrent searches: users search beside them.
	atOnce = 2
	// searchTimeout limits the time of a search.
	searchTimeout = 30 * time.Second
	// noteEvery is the interval at which answers are stored.
	noteEvery = time.Second
	// givesUp is the number of consecutive failures that end a run.
	givesUp = 20
)

// asking is an evaluation under way.
type asking struct {
	runs    *Runs
	scope   access.Scope
	of      *Evaluation
	bases   []string // of the query set
	version int64
	queries []library.Query
	judged  map[string]*judged
	report  func(jobs.Progress)
	started time.Time

	mu      sync.Mutex
	rows    []*Row // that are not stored yet
	stored  time.Time
	failing int // searches in a row
	before  int // rows of an earlier time
}

// begin reads what is asked and what was answered before.
func (r *Runs) begin(ctx context.Context, scope access.Scope, e *Evaluation, version int64) (*asking, error) {
	set, err := r.library.QuerySet(ctx, scope, e.QuerySet)
	if err != nil {
		return nil, err
	}
	a := &asking{runs: r, scope: scope, of: e, bases: set.KnowledgeBases, version: version, started: r.now()}
	if a.judged, err = judgmentsOf(ctx, r.library, scope, e.Judgments); err != nil {
		return nil, err
	}
	a.queries, err = r.queries(ctx, scope, e.QuerySet, func(q *library.Query) bool {
		return a.judged[q.ID] != nil || q.Unanswerable // the others say nothing
	})
	if err == nil && len(a.queries) == 0 {
		err = fault.New(fault.InvalidArgument, "no query of %q is judged by %q or unanswerable", e.QuerySet, e.Judgments)
	}
	e.Searches = len(a.queries) * len(e.Systems)
	return a, err
}

// queries returns the wanted queries of a set.
func (r *Runs) queries(
	ctx context.Context, scope access.Scope, set string, wanted func(*library.Query) bool,
) (queries []library.Query, err error) {
	err = r.library.EachQuery(ctx, scope, set, func(q *library.Query) error {
		if !wanted(q) {
			return nil
		}
		if len(queries) == maxQueries {
			return fault.New(fault.TooLarge, "query set %q has more than %d judged queries", set, maxQueries)
		}
		queries = append(queries, *q)
		return nil
	})
	return queries, err
}

// search is the request of a query by a system.
func (a *asking) search(s *System, q *library.Query) (search.Request, error) {
	return requestOf(s, q, a.bases, a.of.depth())
}

// requestOf is the request of a query by a system, over some knowledge bases where it names none.
func requestOf(s *System, q *library.Query, bases []string, depth int) (search.Request, error) {
	req := s.Request
	req.Query, req.Queries = q.Text, q.Queries
	if len(req.KnowledgeBases) == 0 {
		req.KnowledgeBases = bases
	}
	req.TopK = &depth
	none := 0
	req.Highlight = &search.Highlight{Fragments: &none}
	cache := false // it would measure the time of the cache
	req.Cache = &cache
	if len(q.Filter) == 0 {
		return req, nil
	}
	if len(req.Filter) == 0 {
		req.Filter = q.Filter
		return req, nil
	}
	both, err := json.Marshal([]filter.Expression{req.Filter, q.Filter})
	req.Filter = filter.Expression{"all_of": both}
	return req, err
}

// try asks the first query by each system, so that one that cannot run is refused at once.
func (a *asking) try(ctx context.Context) error {
	for i := range a.of.Systems {
		s := &a.of.Systems[i]
		req, err := a.search(s, &a.queries[0])
		if err == nil {
			_, err = a.runs.searcher.Search(ctx, a.scope, req)
		}
		if err != nil {
			return fault.Within(fmt.Sprintf("systems[%d].request.", i), err)
		}
	}
	return nil
}

// run asks what is left, stores it, and measures all of it in the end.
func (a *asking) run(ctx context.Context, report func(jobs.Progress)) error {
	a.report = report
	err := a.askAll(ctx)
	last := context.WithoutCancel(ctx) // the state is stored whatever ended it
	if err == nil {
		err = a.finish(ctx)
	}
	a.of.end(ctx, err, a.runs.now())
	return errors.Join(err, a.save(last))
}

func (a *asking) askAll(ctx context.Context) error {
	answered, err := a.answered(ctx)
	if err != nil {
		return err
	}
	a.of.Answered, a.before = len(answered), len(answered)
	if err := a.storeJudged(ctx); err != nil {
		return err
	}
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i := range a.queries {
		for j := range a.of.Systems {
			if answered[rowKey(a.of.Systems[j].Name, a.queries[i].ID)] {
				continue
			}
			group.Go(func() error {
				if within.Err() != nil {
					return within.Err()
				}
				return a.take(within, a.ask(within, &a.of.Systems[j], &a.queries[i]))
			})
		}
	}
	err = group.Wait()
	a.mu.Lock()
	defer a.mu.Unlock()
	return errors.Join(err, a.store(context.WithoutCancel(ctx)))
}

func rowKey(system, query string) string { return engine.RecordKey("row", system, query) }

// answered are the keys of rows of an earlier time that need not be asked again.
func (a *asking) answered(ctx context.Context) (map[string]bool, error) {
	keys := map[string]bool{}
	for item, err := range engine.AllItems(ctx, a.runs.keeper, a.ref(), engine.RecordKey("row", "")) {
		if err != nil {
			return nil, err
		}
		var row struct {
			Error string `json:"error"`
		}
		if json.Unmarshal(item.Body, &row) == nil && row.Error == "" {
			keys[item.Key] = true
		}
	}
	return keys, nil
}

func (a *asking) ref() engine.RecordRef { return a.runs.ref(a.scope.Tenant, a.of.ID) }

// storeJudged keeps the judgments as they are now, so that the run can be measured again.
func (a *asking) storeJudged(ctx context.Context) error {
	items := make([]engine.RecordItem, len(a.queries))
	for i := range a.queries {
		grades := map[string]int{}
		if judged := a.judged[a.queries[i].ID]; judged != nil {
			grades = judged.grades
		}
		body, err := json.Marshal(grades)
		if err != nil {
			return fault.Wrap(fault.Internal, err, "write judgments")
		}
		items[i] = engine.RecordItem{Key: judgedKey(a.queries[i].ID), Body: body}
	}
	return engine.PutAllItems(ctx, a.runs.keeper, a.ref(), items)
}

const batch = 100 // rows that are stored together at most

func judgedKey(query string) string { return engine.RecordKey("judged", query) }

// ask asks one query by one system. What goes wrong is part of the row.
func (a *asking) ask(ctx context.Context, s *System, q *library.Query) *Row {
	row := &Row{System: s.Name, Query: q.ID, Text: q.Text, Hits: []Hit{}}
	req, err := a.search(s, q)
	if err != nil {
		row.Error = publicDetail(err)
		return row
	}
	within, cancel := context.WithTimeout(ctx, searchTimeout)
	defer cancel()
	started := time.Now()
	response, err := a.runs.searcher.Search(within, a.scope, req)
	row.TookMS = float64(time.Since(started)) / float64(time.Millisecond)
	if err != nil {
		row.Error = publicDetail(err)
		return row
	}
	known := a.judged[q.ID]
	if known == nil {
		known = &judged{}
	}
	row.Hits = known.ranking(response.Hits, a.of.JudgedAs)
	row.Refused, row.Answerable = len(response.Hits) == 0, response.Answerable
	for _, d := range response.Degraded {
		if !slices.Contains(row.Degraded, d.Leg) {
			row.Degraded = append(row.Degraded, d.Leg)
		}
	}
	return row
}

// take stores rows now and then, and gives up when searches fail one after the other.
func (a *asking) take(ctx context.Context, row *Row) error {
	if ctx.Err() != nil {
		return ctx.Err() // the search was ended, which is no answer
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.rows = append(a.rows, row)
	a.failing++
	if row.Error == "" {
		a.failing = 0
		a.of.Answered++
	}
	if a.failing == givesUp {
		failed := fault.New(fault.Unavailable,
			"%d searches failed one after the other; the last: %s", givesUp, row.Error)
		return errors.Join(failed, a.store(ctx))
	}
	a.tell()
	if len(a.rows) < batch && a.runs.now().Sub(a.stored) < noteEvery {
		return nil
	}
	if err := a.store(ctx); err != nil {
		return err
	}
	return a.save(ctx)
}

// tell reports progress. The caller holds mu.
func (a *asking) tell() {
	p := jobs.Progress{Step: "ask", Done: a.of.Answered, Total: a.of.Searches}
	if seconds := a.runs.now().Sub(a.started).Seconds(); seconds > 0 {
		p.Rate = float64(a.of.Answered-a.before) / seconds
	}
	if p.Rate > 0 {
		p.Remaining = float64(p.Total-p.Done) / p.Rate
	}
	a.report(p)
}

// store stores the rows. The caller holds mu.
func (a *asking) store(ctx context.Context) error {
	items := make([]engine.RecordItem, 0, len(a.rows))
	for _, row := range a.rows {
		body, err := json.Marshal(row)
		if err != nil {
			return fault.Wrap(fault.Internal, err, "write a row")
		}
		items = append(items, engine.RecordItem{Key: rowKey(row.System, row.Query), Body: body})
	}
	if err := engine.PutAllItems(ctx, a.runs.keeper, a.ref(), items); err != nil {
		return err
	}
	a.rows, a.stored = nil, a.runs.now()
	return nil
}

// save stores the head.
func (a *asking) save(ctx context.Context) error {
	saved, err := a.runs.save(ctx, a.scope.Tenant, a.of, a.version)
	if err != nil {
		return err
	}
	a.version = saved.Version
	return nil
}
