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

	"github.com/hybridge-search/hybridge/search"
)

const (
	// redisTimeout bounds a command. Most answers are computed in a few milliseconds,
	// so waiting longer for a cached one gains nothing.
	redisTimeout = 100 * time.Millisecond
	// redisCooldown is how long Redis is not asked after redisFailures in a row.
	redisCooldown = 10 * time.Second
	redisFailures = 3
	redisPrefix   = "hybridge:answer:"
	// maxKept bounds an answer in bytes, unpacked.
	maxKept = 64 << 20
)

// shared is the second tier: Redis. Any failure there is a miss, never an error.
type shared struct {
	client   redis.UniversalClient
	ttl      time.Duration
	breaker  *gobreaker.CircuitBreaker[[]byte]
	packer   *zstd.Encoder
	unpacker *zstd.Decoder
	failed   func()
}

func newShared(o *Options, failed func()) (*shared, error) {
	packer, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	unpacker, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxKept))
	if err != nil {
		return nil, err
	}
	log := o.Logger
	return &shared{
		client: o.Redis, ttl: o.TTL, packer: packer, unpacker: unpacker, failed: failed,
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

// do runs a command within the time limit; nil if it fails, and during the cooldown
// after failures.
func (s *shared) do(ctx context.Context, command func(context.Context) ([]byte, error)) []byte {
	ctx, cancel := context.WithTimeout(ctx, redisTimeout)
	defer cancel()
	data, err := s.breaker.Execute(func() ([]byte, error) { return command(ctx) })
	switch {
	case err == nil:
		return data
	case errors.Is(err, gobreaker.ErrOpenState), errors.Is(err, gobreaker.ErrTooManyRequests):
	case errors.Is(err, context.Canceled): // every request gave up
	default:
		s.failed()
	}
	return nil
}

// get gives the answer of a key. An expired or unreadable one is a miss.
func (s *shared) get(ctx context.Context, k key) (kept, *search.Response, bool) {
	packed := s.do(ctx, func(ctx context.Context) ([]byte, error) {
		data, err := s.client.Get(ctx, nameOf(k)).Bytes()
		if errors.Is(err, redis.Nil) {
			return nil, nil
		}
		return data, err
	})
	if len(packed) < timeSize {
		return kept{}, nil, false
	}
	text, err := s.unpacker.DecodeAll(packed[timeSize:], nil)
	if err != nil {
		return kept{}, nil, false
	}
	answer := kept{since: time.UnixMilli(int64(binary.BigEndian.Uint64(packed))), text: text}
	response, ok := answer.response(s.ttl)
	if ok {
		answer = newKept(answer.since, response, text)
	}
	return answer, response, ok
}

// timeSize is the size of the time in front of the packed answer, in Unix milliseconds.
const timeSize = 8

func (s *shared) put(ctx context.Context, k key, answer kept) {
	packed := binary.BigEndian.AppendUint64(nil, uint64(answer.since.UnixMilli()))
	packed = s.packer.EncodeAll(answer.text, packed)
	s.do(ctx, func(ctx context.Context) ([]byte, error) {
		return nil, s.client.Set(ctx, nameOf(k), packed, s.ttl).Err()
	})
}

func nameOf(k key) string { return redisPrefix + hex.EncodeToString(k[:]) }

func (s *shared) close() { s.unpacker.Close() }
