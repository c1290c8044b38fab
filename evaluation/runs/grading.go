package runs

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/catalog/jobs"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/evaluation/judge"
	"github.com/hybridge-search/hybridge/evaluation/library"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/search"
)

// GradingJobKind is the kind of the jobs that Gradings start.
const GradingJobKind = "grading"

const (
	usualDepth   = 10
	maxDepth     = 100
	documentSize = 50 // chunks of a document that is graded as a whole
)

// Grader is a model that grades passages; *judge.Client is one.
type Grader interface {
	// Name is the judge's in judgments that go by a rubric.
	Name(r judge.Rubric) string
	Grade(ctx context.Context, r judge.Rubric, question string, passages []judge.Passage) ([]judge.Grade, error)
}

// Gradings have a model fill judgment lists. They are safe for concurrent use.
type Gradings struct {
	runs    *Runs
	catalog library.Catalog
	grader  Grader

	mu      sync.Mutex
	running map[engine.RecordRef]bool // the lists
}

// NewGradings asks a grader; nil: there is none, and all is refused but comparing lists.
func NewGradings(r *Runs, c library.Catalog, g Grader) *Gradings {
	return &Gradings{runs: r, catalog: c, grader: g, running: map[engine.RecordRef]bool{}}
}

// Start begins a job that grades what has no grade yet: a text that the list has a grade of, by the same model and
// rubric, is not asked for again, so a repeated call goes on where one ended. The first query is asked by each system
// before, so that one that cannot search is refused at once.
func (g *Gradings) Start(ctx context.Context, scope access.Scope, id string, req GradeRequest) (*jobs.Job, error) {
	if g.grader == nil {
		return nil, fault.New(fault.Unsupported, "no model judges here; set judge.url and judge.model")
	}
	list, err := g.runs.library.JudgmentList(ctx, scope, id)
	if err != nil {
		return nil, err
	}
	if err := req.check(list); err != nil {
		return nil, err
	}
	w := &grading{gradings: g, scope: scope, list: list, req: req, by: g.grader.Name(req.Rubric)}
	if err := w.read(ctx); err != nil {
		return nil, err
	}
	ref := engine.RecordRef{Tenant: scope.Tenant, ID: id}
	if !g.take(ref) {
		return nil, fault.New(fault.Conflict, "judgment list %q is being graded; wait for the job, or cancel it", id)
	}
	job := jobs.Job{
		ID: newWork(scope.Key, g.runs.now()).ID, Kind: GradingJobKind, Tenant: scope.Tenant, KnowledgeBase: w.bases[0],
		Progress: jobs.Progress{Step: "grade", Total: len(w.queries)},
	}
	started, err := g.runs.jobs.Start(job, func(ctx context.Context, report func(jobs.Progress)) error {
		defer g.free(ref)
		return w.run(ctx, report)
	})
	if err != nil {
		g.free(ref)
		return nil, err
	}
	return &started, nil
}

func (g *Gradings) take(list engine.RecordRef) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.running[list] {
		return false
	}
	g.running[list] = true
	return true
}

func (g *Gradings) free(list engine.RecordRef) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.running, list)
}

// grading is one under way.
type grading struct {
	gradings *Gradings
	scope    access.Scope
	list     *library.JudgmentList
	req      GradeRequest
	by       string // name of the judge

	bases   []string // of the query set
	queries []library.Query
	has     map[string]map[string]string  // by query: hash by key, of grades by this judge
	like    map[string][]library.Judgment // by query
	mu      sync.Mutex
	done    int
	failed  int   // passages without a grade
	last    error // why
	failing int   // queries in a row
}

