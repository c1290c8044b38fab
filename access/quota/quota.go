// Package quota bounds what the tenants of a gateway may store: bytes written a day, knowledge
// bases, chunks. All gateways of the same data count together, each a few seconds late.
package quota

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/hybridge-search/hybridge/fault"
)

const (
	// lookEvery is how often bytes are added to the store, and sums and counts read.
	lookEvery = 4 * time.Second
	// watched is how long a tenant is followed after its last write.
	watched = time.Minute
	// lookTimeout bounds one look at the store and the engines.
	lookTimeout = 5 * time.Second
	// countWait is when it is worth asking again after something was deleted.
	countWait = 10 * time.Second
	day       = 24 * time.Hour
)

// Limits of each tenant, all above 0.
type Limits struct {
	Bytes          int64 // written a day, UTC
	KnowledgeBases int64
	Chunks         int64
}

// Counts are a tenant's totals.
type Counts struct{ KnowledgeBases, Chunks int64 }

// Options of a Meter; all but the clock are needed.
type Options struct {
	Limits Limits
	Store  Store
	// Count counts a tenant's knowledge bases and chunks, on all engines.
	Count  func(ctx context.Context, tenant string) (Counts, error)
	Logger *slog.Logger
	Now    func() time.Time // time.Now when nil
}

// Meter counts what tenants write. It is safe for concurrent use. While the store or an engine is
// unavailable it uses the last known counts: quotas take nothing down.
type Meter struct {
	options Options
	looking sync.Mutex // held by the one who asks the store

	mu      sync.Mutex
	tenants map[string]*tenant
	away    bool
}

type tenant struct {
	day     string
	stored  int64 // bytes of the day, of all gateways
	pending int64 // of this one, not yet among them
	has     Counts
	used    time.Time // last write

	creating, created int64 // knowledge bases: places reserved at this moment, and the ones made of them
}

// New makes a meter. It asks nothing yet.
func New(o Options) *Meter {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Meter{options: o, tenants: map[string]*tenant{}}
}

// Limits gives the configured limits.
func (m *Meter) Limits() Limits { return m.options.Limits }

// Run follows the store until ctx ends, and then adds the rest.
func (m *Meter) Run(ctx context.Context) {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			m.look(context.WithoutCancel(ctx), m.followed())
			return
		case <-ticker.C:
			m.look(ctx, m.followed())
		}
	}
}

// Left is the rest of a tenant's daily quota, in bytes, and the time until the next day.
type Left struct {
	Bytes int64
	Reset time.Duration
}

// Write refuses a write of some bytes (0: not known) beyond what the tenant may have:
// fault.TooMany. Wait is when it is worth asking again.
func (m *Meter) Write(ctx context.Context, name string, bytes int64) (left Left, wait time.Duration, err error) {
	m.meet(ctx, name)
	now := m.options.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.tenant(name)
	t.used = now
	limits := &m.options.Limits
	left = Left{max(0, limits.Bytes-t.written()), now.UTC().Truncate(day).Add(day).Sub(now)}
	if t.has.Chunks >= limits.Chunks {
		return left, countWait, fault.New(fault.TooMany,
			"the tenant has %d chunks and limits.tenant_chunks is %d; delete some first", t.has.Chunks, limits.Chunks)
	}
	if t.written()+max(bytes, 1) > limits.Bytes {
		return left, left.Reset, fault.New(fault.TooMany, "the tenant wrote %d bytes today, this write has %d, and "+
			"limits.tenant_bytes_a_day is %d; a new day begins at 00:00 UTC", t.written(), bytes, limits.Bytes)
	}
	return left, 0, nil
}

// Wrote counts bytes that were read of a write, and refuses to go on beyond what the tenant may
// have: fault.TooMany.
func (m *Meter) Wrote(name string, bytes int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.tenant(name)
	t.pending += bytes
	t.used = m.options.Now()
	limits := &m.options.Limits
	if t.has.Chunks >= limits.Chunks {
		return fault.New(fault.TooMany,
			"the tenant has %d chunks and limits.tenant_chunks is %d; delete some first", t.has.Chunks, limits.Chunks)
	}
	if t.written() > limits.Bytes {
		return fault.New(fault.TooMany, "the tenant wrote %d bytes today and limits.tenant_bytes_a_day is %d; "+
			"a new day begins at 00:00 UTC", t.written(), limits.Bytes)
	}
	return nil
}

