package elastic

import (
	"context"
	"log/slog"
	"math"
	"slices"

	"github.com/hybridge-search/hybridge/esquery"
	"github.com/hybridge-search/hybridge/fault"
)

// complete fills in the raw scores of hits that a leg did not return. It asks
// only for legs that may know more than they returned, and leaves a score
// unknown when Elasticsearch does not answer.
func (e *Engine) complete(ctx context.Context, u *union) {
	legs, documents := u.missing()
	for batch := range slices.Chunk(documents, maxCandidates) {
		if err := e.completeBatch(ctx, u, legs, batch); err != nil {
			e.logger.WarnContext(ctx, "raw scores stay unknown", slog.Any("error", err))
			u.forget(legs, batch)
		}
	}
}

// missing lists the legs that left a hit out, and the documents left out.
func (u *union) missing() (legs []int, documents []string) {
	seen := map[string]bool{}
	for i := range u.p.legs {
		if !u.full[i] || u.outcomes[i].Err != nil {
			continue
		}
		left := false
		for _, f := range u.hits {
			if f.Observations[i].Rank > 0 {
				continue
			}
			left = true
			if !seen[f.document] {
				seen[f.document] = true
				documents = append(documents, f.document)
			}
		}
		if left {
			legs = append(legs, i)
		}
	}
	return legs, documents
}

func (e *Engine) completeBatch(ctx context.Context, u *union, legs []int, documents []string) error {
	s, err := u.p.completeStatement(legs, documents)
	if err != nil {
		return err
	}
	a, err := e.search(ctx, s)
	if err != nil {
		return err
	}
	for n := range a.Hits.Hits {
		h := &a.Hits.Hits[n]
		f, ok := u.byID[h.ID]
		if !ok {
			return fault.New(fault.Unavailable, "Elasticsearch answered with a document that was not asked for")
		}
		for _, i := range legs {
			score, matched := h.Matched[u.p.legs[i].name]
			if matched && f.Observations[i].Rank == 0 {
				f.Observations[i].Raw = u.p.legs[i].raw(score)
			}
		}
	}
	return nil
}

// completeStatement asks for the score of each leg's named clause for each of
// the documents.
func (p *plan) completeStatement(legs []int, documents []string) (statement, error) {
	query := esquery.Bool{Filter: append(slices.Clone(p.t.own), esquery.IDs{Values: documents})}
	for _, i := range legs {
		query.Should = append(query.Should, p.legs[i].clause())
	}
	return post(
		p.t.path("_search", "search_type", dfs, "include_named_queries_score", "true"),
		esquery.Search{Query: query, Size: len(documents)},
	)
}

// forget marks scores as unknown that could not be asked for.
func (u *union) forget(legs []int, documents []string) {
	for _, document := range documents {
		for _, i := range legs {
			if o := &u.byID[document].Observations[i]; o.Rank == 0 {
				o.Raw = math.NaN()
			}
		}
	}
}
