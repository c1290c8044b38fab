package elastic

import (
	"context"
	"slices"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic/rest"
	"github.com/hybridge-search/hybridge/esquery"
)

const chunksPerRequest = 1000

// Chunks implements engine.Searcher.
func (e *Engine) Chunks(ctx context.Context, req engine.ChunksRequest) ([]engine.Chunk, error) {
	t, err := e.target(ctx, &req.KB)
	if err != nil {
		return nil, err
	}
	chunks, _, err := e.chunks(ctx, &plan{t: t}, &req)
	return chunks, err
}

// ScoreChunks implements engine.DeferredScorer.
func (e *Engine) ScoreChunks(
	ctx context.Context, req engine.ChunksRequest, legs []engine.Leg,
) ([]engine.Chunk, [][]float64, error) {
	t, err := e.target(ctx, &req.KB)
	if err != nil {
		return nil, nil, err
	}
	p := &plan{t: t, legs: make([]legPlan, len(legs))}
	for i := range legs {
		p.planLeg(&p.legs[i], i, &legs[i])
	}
	return e.chunks(ctx, p, &req)
}

// chunks reads chunks by id and, if the plan has legs, their raw scores.
func (e *Engine) chunks(ctx context.Context, p *plan, req *engine.ChunksRequest) ([]engine.Chunk, [][]float64, error) {
	found := make([]engine.Chunk, 0, len(req.IDs))
	var raw [][]float64
	var scores []float64 // backs raw
	if p.legs != nil {
		raw, scores = make([][]float64, 0, len(req.IDs)), make([]float64, 0, len(req.IDs)*len(p.legs))
	}
	for ids := range slices.Chunk(req.IDs, chunksPerRequest) {
		request := p.chunksRequest(ids, req.Hidden)
		page, err := e.Page(ctx, p.t.Location, request)
		if err != nil {
			return nil, nil, err
		}
		read, err := page.Chunks()
		if err != nil {
			return nil, nil, err
		}
		index := indexByID(read)
		for _, id := range ids {
			at := index(id)
			if at < 0 {
				continue
			}
			found = append(found, read[at])
			if p.legs != nil {
				first := len(scores)
				scores = p.scores(scores, &page.Hits[at])
				raw = append(raw, scores[first:])
			}
		}
	}
	return found, raw, nil
}

// fewChunks is how many chunks are searched faster than a map of them is built.
const fewChunks = 32

// indexByID returns a function that finds the index of a chunk, -1 if it is not there.
func indexByID(chunks []engine.Chunk) func(id string) int {
	if len(chunks) <= fewChunks {
		return func(id string) int {
			at := len(chunks) - 1
			for at >= 0 && chunks[at].ID != id {
				at--
			}
			return at
		}
	}
	places := make(map[string]int, len(chunks))
	for i := range chunks {
		places[chunks[i].ID] = i
	}
	return func(id string) int {
		if at, ok := places[id]; ok {
			return at
		}
		return -1
	}
}

// scores appends the raw score of each leg for a hit.
func (p *plan) scores(all []float64, h *rest.Hit) []float64 {
	for i := range p.legs {
		l := &p.legs[i]
		raw := l.unmatched()
		if score, matched := h.ScoreOf(l.name); matched {
			raw = l.raw(score)
		}
		all = append(all, raw)
	}
	return all
}

func (p *plan) chunksRequest(ids []string, hidden bool) rest.Request {
	query := esquery.Bool{Filter: and(p.t.Own, p.t.IDFilter(ids))}
	if p.t.available != nil && !hidden {
		query.Filter = and(p.t.Own, p.t.IDFilter(ids), p.t.available)
	}
	path := p.t.searchPath
	for i := range p.legs {
		if p.legs[i].runs() {
			query.Should = append(query.Should, p.legs[i].clause())
			path = p.t.scoredPath
		}
	}
	return rest.Post(path, esquery.Search{Query: query, Size: len(ids), Source: p.t.sources})
}
