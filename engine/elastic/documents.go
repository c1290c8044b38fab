package elastic

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic/rest"
	"github.com/hybridge-search/hybridge/esquery"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/smile"
	"github.com/hybridge-search/hybridge/mappings"
)

const (
	chunksPerPage = 1000 // of one request for chunks with their content
	idsPerPage    = 10_000
)

// Chunks implements engine.Searcher.
func (e *Engine) Chunks(ctx context.Context, req engine.ChunksRequest) ([]engine.Chunk, error) {
	t, err := e.target(ctx, &req.KB)
	if err != nil {
		return nil, err
	}
	chunks, _, err := e.chunks(ctx, &plan{t: t, made: t.pieces()}, &req)
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
	p := &plan{t: t, made: t.pieces(), legs: make([]legPlan, len(legs))}
	for i := range legs {
		p.planLeg(&p.legs[i], i, &legs[i])
	}
	return e.chunks(ctx, p, &req)
}

// chunks reads chunks by id with their raw scores by the legs of a plan, if it has any.
func (e *Engine) chunks(ctx context.Context, p *plan, req *engine.ChunksRequest) ([]engine.Chunk, [][]float64, error) {
	found := make([]engine.Chunk, 0, len(req.IDs))
	var raw [][]float64
	var scores []float64 // of raw, one behind the other
	if p.legs != nil {
		raw, scores = make([][]float64, 0, len(req.IDs)), make([]float64, 0, len(req.IDs)*len(p.legs))
	}
	for ids := range slices.Chunk(req.IDs, chunksPerPage) {
		s := p.chunksStatement(ids, req.Hidden)
		a, err := e.contents(ctx, p.t, s)
		if err != nil {
			return nil, nil, err
		}
		read, err := a.all(p.t)
		if err != nil {
			return nil, nil, err
		}
		place := placeByID(read)
		for _, id := range ids {
			at := place(id)
			if at < 0 {
				continue
			}
			found = append(found, read[at])
			if p.legs != nil {
				first := len(scores)
				scores = p.scores(scores, &a.Hits[at])
				raw = append(raw, scores[first:])
			}
		}
	}
	return found, raw, nil
}

// fewChunks are looked through sooner than put into a map.
const fewChunks = 32

// placeByID finds the place of a chunk, -1 where it is not there.
func placeByID(chunks []engine.Chunk) func(id string) int {
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

// scores appends the raw ones that each leg gives a hit.
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

func (p *plan) chunksStatement(ids []string, hidden bool) rest.Request {
	query := esquery.Bool{Filter: and(p.t.own, p.t.idFilter(ids))}
	if p.made.available != nil && !hidden {
		query.Filter = and(p.t.own, p.t.idFilter(ids), p.made.available)
	}
	path := p.made.plain
	for i := range p.legs {
		if p.legs[i].runs() {
			query.Should = append(query.Should, p.legs[i].clause())
			path = p.made.scored
		}
	}
	return rest.Post(path, esquery.Search{Query: query, Size: len(ids), Source: p.made.sources})
}

// Documents implements engine.Store.
func (e *Engine) Documents(
	ctx context.Context, kb engine.KnowledgeBase, after string, limit int,
) ([]engine.Document, error) {
	t, err := e.target(ctx, &kb)
	if err != nil {
		return nil, err
	}
	if t.names.DocumentID == "" {
		return nil, fault.New(fault.Unsupported,
			"knowledge base %q names no field for document_id, so its documents cannot be listed", kb.ID)
	}
	a, err := e.client.Search(ctx, t.documentsStatement(after, limit))
	if err != nil {
		return nil, err
	}
	var aggs struct {
		Documents struct {
			Buckets []struct {
				Key   map[string]string `json:"key"`
				Count int               `json:"doc_count"`
				First struct {
					Hits struct {
						Hits []struct {
							Fields map[string][]any `json:"fields"`
						} `json:"hits"`
					} `json:"hits"`
				} `json:"first"`
			} `json:"buckets"`
		} `json:"documents"`
	}
	if err := json.Unmarshal([]byte(a.Aggregations), &aggs); err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "Elasticsearch's answer cannot be read")
	}
	documents := make([]engine.Document, 0, len(aggs.Documents.Buckets))
	for _, b := range aggs.Documents.Buckets {
		d := engine.Document{ID: b.Key[t.names.DocumentID], Chunks: b.Count}
		for _, first := range b.First.Hits.Hits {
			if name := first.Fields[t.names.DocumentName]; len(name) > 0 {
				d.Name = text(name[0])
			}
		}
		documents = append(documents, d)
	}
	return documents, nil
}

