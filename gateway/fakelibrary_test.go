package gateway

import (
	"context"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/catalog/jobs"
	"github.com/hybridge-search/hybridge/evaluation"
	files "github.com/hybridge-search/hybridge/evaluation/exchange"
	"github.com/hybridge-search/hybridge/evaluation/judge"
	"github.com/hybridge-search/hybridge/evaluation/library"
	"github.com/hybridge-search/hybridge/evaluation/runs"
	"github.com/hybridge-search/hybridge/experiments"
	"github.com/hybridge-search/hybridge/experiments/live"
)

// fakeLibrary has query sets and judgments of the one knowledge base.
type fakeLibrary struct{ *fakes }

func (f fakeLibrary) QuerySets(ctx context.Context, scope access.Scope) ([]library.QuerySet, error) {
	return []library.QuerySet{}, f.note(ctx, scope)
}

func (f fakeLibrary) QuerySet(ctx context.Context, scope access.Scope, _ string) (*library.QuerySet, error) {
	return &library.QuerySet{}, f.note(ctx, scope, base)
}

func (f fakeLibrary) SaveQuerySet(
	ctx context.Context, scope access.Scope, _ string, spec library.QuerySetSpec, _ *int64,
) (*library.QuerySet, error) {
	return &library.QuerySet{}, f.note(ctx, scope, spec.KnowledgeBases...)
}

func (f fakeLibrary) DeleteQuerySet(ctx context.Context, scope access.Scope, _ string) error {
	return f.note(ctx, scope, base)
}

func (f fakeLibrary) Queries(
	ctx context.Context, scope access.Scope, _, _ string, _ int,
) (queries []library.Query, next string, err error) {
	return []library.Query{}, "", f.note(ctx, scope, base)
}

func (f fakeLibrary) PutQueries(
	ctx context.Context, scope access.Scope, _ string, _ []library.Query, _ bool,
) (*library.Outcome, error) {
	return &library.Outcome{}, f.note(ctx, scope, base)
}

func (f fakeLibrary) DeleteQueries(ctx context.Context, scope access.Scope, _ string, ids []string) (int, error) {
	return len(ids), f.note(ctx, scope, base)
}

func (f fakeLibrary) JudgmentLists(ctx context.Context, scope access.Scope, _ string) ([]library.JudgmentList, error) {
	return []library.JudgmentList{}, f.note(ctx, scope)
}

func (f fakeLibrary) JudgmentList(ctx context.Context, scope access.Scope, _ string) (*library.JudgmentList, error) {
	return &library.JudgmentList{}, f.note(ctx, scope, base)
}

func (f fakeLibrary) SaveJudgmentList(
	ctx context.Context, scope access.Scope, _ string, _ library.JudgmentListSpec, _ *int64,
) (*library.JudgmentList, error) {
	return &library.JudgmentList{}, f.note(ctx, scope, base)
}

func (f fakeLibrary) DeleteJudgmentList(ctx context.Context, scope access.Scope, _ string) error {
	return f.note(ctx, scope, base)
}

func (f fakeLibrary) Judgments(
	ctx context.Context, scope access.Scope, _ string, _ library.JudgmentPage,
) (judgments []library.Judgment, next string, err error) {
	return []library.Judgment{}, "", f.note(ctx, scope, base)
}

func (f fakeLibrary) PutJudgments(
	ctx context.Context, scope access.Scope, _ string, _ []library.Judgment, _ bool,
) (*library.Outcome, error) {
	return &library.Outcome{}, f.note(ctx, scope, base)
}

func (f fakeLibrary) DeleteJudgments(
	ctx context.Context, scope access.Scope, _ string, of []library.Judgment,
) (int, error) {
	return len(of), f.note(ctx, scope, base)
}

func (f fakeLibrary) ImportQueries(
	ctx context.Context, scope access.Scope, _ string, _ files.QueryFile,
) (*files.Imported, error) {
	return &files.Imported{}, f.note(ctx, scope, base)
}

func (f fakeLibrary) ImportJudgments(
	ctx context.Context, scope access.Scope, _ string, _ files.JudgmentFile,
) (*files.Imported, error) {
	return &files.Imported{}, f.note(ctx, scope, base)
}

// fakeEvaluations has evaluations of the one knowledge base.
type fakeEvaluations struct{ *fakes }

func (f fakeEvaluations) Start(ctx context.Context, scope access.Scope, _ runs.Request) (*runs.Evaluation, error) {
	return &runs.Evaluation{}, f.note(ctx, scope, base)
}

