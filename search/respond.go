package search

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/scoring"
)

// respond cuts the page out of the answer and fetches what it shows.
func (s *Searcher) respond(ctx context.Context, r *run, set *answerSet) (*Response, error) {
	response := &Response{
		QueryID:  newQueryID(),
		Preset:   r.plan().Preset,
		Engine:   engineNames(r.targets),
		Total:    Total{Value: len(set.entries), Relation: set.relation},
		Relaxed:  set.relaxed,
		MergedBy: set.mergedBy,
		Hits:     []Hit{},
	}
	if len(set.entries) > 0 {
		response.MaxScore = set.entries[0].Score
	} else {
		response.Empty = set.whyEmpty(r)
	}
	shown := page{entries: set.page(r)}
	prepare := sync.OnceFunc(func() { // all that the chunks are not needed for
		response.Documents, response.Facets = set.documents(r.passing), set.facets(r.req.Facets)
		shown.legs, shown.marker = scoring.Explain(shown.entries), s.marker(r, set)
	})
	chunks, err := fetch(ctx, r, set, shown.entries, set.read)
	if err != nil {
		return nil, err
	}
	prepare()
	started := time.Now()
	response.Hits = set.hits(&shown, chunks)
	r.timings.Highlight = milliseconds(time.Since(started))
	if r.req.Neighbours > 0 {
		if err := s.neighbours(ctx, r, response.Hits); err != nil {
			return nil, err
		}
	}
	if r.req.Explain {
		response.Explain = set.explain(r)
	}
	response.Degraded = set.degraded
	response.Timings = r.timings
	return response, nil
}

// page is what is shown, and what shows it.
type page struct {
	entries []scoring.Fused
	legs    [][]scoring.Contribution // of each entry
	marker  *marker
}

// page is the part of the answer that is shown: offset and limit within the
// top_k best of the answer set.
func (set *answerSet) page(r *run) []scoring.Fused {
	from, to := r.pageOf(min(r.plan().TopK, len(set.entries)))
	return set.entries[from:to]
}

// reading reads chunks of the i-th knowledge base of a request.
type reading func(ctx context.Context, i int, req engine.ChunksRequest) ([]engine.Chunk, error)

// plainly reads the chunks and no more.
func (r *run) plainly(ctx context.Context, i int, req engine.ChunksRequest) ([]engine.Chunk, error) {
	return r.targets[i].engine.Chunks(ctx, req)
}

// batch is what is read of one knowledge base.
type batch struct {
	ids    []string
	chunks []engine.Chunk
	err    error
}

// next is the chunk of the next id, nil when it is not there: chunks come in the
// order of their ids.
func (b *batch) next(id string) *engine.Chunk {
	if len(b.chunks) == 0 || b.chunks[0].ID != id {
		return nil
	}
	chunk := &b.chunks[0]
	b.chunks = b.chunks[1:]
	return chunk
}

// fetch reads the chunk of each entry, one request per knowledge base; nil where it
// is gone. A knowledge base that cannot be read is noted in the set; it is an error
// when none can.
func fetch(ctx context.Context, r *run, set *answerSet, entries []scoring.Fused, how reading) (
	[]*engine.Chunk, error,
) {
	batches := make([]batch, len(r.targets))
	batches[0].ids = make([]string, 0, len(entries))
	for i := range entries {
		b := &batches[entries[i].Source]
		b.ids = append(b.ids, entries[i].ID())
	}
	if len(batches) == 1 {
		batches[0].read(ctx, r, 0, how)
	} else {
		readTogether(ctx, r, batches, how)
	}
	chunks := make([]*engine.Chunk, len(entries))
	for i := range entries {
		chunks[i] = batches[entries[i].Source].next(entries[i].ID())
	}
	return chunks, set.unread(ctx, r, batches)
}

func (b *batch) read(ctx context.Context, r *run, target int, how reading) {
	if len(b.ids) > 0 {
		b.chunks, b.err = how(ctx, target, engine.ChunksRequest{KB: r.targets[target].kb, IDs: b.ids})
	}
}

func readTogether(ctx context.Context, r *run, batches []batch, how reading) {
	var others sync.WaitGroup
	for i := 1; i < len(batches); i++ {
		others.Go(func() { batches[i].read(ctx, r, i, how) })
	}
	batches[0].read(ctx, r, 0, how)
	others.Wait()
}