// Create reserves a place for a knowledge base: fault.TooMany without one. The caller reports whether one was made.
func (m *Meter) Create(ctx context.Context, name string) (settle func(made bool), err error) {
	m.meet(ctx, name)
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.tenant(name)
	t.used = m.options.Now()
	if limit := m.options.Limits.KnowledgeBases; t.has.KnowledgeBases >= limit {
		return nil, fault.New(fault.TooMany, "the tenant has %d knowledge bases and "+
			"limits.tenant_knowledge_bases is %d; delete one first", t.has.KnowledgeBases, limit)
	}
	t.has.KnowledgeBases++
	t.creating++
	return func(made bool) { m.settle(name, made) }, nil
}

func (m *Meter) settle(name string, made bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.tenant(name)
	t.creating--
	t.used = m.options.Now()
	if made {
		t.created++
	} else {
		t.has.KnowledgeBases = max(0, t.has.KnowledgeBases-1)
	}
}

// Deleted gives back the place of a knowledge base.
func (m *Meter) Deleted(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.tenant(name)
	t.has.KnowledgeBases = max(0, t.has.KnowledgeBases-1)
	t.used = m.options.Now()
}

func (t *tenant) written() int64 { return t.stored + t.pending }

// tenant gives today's data of a tenant. The caller holds mu.
func (m *Meter) tenant(name string) *tenant {
	t := m.tenants[name]
	if t == nil {
		t = &tenant{}
		m.tenants[name] = t
	}
	if today := m.today(); t.day != today {
		t.day, t.stored, t.pending = today, 0, 0
	}
	return t
}

func (m *Meter) today() string { return m.options.Now().UTC().Format(time.DateOnly) }

// meet looks at once for a tenant that is not followed.
func (m *Meter) meet(ctx context.Context, name string) {
	m.mu.Lock()
	t := m.tenants[name]
	known := t != nil && m.options.Now().Sub(t.used) < watched
	m.mu.Unlock()
	if !known {
		m.look(ctx, []string{name})
	}
}

// followed are the tenants that wrote lately, or whose bytes are not yet stored.
func (m *Meter) followed() (names []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for name, t := range m.tenants {
		if t.pending > 0 || m.options.Now().Sub(t.used) < watched {
			names = append(names, name)
		}
	}
	return names
}

// look adds what is pending to the store and takes over the sums and counts of all gateways. That
// it fails is logged once.
func (m *Meter) look(ctx context.Context, names []string) {
	if len(names) == 0 {
		return
	}
	m.looking.Lock()
	defer m.looking.Unlock()
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	err := m.exchange(ctx, names)
	for _, name := range names {
		if err == nil {
			err = m.count(ctx, name)
		}
	}
	m.mu.Lock()
	first := err != nil && !m.away && ctx.Err() == nil
	m.away = err != nil
	m.mu.Unlock()
	if first {
		m.options.Logger.Warn("what tenants have cannot be counted now; their limits go by what is known", "error", err)
	}
}

func (m *Meter) exchange(ctx context.Context, names []string) error {
	today, sent := m.today(), map[string]int64{}
	m.mu.Lock()
	for _, name := range names {
		sent[name] = m.tenant(name).pending
	}
	m.mu.Unlock()
	sums, err := m.options.Store.Add(ctx, today, sent) // also of those that were counted before it failed
	m.mu.Lock()
	defer m.mu.Unlock()
	for name, sum := range sums {
		if t := m.tenant(name); t.day == today {
			t.stored, t.pending = sum, t.pending-sent[name]
		}
	}
	return err
}

func (m *Meter) count(ctx context.Context, name string) error {
	m.mu.Lock()
	before := m.tenant(name).created
	m.mu.Unlock()
	has, err := m.options.Count(ctx, name)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.tenant(name)
	// What is made while others count may not be among it. Where it is, it counts twice until the next look.
	has.KnowledgeBases += t.creating + t.created - before
	t.has = has
	return nil
}
