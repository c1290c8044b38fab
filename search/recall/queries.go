package recall

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/filter"
)

// query is a question, or the vector of a chunk with the beginning of its text.
type query struct {
	name   string
	text   string
	vector []float32 // nil: not embedded yet
	// anchor is a chunk of the sample that moments are over, which would know its own cosine too well: the nearest
	// chunk outside the sample is asked for instead.
	anchor bool
	chunk  bool // name is the id of one
}

const (
	seed       = 7
	openingLen = 100 // runes of a chunk's text that stand for a question
	scanned    = 100 // chunks that are read at a time
)

// queries gives the request's queries, or a sample of chunks that the caller may see.
func (run *measurement) queries(ctx context.Context, req *Request) ([]query, error) {
	if len(req.Queries) == 0 {
		return run.draw(ctx, or(req.Sample, DefaultSample))
	}
	all := make([]query, len(req.Queries))
	for i, text := range req.Queries {
		all[i] = query{name: text, text: text}
	}
	return all, nil
}

// draw takes n chunks of the fixed random sample that engines have of a knowledge base, in an order that is always
// the same. Chunks that are hidden, or that the caller's key is not for, are passed over.
func (run *measurement) draw(ctx context.Context, n int) ([]query, error) {
	kb := &run.subject.KB
	scanner := run.subject.Scanner()
	if scanner == nil || kb.Attach != nil {
		return nil, fault.New(fault.Unsupported,
			"the vectors of knowledge base %s cannot be read: bring queries instead of a sample", kb.ID)
	}
	field := &run.fields[0]
	ids := slices.Clone(run.sample)
	rand.New(rand.NewPCG(seed, seed)).Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	var all []query
	for len(ids) > 0 && len(all) < n {
		part := ids[:min(scanned, len(ids))]
		ids = ids[len(part):]
		chunks, err := scanner.Scan(ctx, engine.ScanRequest{KB: *kb, IDs: part, Limit: len(part)})
		if err != nil {
			return nil, err
		}
		for _, id := range part {
			at := slices.IndexFunc(chunks, func(c engine.Chunk) bool { return c.ID == id })
			if at < 0 || !chunks[at].Available || !filter.MatchesAll(run.scope.Filter, &chunks[at]) {
				continue
			}
			q := query{anchor: field.vectors > field.sample, chunk: true}
			if q.of(&chunks[at], field.name) {
				all = append(all, q)
			}
		}
	}
	if len(all) == 0 {
		return nil, fault.New(fault.Conflict, "knowledge base %s has no chunk with a vector to ask for", kb.ID)
	}
	return all[:min(n, len(all))], nil
}

// of makes a chunk the query, if it has the vector.
func (q *query) of(c *engine.Chunk, field string) bool {
	q.name, q.text, q.vector = c.ID, opening(c), c.Vectors[field]
	return q.vector != nil
}

// prepare gives a query its vector.
func (run *measurement) prepare(ctx context.Context, q *query) (err error) {
	if q.vector == nil {
		q.vector, err = run.searcher.QueryVector(ctx, &run.subject.KB, q.text)
		return err
	}
	if !q.anchor {
		return nil
	}
	f := &run.fields[0]
	req := run.exact(f, q, nil)
	req.Filter.Except = run.sample
	result, _, err := run.timed(ctx, req)
	if err != nil {
		return err
	}
	for _, n := range nearest(result, run.k) {
		if run.asked[n.id] {
			continue
		}
		found, err := run.subject.Scanner().Scan(ctx, engine.ScanRequest{KB: run.subject.KB, IDs: []string{n.id}, Limit: 1})
		if err != nil {
			return err
		}
		if len(found) == 1 && q.of(&found[0], f.name) {
			run.asked[n.id] = true
			return nil
		}
	}
	return nil // all of them are deleted, or were asked for: the query is the anchor, or the last that was asked
}

// opening is the beginning of a chunk's text.
func opening(c *engine.Chunk) string {
	text := c.Content
	if text == "" {
		text = c.Title
	}
	if runes := []rune(text); len(runes) > openingLen {
		text = string(runes[:openingLen])
	}
	return text
}
