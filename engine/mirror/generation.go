package mirror

import (
	"context"

	"github.com/hybridge-search/hybridge/engine"
)

var _ engine.Generations = (*Set)(nil)

// Generation implements engine.Generations: that of the first engine, which
// searches read.
func (s *Set) Generation(ctx context.Context, kb *engine.KnowledgeBase) (string, error) {
	first, can := s.members[0].(engine.Generations)
	if !can {
		return "", nil
	}
	own := on(*kb, s.members[0])
	return first.Generation(ctx, &own)
}
