package live

import (
	"context"

	"github.com/hybridge-search/hybridge/engine"
)

// Guarding is what looks at guard rails every minute.
func (s *Store) Guarding() func(context.Context) {
	counts := map[engine.RecordRef]*count{}
	return func(ctx context.Context) { s.lookAtRails(ctx, counts) }
}
