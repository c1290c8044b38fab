package embedded

import (
	"context"
	"fmt"

	"github.com/hybridge-search/hybridge/engine"
)

var _ engine.Generations = (*Engine)(nil)

// Generation implements engine.Generations: the number that the transaction of
// each change raises, of the snapshot that a search would get. It means nothing
// beyond this process, whose data is its own.
func (e *Engine) Generation(ctx context.Context, kb *engine.KnowledgeBase) (string, error) {
	b, s, err := e.snapshot(ctx, kb.Ref)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s-%d-%d", e.process, b.table.number, s.generation), nil
}
