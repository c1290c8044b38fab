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
func (s *Searcher) Search(ctx context.Context, scope access.Scope, req search.Request) (*search.Response, error) {
	started := time.Now()
	k, ok := s.keeps(ctx, scope, &req)
	if !ok {
		return s.Searcher.Search(ctx, scope, req)
	}
	found, again, err := s.answer(ctx, k, query{scope: scope, req: req, whole: true})
	if err != nil {
		return nil, err
	}
	return found.response(again, started)
}

// Append is Search for who sends the answer: one that is kept is not read, but sent as
// the bytes that it is.
func (s *Searcher) Append(
	ctx context.Context, scope access.Scope, req search.Request, to []byte,
) ([]byte, search.Note, error) {
	started := time.Now()
	k, ok := s.keeps(ctx, scope, &req)
	if !ok {
		return s.Searcher.Append(ctx, scope, req, to)
	}
	found, again, err := s.answer(ctx, k, query{scope: scope, req: req})
	if err != nil {
		return to, search.Note{}, err
	}
	return found.append(to, again, started)
}

// keeps gives the key that the answer to a request is kept under, if it may be.
func (s *Searcher) keeps(ctx context.Context, scope access.Scope, req *search.Request) (k key, ok bool) {
	if !req.Explain && (req.Cache == nil || *req.Cache) {
		var err error
		if k, err = s.keyOf(ctx, scope, req); err == nil {
			return k, true
		} // the search says itself what is wrong
	}
	s.metrics.count(passedBy)
	return k, false
}

// answer finds or computes; again tells an answer that was not computed for this query.
func (s *Searcher) answer(ctx context.Context, k key, q query) (found *answer, again bool, err error) {
	if data, ok := s.remembered(k); ok {
		s.metrics.count(fromMemory)
		return &answer{kept: data}, true, nil
	}
	joined, own := s.flights.join(ctx, k)
	if own != nil {
		s.work.Go(func() { s.fly(own, k, joined, q) })
	}
	if found, err = s.flights.wait(ctx, k, joined); err != nil {
		return nil, false, err
	}
	if own == nil {
		s.metrics.count(fromFlight)
	}
	return found, own == nil || found.shared, nil
}

// remembered gives the answer that the memory has and that is young enough.
func (s *Searcher) remembered(k key) (kept, bool) {
	found, ok := s.memory.get(k)
	return found, ok && time.Since(found.since) <= s.options.TTL
}

type query struct {
	scope access.Scope
	req   search.Request
	whole bool // a response is wanted, not only its JSON
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
			s.memory.put(k, found)
			s.metrics.count(fromRedis)
			s.flights.land(k, f, &answer{kept: found, shared: true}, nil)
			return
		}
	}
	computed, err := s.compute(ctx, q)
	if err != nil || computed.data == nil || len(computed.note.Degraded) > 0 {
		s.flights.land(k, f, computed, err)
		return
	}
	s.memory.put(k, computed.kept)
	s.flights.land(k, f, computed, nil)
	if s.shared != nil {
		s.shared.put(context.WithoutCancel(ctx), k, computed.kept)
	}
}
