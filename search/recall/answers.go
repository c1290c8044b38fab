package recall

import (
	"context"

	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search"
)

// Answers measures the effect of approximation on the first k hits of a preset.
type Answers struct {
	Kept Share `json:"kept" doc:"Of the exact answer, the share that the usual one has."`
	// Statistics is omitted where the moments are exact, or the preset asks for none.
	Statistics *Share `json:"statistics,omitempty" doc:"The same where the moments of cosines alone are of a sample; left out where they make no difference."`
}

// answerTally adds up the outcomes of the queries for answers.
type answerTally struct {
	request    search.Request // with everything but the question
	kept       share
	statistics share
}

// compareAnswers searches with the preset unchanged, with exact legs, and with exact moments too.
func (run *measurement) compareAnswers(ctx context.Context, q *query) error {
	exact, err := run.answer(ctx, q, search.Exactness{Legs: true, Statistics: true})
	if err != nil {
		return err
	}
	approximate, err := run.answer(ctx, q, search.Exactness{})
	if err != nil {
		return err
	}
	if run.sampledMoments() {
		sampled, err := run.answer(ctx, q, search.Exactness{Legs: true})
		if err != nil {
			return err
		}
		run.answers.statistics.add(q, overlap(sampled, exact))
	}
	run.answers.kept.add(q, overlap(approximate, exact))
	return nil
}

// sampledMoments reports whether the preset ranks by moments over a sample.
func (run *measurement) sampledMoments() bool {
	if run.subject.Plan.Fusion.Normalizer != scoring.ZScore {
		return false
	}
	for i := range run.fields {
		if f := &run.fields[i]; f.vectors > f.sample {
			return true
		}
	}
	return false
}

func (run *measurement) answer(ctx context.Context, q *query, exact search.Exactness) ([]string, error) {
	req := run.answers.request
	req.Query, req.Vector, req.Plain, req.Exact = q.text, q.vector, true, exact
	response, err := run.searcher.Search(ctx, run.scope, req)
	if err != nil {
		return nil, err
	}
	ids := make([]string, 0, len(response.Hits))
	for i := range response.Hits {
		if id := response.Hits[i].ID; !q.chunk || id != q.name {
			ids = append(ids, id)
		}
	}
	return ids[:min(len(ids), run.k)], nil
}

func (a *answerTally) conclude() *Answers {
	concluded := &Answers{Kept: a.kept.conclude()}
	if len(a.statistics.values) > 0 {
		s := a.statistics.conclude()
		concluded.Statistics = &s
	}
	return concluded
}
