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
	// defaultPatience is how long a write waits for an engine after another has taken it.
	defaultPatience = 5 * time.Second
	// pingTimeout is how long an engine may take to say that it is there, before the outbox
	// makes writes wait for it.
	pingTimeout = 2 * time.Second
	// copyTimeout bounds how long writes wait for chunksAtOnce chunks to be made up for.
	copyTimeout = 30 * time.Second
)

// laggards are the engines that did not answer a moment ago. Writes leave them out, as the
// outbox makes up for it, so that they do not queue behind an engine that hangs. It is safe
// for concurrent use.
type laggards struct {
	mu  sync.Mutex
	all map[string]laggard // by the engine's name
}

type laggard struct {
	failures int
	until    time.Time
}

// away reports whether an engine is to be left out. One write after each rest tries it.
func (l *laggards) away(e engine.Engine) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Now().Before(l.all[e.Name()].until)
}

// note takes the outcome of a call. Only an engine that hung counts: one that is away says
// so at once, and so does one that refuses.
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

// errLaggard ends the call to an engine that takes much longer than another.
var errLaggard = errors.New("the engine has had its time")

// present are the members that a write is given to: those that answer, or all where none
// does.
func (w *write) present(m *Mirror) []bool {
	present, any := make([]bool, len(w.members)), false
	for i, e := range w.members {
		present[i] = !m.laggards.away(e)
		any = any || present[i]
	}
	for i := range present {
		present[i] = present[i] || !any
	}
	return present
}

// doAll does the change on a member that decides, and then on the others at the same time. Each is given up after the
// mirror's patience where another may take its place.
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
	if ctx.Err() == nil || errors.Is(context.Cause(ctx), errLaggard) { // the caller has not gone
		m.note(w.members[i], err)
	}
	if err != nil {
		w.fail(i, err)
	}
	return err == nil
}

// watch gives a member up that has had its time: one that follows after the mirror's patience, one that decides when it
// does not answer either whether it is there, as its work may be long.
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

// fail notes that a member failed as a whole.
func (w *write) fail(member int, err error) {
	w.unsure[member], w.errs[member] = true, err
	for _, id := range w.ids {
		w.failures[member][id] = err
	}
}

// reachable says why a copy between two engines need not be tried: no write has to wait for
// that.
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
