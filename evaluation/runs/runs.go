// Package runs evaluates systems on the queries of a library against a knowledge base that is in use, as a job, and
// keeps what they answered: a run can be measured again by other metrics, compared with another one, and gone on with
// after it was interrupted.
package runs

import (
	"context"
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
	// JobKind is the kind of an evaluation's job, which has the evaluation's id.
	JobKind = "evaluation"
	// explained is the number of hits of an answer that are kept with their scores by leg.
	explained = 20
)

// Searcher answers searches; *search.Searcher is one.
type Searcher interface {
	Search(ctx context.Context, scope access.Scope, req search.Request) (*search.Response, error)
}

// Evaluation is one, as far as it is.
type Evaluation struct {
	Work
	Request

	Answered int `json:"answered" minimum:"0" doc:"Searches so far."`
	Searches int `json:"searches" minimum:"0" doc:"Searches in all: each query by each system."`
	MaxGrade int `json:"max_grade" minimum:"1" doc:"Of the judgment list."`

	Results     []Result                 `json:"results,omitempty" doc:"Of each system, when it is done."`
	Comparisons []*evaluation.Comparison `json:"comparisons,omitempty" doc:"Of each other system with against, when it is done, with the 20 queries at each end; p_holm is corrected for all of them."`
}

// Row is a system's answer to one query.
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
	Relevance     *float64               `json:"relevance,omitempty" minimum:"0" maximum:"1" doc:"Probability in [0, 1] that it answers the query; left out where it is not known."`
	Grade         *int                   `json:"grade" doc:"Null: nobody has judged it."`
	Changed       bool                   `json:"changed,omitempty" doc:"Another text was judged under this id, which says nothing of this one."`
	Legs          []scoring.Contribution `json:"legs,omitempty" doc:"Of the first 20: what each leg gave it."`
}

// Runs are the evaluations of a library. It is safe for concurrent use.
type Runs struct {
	book[Evaluation, *Evaluation]

	library  *library.Library
	searcher Searcher
}

// New keeps runs where the library is kept.
func New(keeper engine.RecordKeeper, l *library.Library, s Searcher, j *jobs.Manager) *Runs {
	return &Runs{
		book: book[Evaluation, *Evaluation]{
			keeper: keeper, jobs: j, now: time.Now, kind: JobKind,
			absent: func(id string) error { return fault.New(fault.NotFound, "evaluation %q does not exist", id) },
			running: func(id string) error {
				return fault.New(fault.Conflict, "evaluation %q is running; cancel its job first", id)
			},
			elsewhere: func(id string) error { return fault.New(fault.Conflict, "evaluation %q runs at another gateway", id) },
		},
		library: l, searcher: s,
	}
}
