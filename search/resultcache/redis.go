package resultcache

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/redis/go-redis/v9"
	"github.com/sony/gobreaker/v2"
)

const (
	// redisTimeout bounds a command: an answer is computed in a few milliseconds,
	// so waiting longer for a kept one is worth nothing.
	redisTimeout = 100 * time.Millisecond
	// redisCooldown is how long Redis is left alone after failing thrice.
	redisCooldown = 10 * time.Second
	redisFailures = 3
	redisPrefix   = "hybridge:answer:"
	// maxKept bounds an answer unpacked, in bytes.
	maxKept = 64 << 20
)

// shared is the second tier. It never fails anybody: what goes wrong is a miss.
type shared struct {
	client  redis.UniversalClient
	ttl     time.Duration
	breaker *gobreaker.CircuitBreaker[[]byte]
	packer  *zstd.Encoder
	reader  *zstd.Decoder
	failed  func()
}

func newShared(o *Options, failed func()) (*shared, error) {
	packer, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	reader, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxKept))
	if err != nil {
		return nil, err
	}
	log := o.Logger
	return &shared{
		client: o.Redis, ttl: o.TTL, packer: packer, reader: reader, failed: failed,
		breaker: gobreaker.NewCircuitBreaker[[]byte](gobreaker.Settings{
			Name:        "redis",
			Timeout:     redisCooldown,
			ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= redisFailures },
			IsExcluded:  func(err error) bool { return errors.Is(err, context.Canceled) },
			OnStateChange: func(_ string, from, to gobreaker.State) {
				log.Warn("Redis, the second tier of kept answers", "was", from, "is", to)
			},
		}),
	}, nil
}

// do runs a command within the time limit, unless Redis failed lately.
func (s *shared) do(ctx context.Context, command func(context.Context) ([]byte, error)) []byte {
	ctx, cancel := context.WithTimeout(ctx, redisTimeout)
	defer cancel()
	data, err := s.breaker.Execute(func() ([]byte, error) { return command(ctx) })
	switch {
	case err == nil:
		return data
	case errors.Is(err, gobreaker.ErrOpenState), errors.Is(err, gobreaker.ErrTooManyRequests):
	case errors.Is(err, context.Canceled): // nobody waits any more
	default:
		s.failed()
	}
	return nil
}

// get gives the answer of a key that is not older than it may be. What cannot be
// read is none.
func (s *shared) get(ctx context.Context, k key) (kept, bool) {
	packed := s.do(ctx, func(ctx context.Context) ([]byte, error) {
		data, err := s.client.Get(ctx, nameOf(k)).Bytes()
		if errors.Is(err, redis.Nil) {
			return nil, nil
		}
		return data, err
	})
	if len(packed) < timeSize {
		return kept{}, false
	}
	since := time.UnixMilli(int64(binary.BigEndian.Uint64(packed)))
	data, err := s.reader.DecodeAll(packed[timeSize:], nil)
	if err != nil || time.Since(since) > s.ttl {
		return kept{}, false
	}
	note, ok := noteOf(data)
	return kept{since: since, data: data, note: note}, ok
}

// timeSize is of the time in front of the packed answer: Unix milliseconds.
const timeSize = 8

func (s *shared) put(ctx context.Context, k key, answer kept) {
	packed := binary.BigEndian.AppendUint64(nil, uint64(answer.since.UnixMilli()))
	packed = s.packer.EncodeAll(answer.data, packed)
	s.do(ctx, func(ctx context.Context) ([]byte, error) {
		return nil, s.client.Set(ctx, nameOf(k), packed, s.ttl).Err()
	})
}

func nameOf(k key) string { return redisPrefix + hex.EncodeToString(k[:]) }

func (s *shared) close() { s.reader.Close() }
