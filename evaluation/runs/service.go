package runs

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/catalog/jobs"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/evaluation"
	"github.com/hybridge-search/hybridge/evaluation/metric"
	"github.com/hybridge-search/hybridge/fault"
)

func progressOf(step string, e *Evaluation) jobs.Progress {
	return jobs.Progress{Step: step, Done: e.Answered, Total: e.Searches}
}

// Start begins an evaluation, whose searches are the caller's. What cannot be asked is refused at once.
func (r *Runs) Start(ctx context.Context, scope access.Scope, req Request) (*Evaluation, error) {
	if err := req.check(); err != nil {
		return nil, err
	}
	if _, err := r.library.QuerySet(ctx, scope, req.QuerySet); err != nil {
		return nil, err
	}
	list, err := r.library.JudgmentList(ctx, scope, req.Judgments)
	if err != nil {
		return nil, err
	}
	if list.QuerySet != req.QuerySet {
		return nil, fault.Invalid("judgments", list.ID, fmt.Sprintf("a list of query set %s", req.QuerySet))
	}
	e := &Evaluation{Work: newWork(scope.Key, r.now()), Request: req, MaxGrade: list.MaxGrade}
	a, err := r.begin(ctx, scope, e, 0)
	if err != nil {
		return nil, err
	}
	if err := a.try(ctx); err != nil {
		return nil, err
	}
	e.bases = slices.Clone(a.bases)
	for i := range req.Systems {
		e.bases = append(e.bases, req.Systems[i].Request.KnowledgeBases...)
	}
	slices.Sort(e.bases)
	e.bases = slices.Compact(e.bases)
	return r.start(ctx, a)
}

// start starts the job: seen by who sees the first knowledge base, as it says nothing of the others.
func (r *Runs) start(ctx context.Context, a *asking) (*Evaluation, error) {
	job := jobs.Job{Tenant: a.scope.Tenant, KnowledgeBase: a.bases[0], Progress: progressOf("ask", a.of)}
	return r.launch(ctx, a.of, &a.version, job, a.run)
}

// Resume goes on with an evaluation that has ended before its time; searches without an answer are asked again.
func (r *Runs) Resume(ctx context.Context, scope access.Scope, id string) (*Evaluation, error) {
	e, records, err := r.read(ctx, scope, id)
	if err != nil {
		return nil, err
	}
	if e.State == Running || e.State == Done {
		return nil, fault.New(fault.Conflict, "evaluation %q is %s; there is nothing to go on with", id, e.State)
	}
	e.State, e.Error, e.FinishedAt = Running, "", time.Time{}
	a, err := r.begin(ctx, scope, e, records.Version)
	if err != nil {
		return nil, err
	}
	return r.start(ctx, a)
}

// Cancel ends the job of an evaluation, if this gateway has it; what was answered is kept.
func (r *Runs) Cancel(ctx context.Context, scope access.Scope, id string) (*Evaluation, error) {
	return r.cancel(ctx, scope, id)
}

// List gives the evaluations that the caller sees, the latest first, without their comparisons.
func (r *Runs) List(ctx context.Context, scope access.Scope) ([]Evaluation, error) {
	return r.list(ctx, scope)
}

// Get gives an evaluation with its results and comparisons.
func (r *Runs) Get(ctx context.Context, scope access.Scope, id string) (*Evaluation, error) {
	e, records, err := r.read(ctx, scope, id)
	if err != nil || e.State != Done {
		return e, err
	}
	for item, err := range engine.AllItems(ctx, r.keeper, records.RecordRef, engine.RecordKey("comparison", "")) {
		if err != nil {
			return nil, err
		}
		c := &evaluation.Comparison{}
		if err := json.Unmarshal(item.Body, c); err != nil {
			return nil, fault.Wrap(fault.Internal, err, "read a comparison of evaluation %q", id)
		}
		e.Comparisons = append(e.Comparisons, c)
	}
	return e, nil
}

// Delete deletes an evaluation; one that is running is a fault.Conflict.
func (r *Runs) Delete(ctx context.Context, scope access.Scope, id string) error {
	return r.remove(ctx, scope, id)
}

// RowPage asks for rows of a system, at most Limit, those after the query After.
type RowPage struct {
	System, Query, After string
	Limit                int
}

// Rows gives how a system answered, in the order of the queries' ids; next goes on, empty where there are no more.
func (r *Runs) Rows(
	ctx context.Context, scope access.Scope, id string, page RowPage,
) (rows []Row, next string, err error) {
	e, records, err := r.read(ctx, scope, id)
	if err != nil {
		return nil, "", err
	}
	if err := e.checkSystem("system", page.System); err != nil {
		return nil, "", err
	}
	items := engine.ItemPage{Prefix: rowKey(page.System, page.Query), Limit: page.Limit}
	if page.After != "" {
		items.After = rowKey(page.System, page.After)
	}
	found, err := r.keeper.Items(ctx, records.RecordRef, items)
	if err != nil {
		return nil, "", err
	}
	rows = []Row{}
	for i := range found {
		var row Row
		if err := json.Unmarshal(found[i].Body, &row); err != nil {
			return nil, "", fault.Wrap(fault.Internal, err, "read a row of evaluation %q", id)
		}
		if page.Query == "" || row.Query == page.Query {
			rows = append(rows, row)
		}
	}
	if len(found) == page.Limit && page.Query == "" {
		next = rows[len(rows)-1].Query
	}
	return rows, next, nil
}

