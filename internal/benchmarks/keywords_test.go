package benchmarks

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/hybridge-search/hybridge/bm25"
	"github.com/hybridge-search/hybridge/bm25/tiered"
	"github.com/hybridge-search/hybridge/internal/devservices"
	"github.com/hybridge-search/hybridge/internal/realtokens"
)

const (
	keywordChunks = 100_000
	keywordLoads  = 9
	addedChunks   = 100
)

// BenchmarkKeywordTiers takes one index of real sentences through all tiers: built on
// one processor with gojieba, loaded from Redis and from bytes as a database
// gives them, and brought up to date after a small write.
func BenchmarkKeywordTiers(b *testing.B) {
	r := openRedis(b)
	onOneProcessor(b)
	analyzer, err := realtokens.Analyzer()
	if err != nil {
		b.Fatal(err)
	}
	with := &bench{texts: keywordTexts(b, keywordChunks+keywordLoads*addedChunks), terms: analyzer.Terms, shown: keywordChunks}
	built := with.build(b, bm25.Options{}, r)
	without := &bench{texts: with.texts, terms: analyzer.Terms, shown: keywordChunks}
	builtWithout := without.build(b, bm25.Options{WithoutPositions: true}, nil)
	textBytes := 0
	for _, t := range with.texts[:keywordChunks] {
		textBytes += len(t)
	}
	fromRedis, fromStore := with.load(b, r), with.load(b, nil)
	show(
		b,
		figure{"text-MB", float64(textBytes) / 1e6},
		figure{"build-s", built.Seconds()},
		figure{"build-without-positions-s", builtWithout.Seconds()},
		figure{"stored-%-of-text", 100 * float64(with.size()) / float64(textBytes)},
		figure{"stored-without-positions-%-of-text", 100 * float64(without.size()) / float64(textBytes)},
		figure{"redis-load-ms", fromRedis},
		figure{"database-load-ms", fromStore},
		figure{"add-100-ms", with.add(b)},
	)
}

// sentence is one with its mark and the space after it, or what stands in its place.
var sentence = regexp.MustCompile(`[^。！？!?.\n]+[。！？!?.\n]*\s*`)

// keywordTexts are n texts of which no two are the same: each as long as one of the data
// sets' own, made of sentences drawn from its set. A text that stands there again would be
// stored for next to nothing, as what is stored is compressed.
func keywordTexts(b *testing.B, n int) []string {
	b.Helper()
	type model struct{ length, set int }
	var models []model
	sentences := make([][]string, len(sets))
	for s, set := range sets {
		for _, e := range readEntries(b, set, "corpus") {
			text := e.Title + " " + e.Text
			models = append(models, model{len(text), s})
			sentences[s] = append(sentences[s], sentence.FindAllString(text, -1)...)
		}
	}
	random := rand.New(rand.NewPCG(5, 5))
	seen := make(map[string]bool, n)
	all := make([]string, 0, n)
	for len(all) < n {
		like := models[random.IntN(len(models))]
		text := drawn(random, sentences[like.set], like.length)
		if !seen[text] {
			seen[text] = true
			all = append(all, text)
		}
	}
	return all
}

// drawn joins random sentences until they are about as long as wanted.
func drawn(random *rand.Rand, sentences []string, length int) string {
	const halfASentence = 60 // bytes: so a text ends as near to its length as sentences allow
	var text strings.Builder
	for text.Len() == 0 || text.Len()+halfASentence < length {
		text.WriteString(sentences[random.IntN(len(sentences))])
	}
	return text.String()
}

func openRedis(b *testing.B) *tiered.Redis {
	b.Helper()
	o, err := tiered.ParseRedisURL(devservices.StartRedis(b).URL)
	if err != nil {
		b.Fatal(err)
	}
	client := redis.NewClient(o)
	b.Cleanup(func() { _ = client.Close() })
	return tiered.NewRedis(client, tiered.RedisOptions{Timeout: time.Minute})
}

