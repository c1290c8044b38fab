// Package admission decides which work may begin: work has a cost, what runs at a time is
// bounded by the sum of costs, and the rest waits for a short while or is refused at once.
//
// Whoever asks has a key. Each key has a short queue of its own, and the queues take turns,
// so that one key with much to do does not keep the others waiting. Light work, of cost 1,
// has room of its own: it goes on while heavy work waits or is refused. And while light work
// comes, fewer heavy works run, so that it finds a processor too: the runtime has no priorities.
package admission

import (
	"context"
	"errors"
	"sync"
	"time"
)

// ErrFull is the error of work that finds no room and no place in a queue.
var ErrFull = errors.New("too much work is waiting already")

// Options bound the work of a Gate. All are > 0.
type Options struct {
	Light      int           // works of cost 1 at a time
	Heavy      int           // sum of the costs of all other works at a time
	Beside     int           // how many of those at a time while light works come
	LightQueue int           // light works of a key that wait
	HeavyQueue int           // other works of a key that wait
	Keys       int           // keys that have works waiting
	Wait       time.Duration // how long a work waits at most
}

// Gate admits work. It is safe for concurrent use.
type Gate struct {
	wait         time.Duration
	beside       int
	mu           sync.Mutex
	light, heavy room
	lastLight    time.Time // when light work came
}

// lightLasts is how long light work is expected to come again.
const lightLasts = time.Second / 2

// room is the capacity shared by one kind of work.
type room struct {
	free   int
	size   int
	works  int      // that are running
	queue  int      // longest of a key
	keys   int      // most queues
	queues []*queue // of the keys that have works waiting; the first is the next
}

type queue struct {
	key     string
	waiting []*ticket
}

type ticket struct {
	cost     int
	admitted chan struct{}
}

// New makes a Gate.
func New(o Options) *Gate {
	return &Gate{
		wait: o.Wait, beside: o.Beside,
		light: room{free: o.Light, size: o.Light, queue: o.LightQueue, keys: o.Keys},
		heavy: room{free: o.Heavy, size: o.Heavy, queue: o.HeavyQueue, keys: o.Keys},
	}
}

// Admit waits until work of this cost may begin; release must be called at its end, once or
// more. The error is ErrFull, or that of ctx. Work that costs more than there is room for
// takes all of it.
func (g *Gate) Admit(ctx context.Context, key string, cost int) (release func(), err error) {
	r := &g.heavy
	if cost <= 1 {
		r, cost = &g.light, 1
	}
	cost = min(cost, r.size)
	g.mu.Lock()
	if r == &g.light {
		g.lastLight = time.Now()
	}
	if len(r.queues) == 0 && g.fits(r, cost) {
		r.begin(cost)
		g.mu.Unlock()
		return g.releaser(r, cost), nil
	}
	t := &ticket{cost: cost, admitted: make(chan struct{})}
	queued := r.enqueue(key, t)
	g.mu.Unlock()
	if !queued {
		return nil, ErrFull
	}
	patience := time.NewTimer(g.wait)
	defer patience.Stop()
	select {
	case <-t.admitted:
		return g.releaser(r, cost), nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-patience.C:
		err = ErrFull
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.admit(r) // light work may have stopped coming
	select {
	case <-t.admitted: // in the meantime
		return g.releaser(r, cost), nil
	default:
		r.leave(key, t)
		g.admit(r) // those behind it may fit
		return nil, err
	}
}

func (g *Gate) releaser(r *room, cost int) func() {
	return sync.OnceFunc(func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		r.free += cost
		r.works--
		g.admit(r)
	})
}

// fits reports whether there is room for one more work. There is always for the first one.
func (g *Gate) fits(r *room, cost int) bool {
	if r == &g.heavy && r.works >= g.beside && time.Since(g.lastLight) < lightLasts {
		return false
	}
	return cost <= r.free
}

func (r *room) begin(cost int) {
	r.free -= cost
	r.works++
}

func (r *room) enqueue(key string, t *ticket) bool {
	for _, q := range r.queues {
		if q.key == key {
			if len(q.waiting) >= r.queue {
				return false
			}
			q.waiting = append(q.waiting, t)
			return true
		}
	}
	if len(r.queues) >= r.keys {
		return false
	}
	r.queues = append(r.queues, &queue{key: key, waiting: []*ticket{t}})
	return true
}

// admit lets those in that there is room for. Keys take turns; the next work waits for room
// even if a smaller one behind it would fit, or it would wait for ever.
func (g *Gate) admit(r *room) {
	for len(r.queues) > 0 {
		q := r.queues[0]
		t := q.waiting[0]
		if !g.fits(r, t.cost) {
			return
		}
		r.begin(t.cost)
		close(t.admitted)
		q.waiting, r.queues = q.waiting[1:], r.queues[1:]
		if len(q.waiting) > 0 {
			r.queues = append(r.queues, q)
		}
	}
}

func (r *room) leave(key string, t *ticket) {
	for i, q := range r.queues {
		if q.key != key {
			continue
		}
		for k := range q.waiting {
			if q.waiting[k] == t {
				q.waiting = append(q.waiting[:k], q.waiting[k+1:]...)
				break
			}
		}
		if len(q.waiting) == 0 {
			r.queues = append(r.queues[:i], r.queues[i+1:]...)
		}
		return
	}
}