func (e *Evaluation) checkSystem(field, name string) error {
	var names []string
	for i := range e.Systems {
		names = append(names, e.Systems[i].Name)
	}
	if !slices.Contains(names, name) {
		return fault.Invalid(field, name, "one of "+strings.Join(names, ", "))
	}
	return nil
}

// Comparing asks for a comparison of two systems of one evaluation, or of two.
type Comparing struct {
	System   string   // of the evaluation
	Against  string   // of Baseline
	Baseline string   // another evaluation; empty: the same
	Metrics  []string // nil: those of the evaluation
}

// Compare measures two systems on the queries that both answered, by the judgments of the first evaluation.
func (r *Runs) Compare(
	ctx context.Context, scope access.Scope, id string, c Comparing,
) (*evaluation.Comparison, error) {
	now, records, err := r.read(ctx, scope, id)
	if err != nil {
		return nil, err
	}
	before, baseline := now, records
	if c.Baseline != "" {
		if before, baseline, err = r.read(ctx, scope, c.Baseline); err != nil {
			return nil, err
		}
	}
	if err := cmp.Or(now.checkSystem("system", c.System), before.checkSystem("against", c.Against)); err != nil {
		return nil, err
	}
	if len(c.Metrics) == 0 {
		c.Metrics = now.Metrics
	}
	metrics, err := metric.ParseAll(c.Metrics)
	if err != nil {
		return nil, err
	}
	ours, err := r.readRun(ctx, records.RecordRef, []string{c.System})
	if err != nil {
		return nil, err
	}
	theirs, err := r.readRun(ctx, baseline.RecordRef, []string{c.Against})
	if err != nil {
		return nil, err
	}
	set := &evaluation.Set{Name: now.QuerySet, Judgments: ours.judgments}
	system, against := ours.comparable(set.Name, c.System), theirs.comparable(set.Name, c.Against)
	compared, err := evaluation.Compare(set, system, against, metrics)
	if err == nil {
		ours.tell(compared, c.System)
	}
	return compared, err
}

// Unjudged is a hit that nobody has judged.
type Unjudged struct {
	Query         string         `json:"query"`
	Text          string         `json:"text"`
	KnowledgeBase string         `json:"knowledge_base"`
	DocumentID    string         `json:"document_id"`
	ChunkID       string         `json:"chunk_id"`
	Changed       bool           `json:"changed,omitempty" doc:"Another text was judged under this id."`
	Ranks         map[string]int `json:"ranks" doc:"By system."`
}

// Unjudged gives at most limit hits among the first depth that are worth a judgment: those first that most systems
// show, then those that rank highest.
func (r *Runs) Unjudged(ctx context.Context, scope access.Scope, id string, depth, limit int) ([]Unjudged, error) {
	e, records, err := r.read(ctx, scope, id)
	if err != nil {
		return nil, err
	}
	found := map[[2]string]*Unjudged{}
	for i := range e.Systems {
		system := e.Systems[i].Name
		m, err := r.readRun(ctx, records.RecordRef, []string{system})
		if err != nil {
			return nil, err
		}
		for _, row := range m.rows[system] {
			row.addUnjudged(found, depth)
		}
	}
	all := make([]Unjudged, 0, len(found))
	for _, u := range found {
		all = append(all, *u)
	}
	slices.SortFunc(all, func(a, b Unjudged) int {
		return cmp.Or(cmp.Compare(len(b.Ranks), len(a.Ranks)), cmp.Compare(a.best(), b.best()),
			cmp.Compare(a.Query, b.Query), cmp.Compare(a.ChunkID, b.ChunkID))
	})
	return all[:min(limit, len(all))], nil
}

// addUnjudged adds those of a row to what was found, by query and key.
func (r *Row) addUnjudged(found map[[2]string]*Unjudged, depth int) {
	for i := range r.Hits[:min(depth, len(r.Hits))] {
		h := &r.Hits[i]
		if h.Grade != nil {
			continue
		}
		key := [2]string{r.Query, h.Key}
		if found[key] == nil {
			found[key] = &Unjudged{
				Query: r.Query, Text: r.Text, KnowledgeBase: h.KnowledgeBase, DocumentID: h.DocumentID,
				ChunkID: h.ChunkID, Changed: h.Changed, Ranks: map[string]int{},
			}
		}
		found[key].Ranks[r.System] = h.Rank
	}
}

func (u *Unjudged) best() int {
	best := metric.MaxDepth
	for _, rank := range u.Ranks {
		best = min(best, rank)
	}
	return best
}