func (t *target) documentsStatement(after string, limit int) rest.Request {
	page := esquery.CompositeAggregation{Size: limit, Field: t.names.DocumentID, After: after}
	if t.names.DocumentName != "" {
		first := esquery.TopHitsAggregation{Size: 1, DocValueFields: []string{t.names.DocumentName}}
		if t.names.Ordinal != "" {
			first.Sort = t.reading()
		}
		page.Aggs = esquery.Aggregations{"first": first}
	}
	return rest.Post(t.path("_search"), esquery.Search{
		Query: esquery.Bool{Filter: t.own}, Aggs: esquery.Aggregations{"documents": page},
	})
}

// reading is the order of a document's chunks.
func (t *target) reading() []esquery.Sort {
	var order []esquery.Sort
	for _, field := range []string{t.names.Ordinal, t.names.ID} {
		if field != "" {
			order = append(order, esquery.Sort{Field: field, Order: esquery.Ascending})
		}
	}
	return order
}

// DocumentChunks implements engine.Store. An attached index has no ordinals: its
// chunks come in the index's order, which is that of writing more often than
// not, and only from the start.
func (e *Engine) DocumentChunks(ctx context.Context, req engine.DocumentChunksRequest) ([]engine.Chunk, error) {
	t, err := e.target(ctx, &req.KB)
	if err != nil {
		return nil, err
	}
	if t.names.DocumentID == "" || t.names.Ordinal == "" && req.After != "" {
		return nil, fault.New(fault.Unsupported,
			"the index of knowledge base %q does not tell the order of chunks", req.KB.ID)
	}
	search := t.documentSearch(req.DocumentID, min(req.Limit, chunksPerPage))
	search.Source = t.sources()
	if t.names.Ordinal != "" {
		search.Query = esquery.Bool{Filter: append(t.ofDocument(req.DocumentID), ordinals(t, req))}
	}
	if req.After != "" {
		if search.SearchAfter, err = e.placeOf(ctx, t, req.After); err != nil {
			return nil, err
		}
	}
	a, err := e.contents(ctx, t, rest.Post(t.path("_search"), search))
	if err != nil {
		return nil, err
	}
	return a.all(t)
}

func ordinals(t *target, req engine.DocumentChunksRequest) esquery.Query {
	between := esquery.Range{Field: t.names.Ordinal, GTE: req.From}
	if req.To >= 0 {
		between.LTE = req.To
	}
	return between
}

func (t *target) ofDocument(documentID string) []esquery.Query {
	return append(slices.Clone(t.own), esquery.Term{Field: t.names.DocumentID, Value: documentID})
}

func (t *target) documentSearch(documentID string, limit int) esquery.Search {
	return esquery.Search{Query: esquery.Bool{Filter: t.ofDocument(documentID)}, Size: limit, Sort: t.reading()}
}

// placeOf gives the sort values of a chunk.
func (e *Engine) placeOf(ctx context.Context, t *target, id string) ([]any, error) {
	s := rest.Post(t.path("_search"), esquery.Search{
		Query: esquery.Bool{Filter: append(slices.Clone(t.own), t.idFilter([]string{id}))},
		Size:  1, DocValueFields: []string{t.names.Ordinal},
	})
	a, err := e.client.Search(ctx, s)
	if err != nil {
		return nil, err
	}
	if len(a.Hits) == 0 || a.Hits[0].First(t.names.Ordinal) == "" {
		return nil, fault.Invalid("after", id, "the id of a chunk of the document")
	}
	return []any{a.Hits[0].First(t.names.Ordinal), id}, nil
}

// chunkIDs lists the ids of all chunks of a document.
func (e *Engine) chunkIDs(ctx context.Context, t *target, documentID string) ([]string, error) {
	search := t.documentSearch(documentID, idsPerPage)
	search.Sort = []esquery.Sort{{Field: t.names.ID, Order: esquery.Ascending}}
	search.DocValueFields, search.NoStored = []string{t.names.ID}, true
	var ids []string
	for {
		s := rest.Post(t.path("_search"), search)
		a, err := e.client.Search(ctx, s)
		if err != nil {
			return nil, err
		}
		for i := range a.Hits {
			ids = append(ids, a.Hits[i].First(t.names.ID))
		}
		if len(a.Hits) < idsPerPage {
			return ids, nil
		}
		search.SearchAfter = []any{ids[len(ids)-1]}
	}
}

