package tiered

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/sony/gobreaker/v2"

	"github.com/hybridge-search/hybridge/fault"
)

// RedisOptions set L2 up.
type RedisOptions struct {
	TTL      time.Duration // how long an index stays; 0 means an hour
	Timeout  time.Duration // of a command, and 1 s more for each 32 MB of a load or save; 0 means 1 s
	Cooldown time.Duration // how long Redis is left alone after failing thrice; 0 means 10 s
	Log      *slog.Logger  // nil for slog's default
}

// Redis is L2: a copy of what the store has. It never fails anybody: what goes
// wrong is a miss, and after three times it is not asked for a while.
type Redis struct {
	client  redis.UniversalClient
	opts    RedisOptions
	breaker *gobreaker.CircuitBreaker[struct{}]
	errors  atomic.Uint64
}

// ParseRedisURL gives the options of a client that respects deadlines, does not
// repeat what failed and writes no log, for redis:// and rediss:// URLs.
func ParseRedisURL(url string) (*redis.Options, error) {
	o, err := redis.ParseURL(url)
	if err != nil {
		return nil, &fault.Error{
			Kind: fault.InvalidArgument, Field: "redis.url", Err: err,
			Detail: "redis.url cannot be read; it must look like redis://user:password@host:6379/0",
		}
	}
	logging.Disable() // of go-redis, on standard error: its users count and log what fails
	o.ContextTimeoutEnabled = true
	o.MaxRetries = -1
	o.DialerRetries = 1
	o.DialTimeout = cmp.Or(o.DialTimeout, 500*time.Millisecond)
	return o, nil
}

// NewRedis uses a client, which stays the caller's. Its options should be those of
// ParseRedisURL: without ContextTimeoutEnabled no timeout here works.
func NewRedis(client redis.UniversalClient, o RedisOptions) *Redis {
	o.TTL = cmp.Or(o.TTL, time.Hour)
	o.Timeout = cmp.Or(o.Timeout, time.Second)
	o.Cooldown = cmp.Or(o.Cooldown, 10*time.Second)
	o.Log = cmp.Or(o.Log, slog.Default())
	r := &Redis{client: client, opts: o}
	r.breaker = gobreaker.NewCircuitBreaker[struct{}](gobreaker.Settings{
		Name:        "redis",
		Timeout:     o.Cooldown,
		ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= 3 },
		OnStateChange: func(_ string, from, to gobreaker.State) {
			o.Log.Warn("Redis, the second tier of keyword indexes", "was", from, "is", to)
		},
	})
	return r
}

// Errors counts commands that failed or took too long.
func (r *Redis) Errors() uint64 { return r.errors.Load() }

// Healthy reports whether Redis is asked at all.
func (r *Redis) Healthy() bool { return r.breaker.State() != gobreaker.StateOpen }

// leastSpeed is how many bytes a second Redis must move to be worth asking.
const leastSpeed = 32 << 20

// try runs f, which moves so many bytes, in the time that this may take, unless
// Redis failed lately.
func (r *Redis) try(ctx context.Context, bytes int, f func(context.Context) error) {
	ctx, stop := context.WithTimeout(ctx, r.opts.Timeout+time.Duration(bytes)*time.Second/leastSpeed)
	defer stop()
	_, err := r.breaker.Execute(func() (struct{}, error) { return struct{}{}, f(ctx) })
	switch {
	case err == nil, errors.Is(err, gobreaker.ErrOpenState), errors.Is(err, gobreaker.ErrTooManyRequests):
	default:
		r.errors.Add(1)
		r.opts.Log.Debug("Redis failed", "error", err)
	}
}

// span is a blob in the list of an index's parts. The list is a hash with `to`,
// the generation of the last, and `parts`, the spans as JSON; the data of a blob
// is cut into pieces under keys of their own, which name its checksum: no writer
// changes what another one's list names.
type span struct {
	From int64  `json:"from"`
	To   int64  `json:"to"`
	Docs int    `json:"docs"`
	Size int    `json:"size"` // bytes, 0 when not known
	Sum  string `json:"sum"`
}

func spanOf(b Blob) span {
	sum := b.Data[max(0, len(b.Data)-sumSize):]
	return span{From: b.From, To: b.To, Docs: b.Docs, Size: len(b.Data), Sum: hex.EncodeToString(sum)}
}

// pieceSize bounds one value in Redis, in bytes: a larger one would hold up
// everybody else's commands.
const pieceSize = 8 << 20

// key names an index: all that its content depends on, in readable parts and a
// hash. The braces keep its keys on one node of a cluster.
func (i Index) key() string {
	sum := xxhash.Sum64String(fmt.Sprintf("%q %+v", i.Field, i.Options))
	return fmt.Sprintf("{hybridge:bm25:%d:%016x}", i.KnowledgeBase, sum)
}

// pieces are the keys of a blob's data.
func (s span) pieces(index Index) []string {
	keys := make([]string, (s.Size+pieceSize-1)/pieceSize)
	for i := range keys {
		keys[i] = fmt.Sprintf("%s:%d-%d:%s:%d", index.key(), s.From, s.To, s.Sum, i)
	}
	return keys
}