// read reads what is to be graded, and what is already.
func (w *grading) read(ctx context.Context) error {
	l := w.gradings.runs.library
	set, err := l.QuerySet(ctx, w.scope, w.list.QuerySet)
	if err != nil {
		return err
	}
	w.bases = set.KnowledgeBases
	w.has, w.like = map[string]map[string]string{}, map[string][]library.Judgment{}
	err = l.EachJudgment(ctx, w.scope, w.list.ID, func(j *library.Judgment) error {
		if j.Judge != w.by {
			return nil
		}
		if w.has[j.QueryID] == nil {
			w.has[j.QueryID] = map[string]string{}
		}
		w.has[j.QueryID][keyOf(j)] = j.Hash
		return nil
	})
	if err != nil {
		return err
	}
	if err := w.readLike(ctx); err != nil {
		return err
	}
	w.queries, err = w.gradings.runs.queries(ctx, w.scope, w.list.QuerySet, func(q *library.Query) bool {
		return len(w.req.Systems) > 0 || w.like[q.ID] != nil
	})
	if err == nil && len(w.queries) == 0 {
		err = fault.New(fault.InvalidArgument, "query set %q has no query to be graded", w.list.QuerySet)
	}
	if err != nil {
		return err
	}
	for i := range w.req.Systems {
		if _, err := w.search(ctx, &w.req.Systems[i], &w.queries[0]); err != nil {
			return fault.Within(fmt.Sprintf("systems[%d].request.", i), err)
		}
	}
	return nil
}

func (w *grading) readLike(ctx context.Context) error {
	if w.req.Like == "" {
		return nil
	}
	l := w.gradings.runs.library
	other, err := l.JudgmentList(ctx, w.scope, w.req.Like)
	if err != nil {
		return err
	}
	if other.QuerySet != w.list.QuerySet {
		return fault.Invalid("like", w.req.Like, fmt.Sprintf("a list of query set %s", w.list.QuerySet))
	}
	return l.EachJudgment(ctx, w.scope, w.req.Like, func(j *library.Judgment) error {
		w.like[j.QueryID] = append(w.like[j.QueryID], *j)
		return nil
	})
}

func keyOf(j *library.Judgment) string {
	if j.ChunkID == "" {
		return documentKey(j.KnowledgeBase, j.DocumentID)
	}
	return chunkKey(j.KnowledgeBase, j.ChunkID)
}

