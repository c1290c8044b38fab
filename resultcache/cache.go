package resultcache

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/search"
)

// Options say how long and where answers are kept.
type Options struct {
	TTL    time.Duration         // > 0
	Memory int64                 // bytes, > 0
	Redis  redis.UniversalClient // the caller's; nil: memory alone
	// Fingerprint names what the searcher is made with: another one, other answers.
	Fingerprint string
	// Synonyms names the synonyms in use for a knowledge base; nil: there are none.
	Synonyms func(engine.Ref) string
	Logger   *slog.Logger          // nil: discarded
	Registry prometheus.Registerer // nil: no metrics
}

// Searcher answers searches from what it keeps, and does everything else as the
// Searcher that it is made of. It is safe for concurrent use.
type Searcher struct {
	*search.Searcher
	options Options
	memory  *memory
	shared  *shared // nil: no Redis
	flights flights
	metrics *metrics
	work    sync.WaitGroup // flights
}

// New keeps the answers of a searcher; Close it.
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
	if s.memory, err = newMemory(o.Memory, o.TTL); err != nil {
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

// Close waits for the computations under way; no search may follow.
func (s *Searcher) Close() {
	s.work.Wait()
	s.memory.close()
	if s.shared != nil {
		s.shared.close()
	}
}

// Search answers as the searcher within does, from what is kept where it can.
// Cached tells an answer that was not computed for this request.
func (s *Searcher) Search(ctx context.Context, scope search.Scope, req search.Request) (*search.Response, error) {
	started := time.Now()
	if req.Explain || req.Cache != nil && !*req.Cache {
		s.metrics.count(passedBy)
		return s.Searcher.Search(ctx, scope, req)
	}
	k, err := s.keyOf(ctx, scope, &req)
	if err != nil {
		s.metrics.count(passedBy)
		return s.Searcher.Search(ctx, scope, req) // says itself what is wrong
	}
	if answer := s.remembered(k); answer != nil {
		s.metrics.count(fromMemory)
		return again(answer, started), nil
	}
	joined, own := s.flights.join(ctx, k)
	if own != nil {
		s.work.Go(func() { s.fly(own, k, joined, query{scope, req}) })
	}
	answer, err := s.flights.wait(ctx, k, joined)
	switch {
	case err != nil:
		return nil, err
	case own == nil:
		s.metrics.count(fromFlight)
		return again(answer, started), nil
	case answer.Cached:
		return again(answer, started), nil
	default:
		return answer, nil
	}
}

// again is an answer given once more: everybody's own to change at the top.
func again(answer *search.Response, started time.Time) *search.Response {
	own := *answer
	own.Cached, own.QueryID = true, search.NewQueryID()
	own.TookMS = float64(time.Since(started).Nanoseconds()) / 1e6
	return &own
}

type query struct {
	scope search.Scope
	req   search.Request
}

// fly finds or computes the answer for all who wait, and keeps it.
func (s *Searcher) fly(ctx context.Context, k key, f *flight, q query) {
	defer f.cancel()
	defer func() {
		if p := recover(); p != nil { // nobody above this goroutine would catch it
			s.options.Logger.Error("a search panicked", "panic", p, "stack", string(debug.Stack()))
			s.flights.land(k, f, nil, fault.New(fault.Internal, "the search failed unexpectedly"))
		}
	}()
	if s.shared != nil {
		if found, ok := s.shared.get(ctx, k); ok {
			if answer := read(found); answer != nil {
				s.memory.put(k, found)
				s.metrics.count(fromRedis)
				answer.Cached = true
				s.flights.land(k, f, answer, nil)
				return
			}
		}
	}
	since := time.Now()
	answer, err := s.Searcher.Search(ctx, q.scope, q.req)
	s.metrics.count(computed)
	if err != nil || len(answer.Degraded) > 0 {
		s.flights.land(k, f, answer, err)
		return
	}
	data, unwritable := answer.AppendJSON(nil)
	if unwritable == nil {
		s.memory.put(k, kept{since: since, data: data})
	}
	s.flights.land(k, f, answer, nil)
	if unwritable == nil && s.shared != nil {
		s.shared.put(context.WithoutCancel(ctx), k, kept{since: since, data: data})
	}
}

// remembered gives the answer that the memory has, nil when it has none that is
// young enough.
func (s *Searcher) remembered(k key) *search.Response {
	found, ok := s.memory.get(k)
	if !ok || time.Since(found.since) > s.options.TTL {
		return nil
	}
	return read(found)
}

func read(found kept) *search.Response {
	var answer search.Response
	if json.Unmarshal(found.data, &answer) != nil {
		return nil
	}
	return &answer
}
