package engine

import (
	"context"
	"time"
)

// Copying copies the chunks of a knowledge base into another shape page by page.
type Copying struct {
	*Migration
	// Page copies what follows the cursor, which it moves; 0: there is no more. A page of an
	// earlier attempt may be there already, whole or in part.
	Page func(ctx context.Context) (int, error)
	Save func(ctx context.Context) error // see MigrationEnv
}

// All copies as many chunks as existed at its start, within the rate limit, and reports progress. Rest copies
// later writes and ignores the limit: otherwise it would never catch up with faster writes.
func (c *Copying) All(ctx context.Context) error {
	p := &c.Progress
	began, done := time.Now(), p.Done
	return c.Pages(ctx, func(n int) (more bool, err error) {
		p.Done += n
		p.Measure(p.Done-done, time.Since(began))
		if err := c.Save(ctx); err != nil {
			return false, err
		}
		return p.Done < p.Total, p.hold(ctx, time.Since(began), p.Done-done)
	})
}

// Rest copies the chunks written since.
func (c *Copying) Rest(ctx context.Context) error {
	return c.Pages(ctx, func(n int) (more bool, err error) {
		c.Progress.Replayed += n
		return true, c.Save(ctx)
	})
}

// Pages copies pages until one is empty or tell returns false.
func (c *Copying) Pages(ctx context.Context, tell func(n int) (more bool, err error)) error {
	for {
		n, err := c.Page(ctx)
		if err != nil || n == 0 {
			return err
		}
		if more, err := tell(n); err != nil || !more {
			return err
		}
	}
}

// heartbeatInterval is the longest wait between two heartbeats of a copy.
const heartbeatInterval = 5 * time.Second

// hold waits until the rate is within the limit.
func (p *MigrationProgress) hold(ctx context.Context, took time.Duration, done int) error {
	if p.Throttle <= 0 {
		return nil
	}
	due := time.Duration(float64(done) / p.Throttle * float64(time.Second))
	select {
	case <-time.After(min(due-took, heartbeatInterval)):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// PageLimit returns the number of chunks of a page: the default, or fewer under a lower rate limit.
func (p *MigrationProgress) PageLimit(usual int) int {
	if p.Throttle > 0 {
		return max(1, min(usual, int(p.Throttle)))
	}
	return usual
}