// bench is a database in memory that holds the first texts; its generation is
// their number.
type bench struct {
	texts []string
	terms func(string) []string
	shown int
	index tiered.Index
	blobs []tiered.Blob
}

// Changes implements tiered.Source.
func (d *bench) Changes(_ context.Context, _ tiered.Index, after int64, visit func(tiered.Changes) error) (int64, error) {
	for from := int(after); from < d.shown; {
		to := min(from+4096, d.shown)
		part := make([]bm25.Doc, to-from)
		for i := range part {
			part[i] = bm25.Doc{Key: uint32(from + i), Tokens: d.terms(d.texts[from+i])}
		}
		if err := visit(tiered.Changes{Added: part}); err != nil {
			return 0, err
		}
		from = to
	}
	return int64(d.shown), nil
}

// Load implements tiered.Store.
func (d *bench) Load(context.Context, tiered.Index) ([]tiered.Blob, error) { return d.blobs, nil }

// Head implements tiered.Store.
func (d *bench) Head(context.Context, tiered.Index) (h tiered.Head, err error) {
	for _, blob := range d.blobs {
		h.To, h.BaseDocs = blob.To, blob.Docs
	}
	return h, nil
}

// Save implements tiered.Store.
func (d *bench) Save(_ context.Context, _ tiered.Index, blob tiered.Blob) (bool, error) {
	d.blobs = []tiered.Blob{blob}
	return true, nil
}

// Drop implements tiered.Store.
func (d *bench) Drop(context.Context, tiered.Index) error { return nil }

// Lock implements tiered.Locker.
func (d *bench) Lock(context.Context, tiered.Index) (func(), error) { return func() {}, nil }

func (d *bench) open(r *tiered.Redis) *tiered.Cache {
	return tiered.New(tiered.Options{
		Source: d, Store: d, Locker: d, Redis: r, Wait: time.Hour, MemoryBytes: 4 << 30,
		DeltaRows: 1 << 30, Log: slog.New(slog.DiscardHandler),
	})
}

// ask measures how long a search waits for its index.
func (d *bench) ask(b *testing.B, c *tiered.Cache) time.Duration {
	b.Helper()
	runtime.GC()
	start := time.Now()
	if _, err := c.At(b.Context(), d.index, int64(d.shown)); err != nil {
		b.Fatal(err)
	}
	return time.Since(start)
}

// build measures the first search; it returns when the index is stored, in Redis
// too when the first new process finds it there.
func (d *bench) build(b *testing.B, o bm25.Options, r *tiered.Redis) time.Duration {
	b.Helper()
	d.index = tiered.Index{KnowledgeBase: 1, Field: "content", Options: o, Name: "bench"}
	c := d.open(r)
	b.Cleanup(c.Close)
	took := d.ask(b, c)
	for n, _ := c.Totals(); n.Saves == 0; n, _ = c.Totals() {
		time.Sleep(10 * time.Millisecond)
	}
	return took
}

func (d *bench) size() (bytes int) {
	for _, blob := range d.blobs {
		bytes += len(blob.Data)
	}
	return bytes
}

// load is the median, in milliseconds, of searches by new processes.
func (d *bench) load(b *testing.B, r *tiered.Redis) float64 {
	b.Helper()
	var took []float64
	for len(took) < keywordLoads {
		c := d.open(r)
		ms := milliseconds(d.ask(b, c))
		n, _ := c.Totals()
		c.Close()
		if r == nil || n.Redis == 1 {
			took = append(took, ms)
		}
	}
	return median(took)
}

// add is the median, in milliseconds, of searches after writes.
func (d *bench) add(b *testing.B) float64 {
	b.Helper()
	c := d.open(nil)
	defer c.Close()
	d.ask(b, c)
	var took []float64
	for range keywordLoads {
		d.shown += addedChunks
		took = append(took, milliseconds(d.ask(b, c)))
	}
	return median(took)
}
