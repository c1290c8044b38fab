package evaluation

import (
	"context"
	"fmt"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/search"
)

// tenant is whom the knowledge bases of an evaluation belong to.
const tenant = "evaluation"

// Shelf is a retrieval set in a knowledge base of its own. It is the catalog
// that a searcher of this set works with.
type Shelf struct {
	engine engine.Engine
	kb     engine.KnowledgeBase
}

// writeSize is how many passages are written at a time.
const writeSize = 500

// Shelve writes a set into a new knowledge base on the engine. On an error
// nothing is left behind.
func Shelve(ctx context.Context, e engine.Engine, set *Set) (*Shelf, error) {
	s := &Shelf{engine: e, kb: engine.KnowledgeBase{
		Ref:  engine.Ref{Tenant: tenant, ID: fmt.Sprintf("eval-%x", time.Now().UnixNano())},
		Name: set.Name, Engine: e.Name(), Kind: engine.KindChunks, Dimensions: set.Dimensions,
		Analyzer: engine.AnalyzerJieba, CreatedAt: time.Now().UTC(),
	}}
	if err := e.CreateKnowledgeBase(ctx, s.kb); err != nil {
		return nil, err
	}
	if err := s.fill(ctx, set.Corpus); err != nil {
		_ = s.Remove(ctx) // the first error says more
		return nil, err
	}
	return s, nil
}

func (s *Shelf) fill(ctx context.Context, corpus []Passage) error {
	for from := 0; from < len(corpus); from += writeSize {
		end := min(from+writeSize, len(corpus))
		chunks := make([]engine.Chunk, 0, writeSize)
		for i := range corpus[from:end] {
			chunks = append(chunks, corpus[from+i].chunk())
		}
		req := engine.WriteRequest{KB: s.kb, Chunks: chunks, Refresh: end == len(corpus)}
		outcomes, err := s.engine.Write(ctx, req)
		if err != nil {
			return err
		}
		for _, o := range outcomes {
			if o.Err != nil {
				return fault.Wrap(fault.KindOf(o.Err), o.Err, "write passage %s", o.ID)
			}
		}
	}
	return nil
}

func (p *Passage) chunk() engine.Chunk {
	c := engine.Chunk{ID: p.ID, DocumentID: p.ID, Title: p.Title, Content: p.Text, Available: true}
	if p.Vector != nil {
		c.Vectors = map[string][]float32{engine.FieldVector: p.Vector}
	}
	return c
}

// Get implements search.Catalog.
func (s *Shelf) Get(_ context.Context, scope search.Scope, id string) (engine.KnowledgeBase, engine.Engine, error) {
	if scope.Tenant != tenant || id != s.kb.ID {
		return engine.KnowledgeBase{}, nil, fault.New(fault.NotFound, "there is no knowledge base %q", id)
	}
	return s.kb, s.engine, nil
}

// Remove deletes the knowledge base, also when the context has ended.
func (s *Shelf) Remove(ctx context.Context) error {
	return s.engine.DeleteKnowledgeBase(context.WithoutCancel(ctx), s.kb.Ref)
}
