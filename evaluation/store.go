package evaluation

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/analysis/language"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

// tenant owns the knowledge bases of evaluations.
const tenant = "evaluation"

// StoredSet is a retrieval set in knowledge bases of its own: one with the passages and, if
// the set has pairs, one with these. It is the catalog of a searcher of this set.
type StoredSet struct {
	engine engine.Engine
	set    *Set // nil: several
	bases  []engine.KnowledgeBase
}

// writeSize is the number of chunks written at a time.
const writeSize = 500

// Store writes a set into new knowledge bases of the engine. On an error it removes them
// again.
func Store(ctx context.Context, e engine.Engine, set *Set) (*StoredSet, error) {
	s := &StoredSet{engine: e, set: set}
	passages := make([]engine.Chunk, len(set.Corpus))
	for i := range set.Corpus {
		passages[i] = set.Corpus[i].chunk()
	}
	pairs := make([]engine.Chunk, len(set.Pairs))
	for i := range set.Pairs {
		pairs[i] = set.Pairs[i].chunk()
	}
	err := s.write(ctx, set, engine.KindChunks, passages)
	if err == nil && len(pairs) > 0 {
		err = s.write(ctx, set, engine.KindQA, pairs)
	}
	if err != nil {
		_ = s.Remove(ctx) // the first error says more
		return nil, err
	}
	return s, nil
}

// write creates a knowledge base and fills it.
func (s *StoredSet) write(ctx context.Context, set *Set, kind engine.KnowledgeKind, chunks []engine.Chunk) error {
	kb := engine.KnowledgeBase{
		Ref:  engine.Ref{Tenant: tenant, ID: fmt.Sprintf("eval-%s-%x", kind, time.Now().UnixNano())},
		Name: set.Name, Engine: s.engine.Name(), Kind: kind, Dimensions: set.Dimensions, EmbeddingModel: set.Model,
		Analyzer: engine.AnalyzerJieba, CreatedAt: time.Now().UTC(),
	}
	if kind == engine.KindChunks {
		kb.Boosts = map[string]float64{engine.PartTitle: 1} // for systems with fields
	}
	if err := s.engine.CreateKnowledgeBase(ctx, kb); err != nil {
		return err
	}
	s.bases = append(s.bases, kb)
	for from := 0; from < len(chunks); from += writeSize {
		end := min(from+writeSize, len(chunks))
		req := engine.WriteRequest{KB: kb, Chunks: chunks[from:end], Refresh: end == len(chunks)}
		outcomes, err := s.engine.Write(ctx, req)
		if err != nil {
			return err
		}
		for _, o := range outcomes {
			if o.Err != nil {
				return fault.Wrap(fault.KindOf(o.Err), o.Err, "write %s", o.ID)
			}
		}
	}
	return nil
}

func (p *Passage) chunk() engine.Chunk {
	c := engine.Chunk{
		ID: p.ID, DocumentID: p.ID, Title: p.Title, Content: p.Text, Available: true, Metadata: maps.Clone(p.Metadata),
	}
	if l := language.Of(p.Title + " " + p.Text); l != "" {
		if c.Metadata == nil {
			c.Metadata = map[string]any{}
		}
		c.Metadata[engine.MetadataLanguage] = l
	}
	if p.Vector != nil {
		c.Vectors = map[string][]float32{engine.FieldVector: p.Vector}
	}
	return c
}

// Get implements search.Catalog.
func (s *StoredSet) Get(_ context.Context, scope access.Scope, id string) (engine.KnowledgeBase, engine.Engine, error) {
	for _, kb := range s.bases {
		if kb.ID == id && scope.Tenant == tenant {
			return kb, s.engine, nil
		}
	}
	return engine.KnowledgeBase{}, nil, fault.New(fault.NotFound, "there is no knowledge base %q", id)
}

// searchable returns the first knowledge base that the system can search: the passages, or
// else the pairs.
func (s *StoredSet) searchable(by func(kb string) error) (string, error) {
	var refused error
	for _, kb := range s.bases {
		err := by(kb.ID)
		if !fault.Is(err, fault.InvalidArgument) {
			return kb.ID, err
		}
		if refused == nil {
			refused = err
		}
	}
	return "", refused
}

// Remove deletes the knowledge bases, even if the context has ended.
func (s *StoredSet) Remove(ctx context.Context) error {
	var errs []error
	for _, kb := range s.bases {
		errs = append(errs, s.engine.DeleteKnowledgeBase(context.WithoutCancel(ctx), kb.Ref))
	}
	return errors.Join(errs...)
}
