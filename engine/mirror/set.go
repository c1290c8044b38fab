package mirror

import (
	"context"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

// Set is the engines of one knowledge base as one engine: it reads from the
// first, the reference, and writes to all. It is made per use and cheap.
type Set struct {
	mirror        *Mirror
	members       []engine.Engine
	engine.Engine // the first: whatever reads, reads there
}

// Over makes the set of the engines that a knowledge base names, the reference
// first. fault.Unsupported when one is not configured or cannot be scanned.
func (m *Mirror) Over(names []string) (*Set, error) {
	s := &Set{mirror: m}
	for _, name := range names {
		e, ok := m.engines[name]
		if !ok {
			return nil, fault.New(fault.Unsupported, "engine %s, on which the knowledge base lives, is not configured", name)
		}
		if _, ok := e.(engine.Scanner); !ok {
			return nil, fault.New(fault.Unsupported, "engine %s cannot share a knowledge base with others", name)
		}
		s.members = append(s.members, e)
	}
	if len(s.members) == 0 {
		return nil, fault.New(fault.InvalidArgument, "a knowledge base needs an engine")
	}
	s.Engine = s.members[0]
	return s, nil
}

// Member gives the engine of that name, to read from it alone.
func (s *Set) Member(name string) (engine.Engine, bool) {
	for _, e := range s.members {
		if e.Name() == name {
			return e, true
		}
	}
	return nil, false
}

// on returns the knowledge base as one of its engines stores it.
func on(kb engine.KnowledgeBase, e engine.Engine) engine.KnowledgeBase {
	kb.Engine = e.Name()
	return kb
}

// Scan implements engine.Scanner: it reads the reference.
func (s *Set) Scan(ctx context.Context, req engine.ScanRequest) ([]engine.Chunk, error) {
	req.KB = on(req.KB, s.members[0])
	return s.members[0].(engine.Scanner).Scan(ctx, req) // Over accepts no other
}

// CreateKnowledgeBase makes it on all engines or on none.
func (s *Set) CreateKnowledgeBase(ctx context.Context, kb engine.KnowledgeBase) error {
	for i, e := range s.members {
		err := e.CreateKnowledgeBase(ctx, on(kb, e))
		if err == nil {
			continue
		}
		for _, made := range s.members[:i] {
			if undo := made.DeleteKnowledgeBase(context.WithoutCancel(ctx), kb.Ref); undo != nil {
				s.mirror.log.Warn("a knowledge base not created on all engines remains on one",
					"knowledge_base", kb.ID, "engine", made.Name(), "error", undo)
			}
		}
		return err
	}
	return nil
}

// DeleteKnowledgeBase removes it everywhere, from the reference last: as long as
// one engine cannot be reached it stays in the list and can be deleted again.
func (s *Set) DeleteKnowledgeBase(ctx context.Context, ref engine.Ref) error {
	release, err := s.mirror.lock(ctx, ref)
	if err != nil {
		return err
	}
	defer release()
	for i := len(s.members) - 1; i >= 0; i-- {
		err := s.members[i].DeleteKnowledgeBase(ctx, ref)
		if err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
	}
	return s.mirror.outbox.forget(ctx, ref)
}

// Describe counts what the reference holds; Details has the counts of each
// engine and how many chunks and documents the outbox still owes it.
func (s *Set) Describe(ctx context.Context, kb engine.KnowledgeBase) (*engine.Description, error) {
	first, err := s.members[0].Describe(ctx, on(kb, s.members[0]))
	if err != nil {
		return nil, err
	}
	behind, err := s.mirror.outbox.count(ctx, kb.Ref)
	if err != nil {
		return nil, err
	}
	each := map[string]any{}
	for i, e := range s.members {
		d := first
		if i > 0 {
			if d, err = e.Describe(ctx, on(kb, e)); err != nil {
				each[e.Name()] = map[string]any{"error": detail(err), "behind": behind[e.Name()]}
				continue
			}
		}
		each[e.Name()] = map[string]any{
			"documents": d.Documents, "chunks": d.Chunks, "vectors": d.Vectors, "bytes": d.Bytes,
			"behind": behind[e.Name()],
		}
	}
	whole := *first
	whole.Details = map[string]any{"engines": each}
	for name, value := range first.Details {
		whole.Details[name] = value
	}
	return &whole, nil
}