// run grades query by query. What could not be graded is told in the end, and what was is stored.
func (w *grading) run(ctx context.Context, report func(jobs.Progress)) error {
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i := range w.queries {
		group.Go(func() error {
			if within.Err() != nil {
				return within.Err()
			}
			failed, err := w.query(within, &w.queries[i])
			return w.note(within, failed, err, report)
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	if w.last != nil {
		return fault.Wrap(fault.Unavailable, w.last, "%d passages have no grade; ask again for them", w.failed)
	}
	return nil
}

// note counts a query; it gives up when one after the other fails.
func (w *grading) note(ctx context.Context, failed int, err error, report func(jobs.Progress)) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done++
	w.failing++
	if err == nil {
		w.failing = 0
	} else {
		w.failed, w.last = w.failed+failed, err
	}
	if w.failing == givesUp {
		return fault.Wrap(fault.Unavailable, err, "%d queries could not be graded one after the other", givesUp)
	}
	report(jobs.Progress{Step: "grade", Done: w.done, Total: len(w.queries)})
	return nil
}

// graded is a passage and what its judgment will name.
type graded struct {
	judge.Passage

	judgment library.Judgment
}

// query grades what has no grade for a query yet. It gives how many passages were left without one, and why.
func (w *grading) query(ctx context.Context, q *library.Query) (failed int, err error) {
	passages, err := w.passages(ctx, q)
	if err != nil {
		return 1, err
	}
	for len(passages) > 0 {
		n := min(len(passages), judge.MaxBatch)
		left, batchErr := w.batch(ctx, q, passages[:n])
		if passages = passages[n:]; batchErr != nil {
			failed, err = failed+left, batchErr
		}
	}
	return failed, err
}

// batch grades some passages together, and each by itself where the judge made nothing of them together.
func (w *grading) batch(ctx context.Context, q *library.Query, passages []graded) (failed int, err error) {
	texts := make([]judge.Passage, len(passages))
	for i := range passages {
		texts[i] = passages[i].Passage
	}
	grades, err := w.gradings.grader.Grade(ctx, w.req.Rubric, q.Text, texts)
	switch {
	case ctx.Err() != nil:
		return len(passages), ctx.Err()
	case err != nil && len(passages) > 1:
		var last error
		for i := range passages {
			if left, err := w.batch(ctx, q, passages[i:i+1]); err != nil {
				failed, last = failed+left, err
			}
		}
		return failed, last
	case err != nil:
		return 1, err
	}
	rows := make([]library.Judgment, len(passages))
	for i := range passages {
		rows[i] = passages[i].judgment
		rows[i].Grade, rows[i].Note = grades[i].Grade, grades[i].Reason
	}
	outcome, err := w.gradings.runs.library.PutJudgments(ctx, w.scope, w.list.ID, rows, false)
	if err != nil {
		return len(passages), err
	}
	if n := len(outcome.Failed); n > 0 {
		return n, fault.New(fault.InvalidArgument, "a judgment was refused: %s", outcome.Failed[0].Detail)
	}
	return 0, nil
}

// passages returns a query's passages without a grade of this judge, each once.
func (w *grading) passages(ctx context.Context, q *library.Query) ([]graded, error) {
	var all []graded
	seen := map[string]bool{}
	add := func(g graded) {
		j := &g.judgment
		key := keyOf(j)
		hash, has := w.has[q.ID][key]
		if seen[key] || has && hash == j.Hash || strings.TrimSpace(g.Title+g.Text) == "" {
			return
		}
		seen[key] = true
		j.QueryID, j.Judge = q.ID, w.by
		all = append(all, g)
	}
	for i := range w.req.Systems {
		response, err := w.search(ctx, &w.req.Systems[i], q)
		if err != nil {
			return nil, err
		}
		for j := range response.Hits {
			add(passageOf(&response.Hits[j]))
		}
	}
	for i := range w.like[q.ID] {
		g, err := w.judgedText(ctx, &w.like[q.ID][i])
		if err != nil {
			return nil, err
		}
		if g != nil {
			add(*g)
		}
	}
	return all, nil
}

func (w *grading) search(ctx context.Context, s *System, q *library.Query) (*search.Response, error) {
	within, cancel := context.WithTimeout(ctx, searchTimeout)
	defer cancel()
	req, err := requestOf(s, q, w.bases, w.req.Depth)
	if err != nil {
		return nil, err
	}
	return w.gradings.runs.searcher.Search(within, w.scope, req)
}

func passageOf(h *search.Hit) graded {
	f := foundIn(h)
	title, content := textOf(h)
	return graded{judge.Passage{Title: title, Text: content}, library.Judgment{
		KnowledgeBase: f.kb, DocumentID: f.document, ChunkID: f.chunk, Hash: f.hash,
	}}
}

// judgedText is the text that a judgment is of, as it is now; nil where there is none any more.
func (w *grading) judgedText(ctx context.Context, j *library.Judgment) (*graded, error) {
	kb, e, err := w.gradings.catalog.Get(ctx, w.scope, j.KnowledgeBase)
	if err != nil {
		return nil, err
	}
	if j.ChunkID != "" {
		chunks, err := e.Chunks(ctx, engine.ChunksRequest{KB: kb, IDs: []string{j.ChunkID}})
		if err != nil || len(chunks) == 0 {
			return nil, err
		}
		title, text := library.TextOf(&chunks[0])
		return &graded{judge.Passage{Title: title, Text: text}, library.Judgment{
			KnowledgeBase: j.KnowledgeBase, DocumentID: chunks[0].DocumentID, ChunkID: j.ChunkID,
			Hash: library.HashOf(title, text),
		}}, nil
	}
	chunks, err := e.DocumentChunks(ctx, engine.DocumentChunksRequest{
		KB: kb, DocumentID: j.DocumentID, To: -1, Limit: documentSize,
	})
	if err != nil || len(chunks) == 0 {
		return nil, err
	}
	title, _ := library.TextOf(&chunks[0])
	texts := make([]string, len(chunks))
	for i := range chunks {
		_, texts[i] = library.TextOf(&chunks[i])
	}
	return &graded{judge.Passage{Title: title, Text: strings.Join(texts, "\n")}, library.Judgment{
		KnowledgeBase: j.KnowledgeBase, DocumentID: j.DocumentID,
	}}, nil
}