func (f fakeEvaluations) Resume(ctx context.Context, scope access.Scope, _ string) (*runs.Evaluation, error) {
	return &runs.Evaluation{}, f.note(ctx, scope, base)
}

func (f fakeEvaluations) Cancel(ctx context.Context, scope access.Scope, _ string) (*runs.Evaluation, error) {
	return &runs.Evaluation{}, f.note(ctx, scope, base)
}

func (f fakeEvaluations) List(ctx context.Context, scope access.Scope) ([]runs.Evaluation, error) {
	return []runs.Evaluation{}, f.note(ctx, scope)
}

func (f fakeEvaluations) Get(ctx context.Context, scope access.Scope, _ string) (*runs.Evaluation, error) {
	return &runs.Evaluation{}, f.note(ctx, scope, base)
}

func (f fakeEvaluations) Delete(ctx context.Context, scope access.Scope, _ string) error {
	return f.note(ctx, scope, base)
}

func (f fakeEvaluations) Rows(
	ctx context.Context, scope access.Scope, _ string, _ runs.RowPage,
) (rows []runs.Row, next string, err error) {
	return []runs.Row{}, "", f.note(ctx, scope, base)
}

func (f fakeEvaluations) Compare(
	ctx context.Context, scope access.Scope, _ string, _ runs.Comparing,
) (*evaluation.Comparison, error) {
	return &evaluation.Comparison{}, f.note(ctx, scope, base)
}

func (f fakeEvaluations) Unjudged(
	ctx context.Context, scope access.Scope, _ string, _, _ int,
) ([]runs.Unjudged, error) {
	return []runs.Unjudged{}, f.note(ctx, scope, base)
}

// fakeGradings has lists of the one knowledge base.
type fakeGradings struct{ *fakes }

func (f fakeGradings) Start(ctx context.Context, scope access.Scope, _ string, _ runs.GradeRequest) (*jobs.Job, error) {
	return &jobs.Job{}, f.note(ctx, scope, base)
}

func (f fakeGradings) Agreement(ctx context.Context, scope access.Scope, _, _ string) (*judge.Agreement, error) {
	return &judge.Agreement{}, f.note(ctx, scope, base)
}

// fakeTunings has tunings of the one knowledge base.
type fakeTunings struct{ *fakes }

func (f fakeTunings) Start(ctx context.Context, scope access.Scope, _ runs.TuningRequest) (*runs.Tuning, error) {
	return &runs.Tuning{}, f.note(ctx, scope, base)
}

func (f fakeTunings) Cancel(ctx context.Context, scope access.Scope, _ string) (*runs.Tuning, error) {
	return &runs.Tuning{}, f.note(ctx, scope, base)
}

func (f fakeTunings) List(ctx context.Context, scope access.Scope) ([]runs.Tuning, error) {
	return []runs.Tuning{}, f.note(ctx, scope)
}

func (f fakeTunings) Get(ctx context.Context, scope access.Scope, _ string) (*runs.Tuning, error) {
	return &runs.Tuning{}, f.note(ctx, scope, base)
}

func (f fakeTunings) Delete(ctx context.Context, scope access.Scope, _ string) error {
	return f.note(ctx, scope, base)
}

// fakeExperiments has experiments of the one knowledge base.
type fakeExperiments struct{ *fakes }

func (f fakeExperiments) Create(ctx context.Context, scope access.Scope, d live.Definition) (*live.Experiment, error) {
	return &live.Experiment{Definition: d}, f.note(ctx, scope, base)
}

func (f fakeExperiments) List(ctx context.Context, scope access.Scope) ([]live.Experiment, error) {
	return []live.Experiment{}, f.note(ctx, scope)
}

func (f fakeExperiments) Get(ctx context.Context, scope access.Scope, _ string) (*live.Experiment, error) {
	return &live.Experiment{}, f.note(ctx, scope, base)
}

func (f fakeExperiments) Report(ctx context.Context, scope access.Scope, _ string) (*experiments.Report, error) {
	return &experiments.Report{}, f.note(ctx, scope, base)
}

func (f fakeExperiments) Needed(ctx context.Context, scope access.Scope, p live.Plan) (*live.Estimate, error) {
	return &live.Estimate{Goal: p.Goal}, f.note(ctx, scope, base)
}

func (f fakeExperiments) Stop(ctx context.Context, scope access.Scope, _, _ string) (*live.Experiment, error) {
	return &live.Experiment{}, f.note(ctx, scope, base)
}

func (f fakeExperiments) Delete(ctx context.Context, scope access.Scope, _ string) error {
	return f.note(ctx, scope, base)
}
