package elastic

import (
	"context"
	"maps"
	"net/url"
	"slices"
	"sync/atomic"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic/rest"
	"github.com/hybridge-search/hybridge/esquery"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/mappings"
)

// target is where a knowledge base lives: checked against the live index, and
// with the filters that every request to it carries.
type target struct {
	asked      engine.KnowledgeBase // as the caller describes it
	since      time.Time
	writes     *atomic.Int64 // of the memory, nil where the target was not found there
	kb         engine.KnowledgeBase
	index      string // that is read
	alias      string // that is written to
	routing    string
	names      *mappings.Names
	own        []esquery.Query // tenant and knowledge base
	made       *pieces         // nil where the target is used once
	everything counting        // all that own lets through
	counted    atomic.Pointer[countedAt]
	stale      bool // the tokens are of another tokenizer
}

// ownTarget gives the target of a knowledge base without asking Elasticsearch.
func (e *Engine) ownTarget(kb *engine.KnowledgeBase) *target {
	return &target{
		kb: *kb, index: e.generationOf(kb), alias: e.writeAlias(kb), routing: routingOf(kb), names: mappings.Own(kb),
		own: []esquery.Query{
			esquery.Term{Field: mappings.FieldTenant, Value: kb.Tenant},
			esquery.Term{Field: mappings.FieldKB, Value: kb.ID},
		},
	}
}

// target finds and checks the index of a knowledge base.
func (e *Engine) target(ctx context.Context, kb *engine.KnowledgeBase) (*target, error) {
	if t, ok := e.memory.target(kb); ok {
		return t, nil
	}
	t, err := e.resolve(ctx, kb)
	if err != nil {
		return nil, err
	}
	everything, err := t.counting(t.own)
	if err != nil {
		return nil, err
	}
	t.asked, t.everything, t.made = *kb, *everything, t.pieces()
	t.since, t.writes = time.Now(), e.memory.counter(t.kb.Ref)
	e.memory.rememberTarget(t)
	return t, nil
}

// same compares all there is of two knowledge bases.
func same(a, b *engine.KnowledgeBase) bool {
	return a.Ref == b.Ref && a.Name == b.Name && a.Engine == b.Engine && slices.Equal(a.Engines, b.Engines) &&
		a.Kind == b.Kind && a.Dimensions == b.Dimensions && a.EmbeddingModel == b.EmbeddingModel &&
		a.Analyzer == b.Analyzer && a.Shared == b.Shared && sameAttachment(a.Attach, b.Attach) &&
		a.CreatedAt.Equal(b.CreatedAt) && a.BM25 == b.BM25 && a.VectorIndex == b.VectorIndex &&
		slices.Equal(a.VectorFields, b.VectorFields) && a.Generation == b.Generation
}

func sameAttachment(a, b *engine.Attachment) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Index == b.Index && a.Layout == b.Layout && a.Value == b.Value && maps.Equal(a.Fields, b.Fields)
}

func (e *Engine) resolve(ctx context.Context, kb *engine.KnowledgeBase) (*target, error) {
	if kb.Attach != nil {
		return e.attached(ctx, kb)
	}
	if kb.Shared { // the index says nothing of who is in it
		if _, err := e.catalogued(ctx, kb.Ref); err != nil {
			return nil, err
		}
	}
	t := e.ownTarget(kb)
	live, err := e.liveMappings(ctx, t.index)
	if fault.Is(err, fault.NotFound) {
		return e.successor(ctx, kb)
	}
	if err != nil {
		return nil, err
	}
	for _, found := range live {
		if err := mappings.Verify(kb, &found); err != nil {
			return nil, err
		}
		t.stale = found.Meta.Tokenizer != e.tokenizer.Fingerprint()
	}
	return t, nil
}

// successor is where a knowledge base is now whose generation has gone: the
// caller has missed a migration. Chunks still are what its record says.
func (e *Engine) successor(ctx context.Context, kb *engine.KnowledgeBase) (*target, error) {
	now, err := e.catalogued(ctx, kb.Ref)
	if err != nil || kb.Generation == 0 || now.Generation == kb.Generation {
		return nil, unknown(kb.Ref)
	}
	next := e.ownTarget(now)
	if _, err := e.liveMappings(ctx, next.index); err != nil {
		return nil, unknown(kb.Ref)
	}
	next.kb, next.alias = *kb, e.writeAlias(kb)
	return next, nil
}

func unknown(ref engine.Ref) error {
	return fault.New(fault.NotFound, "knowledge base %q does not exist", ref.ID)
}

// attached finds the fields of an index that somebody else made. An alias or a
// pattern may stand for several; they have to agree.
func (e *Engine) attached(ctx context.Context, kb *engine.KnowledgeBase) (*target, error) {
	live, err := e.liveMappings(ctx, kb.Attach.Index)
	if fault.Is(err, fault.NotFound) || err == nil && len(live) == 0 {
		return nil, &fault.Error{
			Kind: fault.NotFound, Field: "attach.index",
			Detail: "index " + kb.Attach.Index + " does not exist", Err: err,
		}
	}
	if err != nil {
		return nil, err
	}
	var names *mappings.Names
	for _, index := range slices.Sorted(maps.Keys(live)) {
		found := live[index]
		next, err := mappings.Attach(kb, &found)
		if err != nil {
			return nil, err
		}
		if names != nil && !names.SameFields(next) {
			return nil, &fault.Error{
				Kind: fault.Conflict, Field: "attach.index",
				Detail: "the indices behind " + kb.Attach.Index + " differ in their text or vector fields",
			}
		}
		names = next
	}
	t := &target{kb: *kb, index: kb.Attach.Index, names: names}
	if vector, ok := names.Vectors[engine.FieldVector]; ok {
		t.kb.Dimensions = vector.Dims
	}
	if kb.Attach.Value != "" {
		t.own = []esquery.Query{esquery.Term{Field: names.KB, Value: kb.Attach.Value}}
	}
	return t, nil
}

// liveMappings reads the mappings of all indices that a name stands for.
func (e *Engine) liveMappings(ctx context.Context, index string) (map[string]mappings.Mappings, error) {
	var answer map[string]struct {
		Mappings mappings.Mappings `json:"mappings"`
	}
	if err := e.client.Read(ctx, rest.Get("/"+url.PathEscape(index)+"/_mapping"), &answer); err != nil {
		return nil, err
	}
	live := make(map[string]mappings.Mappings, len(answer))
	for name, found := range answer {
		live[name] = found.Mappings
	}
	return live, nil
}

// writable refuses attached knowledge bases.
func writable(kb *engine.KnowledgeBase) error {
	if kb.Attach == nil {
		return nil
	}
	return fault.New(fault.ReadOnly,
		"knowledge base %q is attached to an index of somebody else's and is never written to", kb.ID)
}

// path addresses the target's index, with parameters by name and value, of plain
// letters.
func (t *target) path(endpoint string, params ...string) string {
	path, separator := t.plainPath(endpoint), "?"
	if t.routing != "" {
		params = append([]string{"routing", t.routing}, params...)
	}
	for i := 0; i+1 < len(params); i += 2 {
		path += separator + params[i] + "=" + params[i+1]
		separator = "&"
	}
	return path
}

// plainPath is path for what takes no routing.
func (t *target) plainPath(endpoint string) string {
	return "/" + url.PathEscape(t.index) + "/" + endpoint
}
