// Package runs evaluates systems on the queries of a library against a knowledge base that is in use, as a job, and
// keeps what they answered: a run can be measured again by other metrics, compared with another one, and gone on with
// after it was interrupted.
package runs

import (
	"context"
	"encoding/json"
	"time"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/catalog/jobs"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/evaluation"
	"github.com/hybridge-search/hybridge/evaluation/library"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search"
)

const (
	kind = "evaluation"
	// JobKind is that of the job of an evaluation, which has the evaluation's id.
	JobKind = kind
	// explained is how many hits of an answer are kept with what each leg gave them.
	explained = 20
	// silence is after how long without a sign an evaluation is taken for interrupted.
	silence = time.Minute
)

// Searcher answers searches; *search.Searcher is one.
type Searcher interface {
	Search(ctx context.Context, scope access.Scope, req search.Request) (*search.Response, error)
}

// State of an evaluation.
type State string

// The states. One that was interrupted, failed or was cancelled can be gone on with.
const (
	Running     State = "running"
	Done        State = "done"
	Failed      State = "failed"
	Cancelled   State = "cancelled"
	Interrupted State = "interrupted"
)

// Evaluation is one, as far as it is.
type Evaluation struct {
	ID string `json:"id"`
	Request

	State      State     `json:"state" enum:"running,done,failed,cancelled,interrupted" doc:"interrupted: its gateway ended; resume goes on."`
	Error      string    `json:"error,omitempty" doc:"Why it failed." locale:"text"`
	By         string    `json:"by,omitempty" doc:"Name of the key."`
	Answered   int       `json:"answered" minimum:"0" doc:"Searches so far."`
	Searches   int       `json:"searches" minimum:"0" doc:"Searches in all: each query by each system."`
	MaxGrade   int       `json:"max_grade" minimum:"1" doc:"Of the judgment list."`
	CreatedAt  time.Time `json:"created_at"`
	UpdatedAt  time.Time `json:"updated_at"`
	FinishedAt time.Time `json:"finished_at,omitzero"`

	Results     []Result                 `json:"results,omitempty" doc:"Of each system, when it is done."`
	Comparisons []*evaluation.Comparison `json:"comparisons,omitempty" doc:"Of each other system with against, when it is done, with the 50 queries at each end; p_holm is corrected for all of them."`

	bases []string
}

// Row is how a system answered one query.
type Row struct {
	System     string   `json:"system"`
	Query      string   `json:"query"`
	Text       string   `json:"text"`
	Hits       []Hit    `json:"hits" nullable:"false" doc:"Best first; further hits of what is judged once are left out."`
	Refused    bool     `json:"refused,omitempty" doc:"The answer says that nothing is relevant, or has no hits."`
	Answerable *float64 `json:"answerable,omitempty" minimum:"0" maximum:"1"`
	TookMS     float64  `json:"took_ms" minimum:"0"`
	Degraded   []string `json:"degraded,omitempty" doc:"Legs that took no part."`
	Error      string   `json:"error,omitempty" doc:"Why there is no answer." locale:"text"`
}

// Hit is a chunk, or a document, of an answer.
type Hit struct {
	Key           string                 `json:"key" doc:"What it is in the judgments."`
	Rank          int                    `json:"rank" minimum:"1"`
	KnowledgeBase string                 `json:"knowledge_base"`
	DocumentID    string                 `json:"document_id"`
	ChunkID       string                 `json:"chunk_id"`
	Score         float64                `json:"score"`
	Grade         *int                   `json:"grade" doc:"Null: nobody has judged it."`
	Changed       bool                   `json:"changed,omitempty" doc:"Another text was judged under this id, which says nothing of this one."`
	Legs          []scoring.Contribution `json:"legs,omitempty" doc:"Of the first 20: what each leg gave it."`
}

// Runs are the evaluations of a library. It is safe for concurrent use.
type Runs struct {
	keeper   engine.RecordKeeper
	library  *library.Library
	searcher Searcher
	jobs     *jobs.Manager
	now      func() time.Time
}

// New keeps runs where the library is kept.
func New(keeper engine.RecordKeeper, l *library.Library, s Searcher, j *jobs.Manager) *Runs {
	return &Runs{keeper: keeper, library: l, searcher: s, jobs: j, now: time.Now}
}

func refOf(tenant, id string) engine.RecordRef {
	return engine.RecordRef{Tenant: tenant, Kind: kind, ID: id}
}

// read gives an evaluation that the caller sees: whoever sees its query set; fault.NotFound.
func (r *Runs) read(ctx context.Context, scope access.Scope, id string) (*Evaluation, engine.Records, error) {
	absent := fault.New(fault.NotFound, "evaluation %q does not exist", id)
	if library.CheckID("id", id) != nil {
		return nil, engine.Records{}, absent
	}
	records, err := r.keeper.Records(ctx, refOf(scope.Tenant, id))
	if fault.Is(err, fault.NotFound) {
		return nil, engine.Records{}, absent
	}
	if err != nil {
		return nil, engine.Records{}, err
	}
	e, err := r.open(scope.Tenant, &records)
	if err != nil {
		return nil, engine.Records{}, err
	}
	if !sees(scope, e.bases) {
		return nil, engine.Records{}, absent
	}
	return e, records, nil
}

// stored is the head of an evaluation.
type stored struct {
	Evaluation

	// Bases are those of its query set and of its systems: who does not see them does not see it.
	Bases []string `json:"bases"`
}

func (r *Runs) open(tenant string, records *engine.Records) (*Evaluation, error) {
	s := &stored{}
	if err := json.Unmarshal(records.Head, s); err != nil {
		return nil, fault.Wrap(fault.Internal, err, "read %s %q", kind, records.ID)
	}
	e := &s.Evaluation
	e.ID, e.CreatedAt, e.UpdatedAt, e.bases = records.ID, records.CreatedAt, records.UpdatedAt, s.Bases
	if e.State == Running && r.gone(tenant, records) {
		e.State = Interrupted
	}
	return e, nil
}

// gone reports whether nobody works any more on what is said to be running.
func (r *Runs) gone(tenant string, records *engine.Records) bool {
	if r.now().Sub(records.UpdatedAt) <= silence {
		return false
	}
	job, err := r.jobs.Get(tenant, records.ID)
	return err != nil || job.State != jobs.Running
}
