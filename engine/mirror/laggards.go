package mirror

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

const (
	// defaultPatience is the wait of a write for an engine after another has finished.
	defaultPatience = 5 * time.Second
	// pingTimeout bounds the ping of an engine before the outbox makes writes wait for it.
	pingTimeout = 2 * time.Second
	// copyTimeout bounds how long writes wait for the copy of chunksAtOnce chunks.
	copyTimeout = 30 * time.Second
)

// laggards is the set of engines that recently did not respond. Writes skip them, leaving
// debts in the outbox, so that they do not queue behind a hanging engine. It is safe for
// concurrent use.
type laggards struct {
	mu  sync.Mutex
	all map[string]laggard // by the engine's name
}

type laggard struct {
	failures int
	until    time.Time
}

// skips reports whether an engine is to be skipped. After each rest one write tries it.
func (l *laggards) skips(e engine.Engine) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Now().Before(l.all[e.Name()].until)
}

// note records the outcome of a call. Only hanging engines count: an unreachable or
// refusing one fails at once.
func (m *Mirror) note(e engine.Engine, err error) {
	l := &m.laggards
	l.mu.Lock()
	defer l.mu.Unlock()
	if !fault.Is(err, fault.Timeout) {
		delete(l.all, e.Name())
		return
	}
	last := l.all[e.Name()]
	l.all[e.Name()] = laggard{last.failures + 1, time.Now().Add(m.wait(last.failures))}
}

// errLaggard cancels the call to an engine that takes much longer than another.
var errLaggard = errors.New("the engine has had its time")

// present returns the members that a write is sent to: the responding ones, or all if none
// responds.
func (w *write) present(m *Mirror) []bool {
	present, any := make([]bool, len(w.members)), false
	for i, e := range w.members {
		present[i] = !m.laggards.skips(e)
		any = any || present[i]
	}
	for i := range present {
		present[i] = present[i] || !any
	}
	return present
}

// doAll does the change on a deciding member, and then on the others in parallel. Each is given up after the mirror's
// patience if another may take its place.
func (w *write) doAll(ctx context.Context, m *Mirror, do func(ctx context.Context, member int) error) {
	present := w.present(m)
	for i := range w.members {
		if w.failures[i] = map[string]error{}; !present[i] {
			w.fail(i, fault.New(fault.Timeout, "engine %s did not answer a moment ago; it gets the write later",
				w.members[i].Name()))
		}
	}
	asked := slices.DeleteFunc(slices.Clone(w.order), func(i int) bool { return !present[i] })
	for w.decided < 0 && len(asked) > 0 {
		i := asked[0]
		asked = asked[1:]
		if w.doOne(ctx, m, i, do) {
			w.decided = i
		}
	}
	var group sync.WaitGroup
	for _, i := range asked {
		group.Go(func() { w.doOne(ctx, m, i, do) })
	}
	group.Wait()
}

// doOne does the change on a member.
func (w *write) doOne(
	ctx context.Context, m *Mirror, i int, do func(ctx context.Context, member int) error,
) bool {
	ctx, giveUp := context.WithCancelCause(ctx)
	var watch sync.WaitGroup
	watch.Go(func() { m.watch(ctx, w.members[i], w.decided >= 0, giveUp) })
	err := do(ctx, i)
	defer watch.Wait()
	defer giveUp(nil)
	if err != nil && errors.Is(context.Cause(ctx), errLaggard) {
		err = fault.Wrap(fault.Timeout, err, "engine %s takes too long; it gets the write later", w.members[i].Name())
	}
	if ctx.Err() == nil || errors.Is(context.Cause(ctx), errLaggard) { // not canceled by the caller
		m.note(w.members[i], err)
	}
	if err != nil {
		w.fail(i, err)
	}
	return err == nil
}

// watch gives up a slow member: a following one after the mirror's patience, a deciding one only if it does not
// answer a ping either, as its work may be long.
func (m *Mirror) watch(ctx context.Context, e engine.Engine, follows bool, giveUp context.CancelCauseFunc) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(m.patience):
		}
		if follows || !answers(ctx, e) {
			giveUp(errLaggard)
			return
		}
	}
}

func answers(ctx context.Context, e engine.Engine) bool {
	ctx, stop := context.WithTimeout(ctx, pingTimeout)
	defer stop()
	return e.Ping(ctx) == nil || ctx.Err() != nil && !errors.Is(context.Cause(ctx), context.DeadlineExceeded)
}

// fail records that a member failed as a whole.
func (w *write) fail(member int, err error) {
	w.unsure[member], w.errs[member] = true, err
	for _, id := range w.ids {
		w.failures[member][id] = err
	}
}

// reachable returns an error if a copy between two engines is hopeless, so that no write
// waits for it.
func (c *copier) reachable(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, pingTimeout)
	defer stop()
	for _, e := range []engine.Engine{c.from, c.to} {
		if err := e.Ping(ctx); err != nil {
			return err
		}
	}
	return nil
}