// sources lists what of _source makes up a chunk.
func (t *target) sources() []string {
	from := t.names.Source
	if from.Chunk != "" {
		return []string{from.Chunk}
	}
	var members []string
	for _, member := range slices.Concat([]string{
		from.Title, from.Content, from.Positions,
		t.names.ID, t.names.DocumentID, t.names.DocumentName, t.names.Available.Field,
	}, from.Metadata) {
		if member != "" {
			members = append(members, member)
		}
	}
	return members
}

// contents is an answer with chunks.
type contents struct {
	rest.Answer
	own    bool           // they are documents of the gateway's
	chunks []engine.Chunk // of these
}

func (t *target) contents() *contents { return &contents{own: t.names.Source.Chunk != ""} }

// contents runs one _search of a target that has to be answered whole.
func (e *Engine) contents(ctx context.Context, t *target, s rest.Request) (*contents, error) {
	found := t.contents()
	return found, e.client.SearchInto(ctx, s, found)
}

// Read implements rest.Readable.
func (c *contents) Read(r smile.Reader) {
	c.chunks = nil // a first try may have left some
	if c.own {
		c.Source = func(r smile.Reader) {
			c.chunks = append(c.chunks, engine.Chunk{})
			readOwn(r, &c.chunks[len(c.chunks)-1])
		}
	}
	c.Answer.Read(r)
}

// all gives the chunks of the hits.
func (c *contents) all(t *target) ([]engine.Chunk, error) {
	if len(c.chunks) == len(c.Hits) {
		return c.chunks, nil
	}
	return t.chunks(&c.Answer)
}

// chunks reads those of an answer.
func (t *target) chunks(a *rest.Answer) ([]engine.Chunk, error) {
	chunks := make([]engine.Chunk, len(a.Hits))
	for i := range a.Hits {
		if err := t.chunk(&a.Hits[i], &chunks[i]); err != nil {
			return nil, fault.Wrap(fault.Unavailable, err, "a stored chunk cannot be read")
		}
	}
	return chunks, nil
}

func (t *target) chunk(h *rest.Hit, c *engine.Chunk) (err error) {
	if t.names.Source.Chunk != "" {
		return smile.Read(h.Source, func(r smile.Reader) { readOwn(r, c) })
	}
	*c, err = t.attachedChunk(h)
	return err
}

// attachedChunk reads a chunk out of fields that somebody else filled, of
// whatever type they are.
func (t *target) attachedChunk(h *rest.Hit) (engine.Chunk, error) {
	var source map[string]any
	if err := json.Unmarshal([]byte(h.Source), &source); err != nil {
		return engine.Chunk{}, err
	}
	from := t.names.Source
	c := engine.Chunk{
		ID:         cmp.Or(member(source, t.names.ID), h.ID),
		DocumentID: member(source, t.names.DocumentID), DocumentName: member(source, t.names.DocumentName),
		Title: member(source, from.Title), Content: member(source, from.Content),
		Positions: positions(mappings.Member(source, from.Positions)),
		Available: t.shown(source),
	}
	for _, name := range from.Metadata {
		if v := mappings.Member(source, name); v != nil {
			if c.Metadata == nil {
				c.Metadata = map[string]any{}
			}
			c.Metadata[name] = v
		}
	}
	return c, nil
}

func (t *target) shown(source map[string]any) bool {
	switch v := mappings.Member(source, t.names.Available.Field).(type) {
	case bool:
		return v
	case float64:
		return v >= 1
	default:
		return true
	}
}

// member gives a member as text; of a list its first value.
func member(source map[string]any, path string) string {
	v := mappings.Member(source, path)
	if list, ok := v.([]any); ok && len(list) > 0 {
		v = list[0]
	}
	if v == nil {
		return ""
	}
	return text(v)
}

// positions takes a list of lists of numbers; anything else has none.
func positions(v any) [][]float64 {
	list, ok := v.([]any)
	if !ok {
		return nil
	}
	var all [][]float64
	for _, item := range list {
		numbers, ok := item.([]any)
		if !ok {
			return nil
		}
		var position []float64
		for _, n := range numbers {
			if f, ok := n.(float64); ok {
				position = append(position, f)
			}
		}
		all = append(all, position)
	}
	return all
}

// text writes a value as JSON has it, a string as it is.
func text(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(data)
}
