package runs_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/catalog"
	"github.com/hybridge-search/hybridge/catalog/jobs"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/evaluation/judge"
	"github.com/hybridge-search/hybridge/evaluation/library"
	"github.com/hybridge-search/hybridge/evaluation/runs"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/search"
)

// scriptedJudge grades by a function of the text, and errs in every fifth text.
type scriptedJudge struct {
	mu       sync.Mutex
	batches  []int // passages of each call
	confused func(passages []judge.Passage) bool
	blocked  chan struct{} // nil: it answers at once
}

func (j *scriptedJudge) Name(judge.Rubric) string { return "scripted" }

// number is that of a chunk "text 17", whose true grade is its remainder by 4.
func number(text string) (n int) {
	_, _ = fmt.Sscanf(text, "text %d", &n)
	return n
}

func (j *scriptedJudge) Grade(
	ctx context.Context, _ judge.Rubric, _ string, passages []judge.Passage,
) ([]judge.Grade, error) {
	j.mu.Lock()
	j.batches = append(j.batches, len(passages))
	j.mu.Unlock()
	if j.blocked != nil {
		select {
		case <-j.blocked:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if j.confused != nil && j.confused(passages) {
		return nil, fault.New(fault.Unavailable, "the judge is confused")
	}
	grades := make([]judge.Grade, len(passages))
	for i, p := range passages {
		n := number(p.Text)
		grades[i] = judge.Grade{Grade: n % 4, Reason: "as its number says"}
		if n%5 == 0 {
			grades[i].Grade = (n + 1) % 4
		}
	}
	return grades, nil
}

func (j *scriptedJudge) asked() (calls, passages int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, n := range j.batches {
		passages += n
	}
	calls, j.batches = len(j.batches), nil
	return calls, passages
}

const graded = 60 // chunks

// courtroom is a laboratory whose hundred queries find, and whose people judged, sixty chunks.
type courtroom struct {
	*laboratory
	*scriptedJudge

	gradings *runs.Gradings
	kb       engine.KnowledgeBase
}

// write stores a chunk.
func (c *courtroom) write(id, text string) {
	c.t.Helper()
	chunk := engine.Chunk{ID: id, DocumentID: "d" + id, Content: text, Available: true}
	outcomes, err := c.keeper.Write(c.t.Context(), engine.WriteRequest{KB: c.kb, Chunks: []engine.Chunk{chunk}, Refresh: true})
	if err != nil || outcomes[0].Err != nil {
		c.t.Fatal(outcomes, err)
	}
}

func newCourtroom(t *testing.T) *courtroom {
	t.Helper()
	c := &courtroom{laboratory: open(t), scriptedJudge: &scriptedJudge{}}
	known := catalog.New([]engine.Engine{c.keeper}, catalog.Options{})
	kb, _, err := known.Get(t.Context(), c.scope, "shop")
	if err != nil {
		t.Fatal(err)
	}
	c.kb = kb
	var judged []library.Judgment
	for i := range graded {
		id := fmt.Sprintf("c%d", i)
		c.write(id, fmt.Sprintf("text %d", i))
		judged = append(judged, library.Judgment{QueryID: fmt.Sprintf("q%03d", i%3), ChunkID: id, Grade: i % 4})
	}
	c.list("careful", library.People)
	if o, err := c.library.PutJudgments(t.Context(), c.scope, "careful", judged, false); err != nil || o.Stored != graded {
		t.Fatal(o, err)
	}
	c.list("model", library.Model)
	c.gradings = runs.NewGradings(c.Runs, known, c.scriptedJudge)
	return c
}

func (c *courtroom) list(id string, source library.Source) {
	c.t.Helper()
	spec := library.JudgmentListSpec{QuerySet: "faq", Source: source}
	if _, err := c.library.SaveJudgmentList(c.t.Context(), c.scope, id, spec, nil); err != nil {
		c.t.Fatal(err)
	}
}

// grade grades to the end.
func (c *courtroom) grade(req runs.GradeRequest) *jobs.Job {
	c.t.Helper()
	job, err := c.gradings.Start(c.t.Context(), c.scope, "model", req)
	if err != nil {
		c.t.Fatal(err)
	}
	return c.ended(job.ID)
}

func (c *courtroom) ended(id string) *jobs.Job {
	c.t.Helper()
	var last jobs.Job
	ctx, cancel := context.WithTimeout(c.t.Context(), 5*time.Minute)
	defer cancel()
	if err := c.jobs.Watch(ctx, "acme", id, func(j jobs.Job) error { last = j; return nil }); err != nil {
		c.t.Fatal(err)
	}
	return &last
}

func (c *courtroom) graded() (all []library.Judgment) {
	c.t.Helper()
	err := c.library.EachJudgment(c.t.Context(), c.scope, "model", func(j *library.Judgment) error {
		all = append(all, *j)
		return nil
	})
	if err != nil {
		c.t.Fatal(err)
	}
	return all
}

// Promise: "never in those of people" (docs/guide/en/evaluation.md).
func TestAModelGradesWhatPeopleGraded(t *testing.T) {
	c := newCourtroom(t)
	if job := c.grade(runs.GradeRequest{Like: "careful"}); job.State != jobs.Succeeded || job.Progress.Done != 3 {
		t.Fatalf("%+v; want job.State Succeeded and job.Progress.Done 3", job)
	}
	if calls, passages := c.asked(); calls != 6 || passages != graded {
		t.Errorf("%d calls for %d passages, want 6 for %d: ten at a time, of one query", calls, passages, graded)
	}
	for _, j := range c.graded() {
		if j.Judge != "scripted" || j.Note != "as its number says" || j.Hash == "" || j.DocumentID == "" {
			t.Fatalf(`a judgment is %+v; want j.Judge "scripted" and j.Note "as its number says" and j.Hash other than "" and j.DocumentID other than ""`, j)
		}
	}
	agreed, err := c.gradings.Agreement(t.Context(), c.scope, "model", "careful")
	if err != nil || agreed.Pairs != graded || agreed.Exact != 0.8 {
		t.Errorf("%+v, %v; the judge errs in one of five; want no error and agreed.Pairs graded and agreed.Exact 0.8", agreed, err)
	}
	// What has a grade is not asked for again, unless its text has changed.
	if job := c.grade(runs.GradeRequest{Like: "careful"}); job.State != jobs.Succeeded {
		t.Errorf("%+v; want job.State Succeeded", job)
	}
	if calls, _ := c.asked(); calls != 0 {
		t.Errorf("asked again %d times; want calls 0", calls)
	}
	c.write("c7", "text 1007")
	if job := c.grade(runs.GradeRequest{Like: "careful"}); job.State != jobs.Succeeded {
		t.Errorf("%+v; want job.State Succeeded", job)
	}
	if calls, passages := c.asked(); calls != 1 || passages != 1 {
		t.Errorf("%d calls for %d passages, want the one whose text has changed", calls, passages)
	}
	if agreed, err = c.gradings.Agreement(t.Context(), c.scope, "model", "careful"); err != nil || agreed.Pairs != graded-1 {
		t.Errorf("%+v, %v; people have graded another text; want no error and agreed.Pairs graded - 1", agreed, err)
	}
}

func TestAModelGradesTheHitsOfSystems(t *testing.T) {
	c := newCourtroom(t)
	c.answer = func(_ context.Context, n int64) (*search.Response, error) {
		r := &search.Response{}
		for i := range 12 {
			r.Hits = append(r.Hits, search.Hit{ID: fmt.Sprintf("c%d", i), DocumentID: "d", KnowledgeBase: "shop", Content: fmt.Sprintf("text %d", i)})
		}
		return r, nil
	}
	job := c.grade(runs.GradeRequest{Systems: []runs.System{{Name: "a"}, {Name: "b"}}, Depth: 12})
	if job.State != jobs.Succeeded || job.Progress.Done != queries {
		t.Fatalf("%+v; want job.State Succeeded and job.Progress.Done queries", job)
	}
	if calls, passages := c.asked(); calls != 2*queries || passages != 12*queries {
		t.Errorf("%d calls for %d passages: a hit of two systems is graded once; want calls 2 * queries and passages 12 * queries", calls, passages)
	}
}

// What a judge makes nothing of together is asked one by one; what it does not grade then is told, and the rest kept.
func TestAConfusedJudge(t *testing.T) {
	c := newCourtroom(t)
	c.confused = func(passages []judge.Passage) bool {
		return slices.ContainsFunc(passages, func(p judge.Passage) bool { return number(p.Text) == 7 })
	}
	job := c.grade(runs.GradeRequest{Like: "careful"})
	if job.State != jobs.Failed || len(job.Errors) != 1 || !strings.Contains(job.Errors[0].Detail, "1 passages have no grade") {
		t.Fatalf(`%+v; want job.State Failed and 1 job.Errors and "1 passages have no grade" in it`, job)
	}
	if got := len(c.graded()); got != graded-1 {
		t.Errorf("%d grades, want all but one", got)
	}
	c.asked()
	c.confused = nil
	if job := c.grade(runs.GradeRequest{Like: "careful"}); job.State != jobs.Succeeded {
		t.Fatalf("%+v; want job.State Succeeded", job)
	}
	if calls, passages := c.asked(); calls != 1 || passages != 1 || len(c.graded()) != graded {
		t.Errorf("%d calls for %d passages, want the one that was missing", calls, passages)
	}
}

func TestOneGradingOfAListAtATime(t *testing.T) {
	c := newCourtroom(t)
	c.blocked = make(chan struct{})
	job, err := c.gradings.Start(t.Context(), c.scope, "model", runs.GradeRequest{Like: "careful"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.gradings.Start(t.Context(), c.scope, "model", runs.GradeRequest{Like: "careful"}); !fault.Is(err, fault.Conflict) {
		t.Errorf("a second one: %v; want an error of kind Conflict", err)
	}
	if _, err := c.jobs.Cancel("acme", job.ID); err != nil {
		t.Fatal(err)
	}
	if ended := c.ended(job.ID); ended.State != jobs.Cancelled {
		t.Errorf("it ended as %+v; want ended.State Cancelled", ended)
	}
	close(c.blocked)
	if job := c.grade(runs.GradeRequest{Like: "careful"}); job.State != jobs.Succeeded {
		t.Errorf("after a cancelled one: %+v; want job.State Succeeded", job)
	}
}

func TestGradingsAreRefused(t *testing.T) {
	c := newCourtroom(t)
	for _, r := range []struct {
		list string
		req  runs.GradeRequest
		kind fault.Kind
		says string
	}{
		{"careful", runs.GradeRequest{Like: "people"}, fault.InvalidArgument, "a list whose source is model"},
		{"nowhere", runs.GradeRequest{Like: "people"}, fault.NotFound, `"nowhere" does not exist`},
		{"model", runs.GradeRequest{}, fault.InvalidArgument, "at least one system"},
		{"model", runs.GradeRequest{Like: "nowhere"}, fault.NotFound, `"nowhere" does not exist`},
		{"model", runs.GradeRequest{Like: "careful", Depth: 101}, fault.InvalidArgument, "depth is 101"},
		{"model", runs.GradeRequest{Like: "careful", Rubric: judge.Rubric{"a", "b"}}, fault.InvalidArgument, "rubric is a list of 2"},
		{"model", runs.GradeRequest{Systems: []runs.System{{Name: "a"}, {Name: "a"}}}, fault.InvalidArgument, "systems[1].name"},
	} {
		_, err := c.gradings.Start(t.Context(), c.scope, r.list, r.req)
		if !fault.Is(err, r.kind) || !strings.Contains(err.Error(), r.says) {
			t.Errorf("%s %+v: %v, want %s", r.list, r.req, err, r.says)
		}
	}
	known := catalog.New([]engine.Engine{c.keeper}, catalog.Options{})
	if _, err := runs.NewGradings(c.Runs, known, nil).Start(t.Context(), c.scope, "model", runs.GradeRequest{}); !fault.Is(err, fault.Unsupported) {
		t.Errorf("without a judge: %v", err)
	}
	if _, err := c.gradings.Agreement(t.Context(), c.scope, "model", "nowhere"); !fault.Is(err, fault.NotFound) {
		t.Errorf("with no list: %v; want an error of kind NotFound", err)
	}
}