// unread notes the knowledge bases that could not be read; it fails when none of
// those asked could.
func (set *answerSet) unread(ctx context.Context, r *run, batches []batch) error {
	var first error
	read := false
	for i := range batches {
		err := batches[i].err
		if err == nil {
			read = read || len(batches[i].ids) > 0
			continue
		}
		if first == nil {
			first = err
		}
		note := Degraded{Leg: stepContent, KnowledgeBase: r.targets[i].kb.ID, Reason: reason(err)}
		if !slices.Contains(set.degraded, note) {
			set.degraded = append(set.degraded, note)
		}
	}
	if read && ctx.Err() == nil {
		return nil
	}
	return first
}

// hits joins scores and contents. A chunk deleted between ranking and fetching
// is left out.
func (set *answerSet) hits(shown *page, chunks []*engine.Chunk) []Hit {
	hits := make([]Hit, 0, len(shown.entries))
	sources := make([]int, 0, len(shown.entries))
	none := map[string]any{}
	terms := make([]float64, len(shown.entries))
	for i, chunk := range chunks {
		if chunk == nil {
			continue
		}
		entry := &shown.entries[i]
		from := set.from(entry)
		hit := newHit(entry, from, chunk, shown.legs[i])
		hit.VectorSimilarity, hit.TermSimilarity = from.similarities(hit.Legs, &terms[i])
		if hit.Metadata == nil {
			hit.Metadata = none
		}
		hits = append(hits, hit)
		sources = append(sources, int(entry.Source))
	}
	shown.marker.mark(hits, sources)
	return hits
}

func newHit(e *scoring.Fused, from *answer, chunk *engine.Chunk, legs []scoring.Contribution) Hit {
	hit := Hit{
		ID: chunk.ID, DocumentID: chunk.DocumentID, DocumentName: chunk.DocumentName,
		KnowledgeBase: from.target.kb.ID, Ordinal: chunk.Ordinal, Title: chunk.Title, Content: chunk.Content,
		Score: e.Score, RawScore: e.Raw, Positions: chunk.Positions, Metadata: chunk.Metadata,
		Legs: legs, QA: chunk.QA,
	}
	if hit.Positions == nil {
		hit.Positions = [][]float64{}
	}
	from.fillIn(hit.ID, hit.Legs)
	return hit
}

// similarities are the best raw cosine of the vector legs and the best
// normalised score of the text legs in [0, 1], nil where no leg knows one. The latter
// is written into room.
func (a *answer) similarities(legs []scoring.Contribution, room *float64) (vector, term *float64) {
	for i := range legs {
		if a.legs[i].Kind == scoring.Vector {
			vector = larger(vector, legs[i].Raw)
		} else if similarity, known := a.termSimilarity(&legs[i]); known && (term == nil || similarity > *term) {
			*room, term = similarity, room
		}
	}
	return vector, term
}

// termSimilarity is 0 for a chunk that holds none of the words.
func (a *answer) termSimilarity(l *scoring.Contribution) (similarity float64, known bool) {
	switch {
	case l.Raw == nil:
		return 0, false
	case *l.Raw > 0 && l.Normalized != nil:
		return a.target.plan.Fusion.Similarity(*l.Normalized), true
	default:
		return 0, !(*l.Raw > 0)
	}
}

func larger(a, b *float64) *float64 {
	if a == nil || (b != nil && *b > *a) {
		return b
	}
	return a
}

func engineNames(targets []target) string {
	name := targets[0].engine.Name()
	for _, t := range targets[1:] {
		if t.engine.Name() != name {
			return "several"
		}
	}
	return name
}

// whyEmpty says in a sentence why there is no hit.
func (set *answerSet) whyEmpty(r *run) string {
	cut := 0
	for _, n := range set.cut {
		cut += n
	}
	switch {
	case cut > 0:
		return "every candidate was cut by a threshold: " + listCounts(set.cut)
	case len(r.question.parsed.Terms) == 0 && r.question.vector == nil:
		return "the query has no searchable words"
	case r.question.restricts():
		return "no chunk passes the filter and matches the query"
	default:
		return "no chunk matches the query"
	}
}

func listCounts(counts map[string]int) string {
	list := make([]string, 0, len(counts))
	for name, n := range counts {
		list = append(list, fmt.Sprintf("%s cut %d", name, n))
	}
	sort.Strings(list)
	return strings.Join(list, ", ")
}

// explain is the account of the whole answer.
func (set *answerSet) explain(r *run) *Explain {
	account := &Explain{Plan: *r.plan(), Known: set.known, Methods: map[string]string{}, Cut: map[string]int{}}
	maps.Copy(account.Cut, set.cut)
	for i := range set.answers {
		a := &set.answers[i]
		account.Methods[a.target.kb.ID] = a.method
		for l := range a.legs {
			if account.Query == nil && a.legs[l].text != nil {
				account.Query = a.legs[l].text
			}
		}
	}
	return account
}