// load gives the parts of an index; none when one of them is missing.
func (r *Redis) load(ctx context.Context, index Index) (blobs []Blob) {
	var spans []span
	r.try(ctx, 0, func(ctx context.Context) (err error) {
		spans, err = r.list(ctx, index)
		return err
	})
	if len(spans) == 0 {
		return nil
	}
	r.try(ctx, sizeOf(spans), func(ctx context.Context) (err error) {
		blobs, err = r.fetch(ctx, index, spans)
		return err
	})
	return blobs
}

func sizeOf(spans []span) (bytes int) {
	for _, s := range spans {
		bytes += s.Size
	}
	return bytes
}

// list gives the spans in Redis; none when there is no list that can be read.
func (r *Redis) list(ctx context.Context, index Index) ([]span, error) {
	list, err := r.client.HGet(ctx, index.key(), "parts").Bytes()
	if errors.Is(err, redis.Nil) {
		return nil, nil
	}
	return readSpans(list), err
}

func readSpans(list []byte) (spans []span) {
	if json.Unmarshal(list, &spans) != nil {
		return nil // the next save replaces it
	}
	return spans
}

func (r *Redis) fetch(ctx context.Context, index Index, spans []span) ([]Blob, error) {
	var blobs []Blob
	for _, s := range spans {
		b := Blob{From: s.From, To: s.To, Docs: s.Docs}
		for _, key := range s.pieces(index) {
			piece, err := r.client.Get(ctx, key).Bytes()
			if errors.Is(err, redis.Nil) {
				return nil, nil
			}
			if err != nil {
				return nil, err
			}
			if b.Data == nil {
				b.Data = piece
			} else {
				b.Data = append(b.Data, piece...)
			}
		}
		blobs = append(blobs, b)
	}
	return blobs, nil
}

// publishParts sets the list unless a newer one is there, and gives the one that
// it replaces: an older build cannot hide a newer one.
var publishParts = redis.NewScript(`
	local to = redis.call('HGET', KEYS[1], 'to')
	if to and tonumber(to) > tonumber(ARGV[1]) then return '[]' end
	local old = redis.call('HGET', KEYS[1], 'parts') or '[]'
	redis.call('HSET', KEYS[1], 'to', ARGV[1], 'parts', ARGV[2])
	redis.call('PEXPIRE', KEYS[1], ARGV[3])
	return old`)

// save writes the parts that have data and makes the list the index's. Readers
// find the old parts until the new list is there.
func (r *Redis) save(ctx context.Context, index Index, parts []Blob) {
	spans := make([]span, len(parts))
	for i, b := range parts {
		spans[i] = spanOf(b)
	}
	r.try(ctx, sizeOf(spans), func(ctx context.Context) error {
		known, err := r.list(ctx, index)
		if err != nil || !complete(spans, known) {
			return err // a part is not here: the next load from the database brings all
		}
		for i, b := range parts {
			if err := r.put(ctx, spans[i].pieces(index), b.Data); err != nil {
				return err
			}
		}
		return r.publish(ctx, index, spans)
	})
}

// complete fills in spans without data by those in Redis; false when one is not
// there.
func complete(spans, known []span) bool {
	for i, s := range spans {
		if s.Size > 0 {
			continue
		}
		at := slices.IndexFunc(known, func(k span) bool { return k.From == s.From && k.To == s.To })
		if at < 0 {
			return false
		}
		spans[i] = known[at]
	}
	return true
}

// put writes the pieces of a part, or makes them last longer when it has no data.
func (r *Redis) put(ctx context.Context, keys []string, data []byte) error {
	for i, key := range keys {
		if data == nil {
			if err := r.client.PExpire(ctx, key, r.opts.TTL).Err(); err != nil {
				return err
			}
			continue
		}
		piece := data[i*pieceSize : min(len(data), (i+1)*pieceSize)]
		if err := r.client.Set(ctx, key, piece, r.opts.TTL).Err(); err != nil {
			return err
		}
	}
	return nil
}

func (r *Redis) publish(ctx context.Context, index Index, spans []span) error {
	list, err := json.Marshal(spans)
	if err != nil {
		return err
	}
	to := spans[len(spans)-1].To
	old, err := publishParts.Run(ctx, r.client, []string{index.key()}, to, list, r.opts.TTL.Milliseconds()).Text()
	if err != nil {
		return err
	}
	return r.unlink(ctx, index, readSpans([]byte(old)), spans)
}

// unlink removes the pieces of old spans that are not kept.
func (r *Redis) unlink(ctx context.Context, index Index, old, kept []span) error {
	var gone []string
	for _, s := range old {
		if !slices.Contains(kept, s) {
			gone = append(gone, s.pieces(index)...)
		}
	}
	if len(gone) == 0 {
		return nil
	}
	return r.client.Unlink(ctx, gone...).Err()
}

// drop removes an index.
func (r *Redis) drop(ctx context.Context, index Index) {
	r.try(ctx, 0, func(ctx context.Context) error {
		old, err := r.list(ctx, index)
		if err != nil {
			return err
		}
		if err := r.client.Unlink(ctx, index.key()).Err(); err != nil {
			return err
		}
		return r.unlink(ctx, index, old, nil)
	})
}
