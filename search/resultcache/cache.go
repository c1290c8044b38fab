package resultcache

import (
	"cmp"
	"context"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/search"
)

// Options say how long and where answers are cached.
type Options struct {
	TTL    time.Duration         // > 0
	Memory int64                 // bytes, > 0
	Redis  redis.UniversalClient // the caller's; nil: memory alone
	// Fingerprint identifies the configuration of the searcher: a change of it
	// makes every answer cached so far unreachable.
	Fingerprint string
	// Synonyms identifies the synonyms in use for a knowledge base; nil: there are none.
	Synonyms func(engine.Ref) string
	// Rules identifies the query rules in use for a knowledge base; nil: there are none.
	Rules func(engine.Ref) string
	// Presets identifies the preset that a tenant saved by a name; nil: there are none.
	Presets  func(tenant, name string) string
	Logger   *slog.Logger          // nil: discarded
	Registry prometheus.Registerer // nil: no metrics
}

// Searcher answers searches from the cache, and passes everything else on to
// the wrapped Searcher. It is safe for concurrent use.
type Searcher struct {
	*search.Searcher
	options Options
	memory  *memory
	shared  *shared // nil: no Redis
	flights flights
	metrics *metrics
	work    sync.WaitGroup // flights
}

// New wraps a searcher; Close it.
func New(inner *search.Searcher, o Options) (*Searcher, error) {
	if o.TTL <= 0 {
		return nil, fault.Invalid("ttl", o.TTL, "a duration > 0")
	}
	if o.Memory <= 0 {
		return nil, fault.Invalid("memory", o.Memory, "bytes, more than 0")
	}
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	s := &Searcher{Searcher: inner, options: o, flights: flights{open: map[key]*flight{}}}
	var err error
	if s.memory, err = newMemory(o.Memory); err != nil {
		return nil, err
	}
	s.metrics = newMetrics(o.Registry, s.memory.bytes)
	if o.Redis != nil {
		if s.shared, err = newShared(&o, s.metrics.failures.Inc); err != nil {
			return nil, fault.Wrap(fault.Internal, err, "make the cache of answers")
		}
	}
	return s, nil
}

// Close waits for the computations in progress; no search may follow.
func (s *Searcher) Close() {
	s.work.Wait()
	if s.shared != nil {
		s.shared.close()
	}
}

// Search answers as the wrapped searcher does, from the cache if possible.
// Cached marks an answer that was not computed for this request.
func (s *Searcher) Search(ctx context.Context, scope access.Scope, req search.Request) (*search.Response, error) {
	response, _, err := s.search(ctx, scope, req, s.memory.get)
	return response, err
}

// SearchShared is Search for those who want nothing but the JSON: a cached answer
// has it as Shared, in memory common to all its readers.
func (s *Searcher) SearchShared(
	ctx context.Context, scope access.Scope, req search.Request,
) (*search.Response, error) {
	response, shared, err := s.search(ctx, scope, req, s.memory.getShared)
	if err != nil || shared == nil {
		return response, err
	}
	return &search.Response{
		QueryID: response.QueryID, Cached: response.Cached, TookMS: response.TookMS,
		Preset: response.Preset, Timings: response.Timings, Shared: shared,
	}, nil
}

// search answers; kept reads the answer from memory.
func (s *Searcher) search(
	ctx context.Context, scope access.Scope, req search.Request,
	kept func(key, time.Duration) (*search.Response, bool),
) (*search.Response, *search.Shared, error) {
	started := time.Now()
	ctx = engine.OneSearch(ctx) // the key's requests to engines belong to it
	stands := newBasis()
	k, ok := s.keyFor(ctx, scope, &req, stands)
	if !ok {
		s.metrics.count(passedBy)
		response, err := s.Searcher.Search(ctx, scope, req)
		return response, nil, err
	}
	if found, ok := kept(k, s.options.TTL); ok {
		s.metrics.count(fromMemory)
		return reissue(found, started), found.Shared, nil
	}
	f, first := s.flights.join(ctx, k)
	if first != nil {
		keeping := &engine.Keeping{States: stands.states}
		s.work.Go(func() { s.fly(keeping.In(first), f, scope, req, stands) })
	}
	response, err := s.flights.wait(ctx, f)
	if err != nil {
		return nil, nil, err
	}
	if first == nil {
		s.metrics.count(fromFlight)
	}
	if first == nil || f.kept {
		response = reissue(response, started)
	}
	return response, f.shared, nil
}

// keyFor gives the key of a request whose answer may be cached.
func (s *Searcher) keyFor(
	ctx context.Context, scope access.Scope, req *search.Request, stands *basis,
) (k key, ok bool) {
	exact := req.Exact != search.Exactness{} // which is not part of the key
	if exact || req.Explain || req.Cache != nil && !*req.Cache {
		return k, false
	}
	k, err := s.keyOf(ctx, scope, req, stands)
	return k, err == nil // the search itself reports errors of the request
}

// reissue gives a computed answer an identity of its own.
func reissue(response *search.Response, started time.Time) *search.Response {
	own := *response
	own.Cached, own.QueryID = true, search.NewQueryID()
	own.TookMS = float64(time.Since(started).Nanoseconds()) / 1e6
	return &own
}

// fly finds or computes the answer for all who wait, and caches it unless its basis was edited meanwhile.
func (s *Searcher) fly(ctx context.Context, f *flight, scope access.Scope, req search.Request, stood *basis) {
	defer f.cancel()
	defer func() {
		if p := recover(); p != nil { // nothing above this goroutine would catch it
			s.options.Logger.Error("a search panicked", "panic", p, "stack", string(debug.Stack()))
			s.flights.land(f, nil, nil, fault.New(fault.Internal, "the search failed unexpectedly"))
		}
	}()
	if s.shared != nil {
		if found, response, ok := s.shared.get(ctx, f.key); ok {
			s.memory.put(f.key, found)
			s.metrics.count(fromRedis)
			f.kept = true
			s.flights.land(f, response, found.shared, nil)
			return
		}
	}
	s.metrics.count(computed)
	since := time.Now()
	response, err := s.Searcher.Search(ctx, scope, req)
	if err != nil || len(response.Degraded) > 0 || engine.KeepingOf(ctx).Outdated() ||
		s.edited(stood, scope, &req) {
		s.flights.land(f, response, nil, err)
		return
	}
	text, err := response.AppendJSON(nil)
	if err != nil { // the waiting requests fail when they write it
		s.flights.land(f, response, nil, nil)
		return
	}
	answer := newKept(since, response, text)
	s.memory.put(f.key, answer)
	s.flights.land(f, response, answer.shared, nil)
	if s.shared != nil {
		s.shared.put(context.WithoutCancel(ctx), f.key, answer)
	}
}
