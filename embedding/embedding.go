// Package embedding turns text into vectors by an OpenAI-compatible endpoint:
// OpenAI, Ollama, TEI, vLLM, or the local model that package embedding/local
// supervises. It checks what a server answers: count, order, dimension, finite
// values.
package embedding

import (
	"context"
	"crypto/sha256"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/sony/gobreaker/v2"
	"golang.org/x/sync/singleflight"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/tracing"
)

// Kind says what a text is. Models of the e5 family embed the two differently.
type Kind string

// The kinds of text.
const (
	Query   Kind = "query"
	Passage Kind = "passage"
	Plain   Kind = "plain" // a text as it is: no prefix, no parameters of its kind
)

// Client embeds text. It is safe for concurrent use.
type Client struct {
	options   Options
	endpoint  string
	http      *http.Client
	breaker   *gobreaker.CircuitBreaker[[][]float32]
	cache     *lru.Cache[[sha256.Size]byte, []float32]
	flights   singleflight.Group
	dimension atomic.Int64 // 0 until the options or a response tell
	answered  atomic.Bool  // the server has embedded something

	life context.Context // of query flights, which outlive the callers
	end  context.CancelFunc
}

// New checks the options and makes a client; it sends nothing.
func New(options Options) (*Client, error) {
	options = options.withDefaults()
	endpoint, err := options.validate()
	if err != nil {
		return nil, err
	}
	cache, err := lru.New[[sha256.Size]byte, []float32](options.CacheSize)
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "make the cache of query vectors")
	}
	c := &Client{options: options, endpoint: endpoint, http: options.httpClient(), cache: cache}
	c.breaker = newBreaker(options.Cooldown)
	c.dimension.Store(int64(options.Dimensions))
	c.life, c.end = context.WithCancel(context.Background())
	return c, nil
}

// Close ends what is under way and the idle connections.
func (c *Client) Close() {
	c.end()
	c.http.CloseIdleConnections()
}

// Model is the model's name, as the server knows it.
func (c *Client) Model() string { return c.options.Model }

// Dimensions is the length of every vector; it asks the server once when the
// options do not say.
func (c *Client) Dimensions(ctx context.Context) (int, error) {
	if known := c.dimension.Load(); known > 0 {
		return int(known), nil
	}
	vector, err := c.Query(ctx, "dimensions")
	return len(vector), err
}

// Ping embeds a word, at once and without a second try.
func (c *Client) Ping(ctx context.Context) error {
	_, err := c.post(ctx, Query, []string{harmless})
	return c.publicError(ctx, err)
}

// Query embeds a question: [dim]float32, the caller's own. Vectors are cached;
// callers with the same text share one request, which goes on when one of them
// gives up.
func (c *Client) Query(ctx context.Context, text string) ([]float32, error) {
	if strings.TrimSpace(text) == "" {
		return nil, fault.Invalid("query", text, "text to embed")
	}
	key := sha256.Sum256([]byte(text))
	if vector, ok := c.cache.Get(key); ok {
		return slices.Clone(vector), nil
	}
	flight := c.flights.DoChan(string(key[:]), func() (any, error) {
		vectors, err := c.send(tracing.Within(ctx, c.life), Query, []string{text})
		if err != nil {
			return nil, err
		}
		c.cache.Add(key, vectors[0])
		return vectors[0], nil
	})
	select {
	case landed := <-flight:
		if landed.Err != nil {
			return nil, landed.Err
		}
		return slices.Clone(landed.Val.([]float32)), nil
	case <-ctx.Done():
		return nil, c.publicError(ctx, ctx.Err())
	}
}

// Passages embeds texts in batches: [len(texts)][dim]float32 in their order.
// One failure fails the call.
func (c *Client) Passages(ctx context.Context, texts []string) ([][]float32, error) {
	return c.inBatches(ctx, Passage, texts)
}

// Texts is Passages for texts that are sent as they are, whatever the model's prefixes.
func (c *Client) Texts(ctx context.Context, texts []string) ([][]float32, error) {
	return c.inBatches(ctx, Plain, texts)
}

func (c *Client) inBatches(ctx context.Context, kind Kind, texts []string) ([][]float32, error) {
	for i, text := range texts {
		if strings.TrimSpace(text) == "" {
			return nil, fault.Invalid("texts["+strconv.Itoa(i)+"]", text, "text to embed")
		}
	}
	vectors := make([][]float32, 0, len(texts))
	for batch := range slices.Chunk(texts, c.options.BatchSize) {
		embedded, err := c.send(ctx, kind, batch)
		if err != nil {
			return nil, err
		}
		vectors = append(vectors, embedded...)
	}
	return vectors, nil
}

// Answered reports whether the server has ever embedded anything.
func (c *Client) Answered() bool { return c.answered.Load() }

// Healthy reports whether the breaker lets requests through.
func (c *Client) Healthy() bool { return c.breaker.State() != gobreaker.StateOpen }

// learnDimension keeps the dimension of the first response and returns the expected one.
func (c *Client) learnDimension(seen int) (expected int) {
	c.dimension.CompareAndSwap(0, int64(seen))
	return int(c.dimension.Load())
}

// newBreaker keeps an unavailable server from costing every search its timeout: after
// failuresToOpen failures in a row nothing is sent for the cooldown, then one request
// tries.
func newBreaker(cooldown time.Duration) *gobreaker.CircuitBreaker[[][]float32] {
	return gobreaker.NewCircuitBreaker[[][]float32](gobreaker.Settings{
		Name:         "embedding",
		Timeout:      cooldown,
		ReadyToTrip:  func(counts gobreaker.Counts) bool { return counts.ConsecutiveFailures >= failuresToOpen },
		IsSuccessful: func(err error) bool { return !failureOf(err).serverDown },
		IsExcluded:   func(err error) bool { return failureOf(err).callerGone },
	})
}

const failuresToOpen = 3
