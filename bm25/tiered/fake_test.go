package tiered

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/bm25"
	"github.com/hybridge-search/hybridge/textquery"
)

// database is a Source, a Store and a Locker in memory, shared by the caches of a
// test as by gateways.
type database struct {
	mu         sync.Mutex
	generation int64
	nextKey    uint32
	rows       map[uint32]row
	deleted    map[uint32]int64 // key → generation
	trimmed    int64            // deletions to this generation are no longer in the log
	base       *Blob
	deltas     []Blob
	drops      int

	locks   chan struct{} // holds one token
	reading func()        // called in Changes after the snapshot was taken, if set
	reads   int
	failing error
}

type row struct {
	generation int64
	tokens     []string
}

func newDatabase() *database {
	d := &database{rows: map[uint32]row{}, deleted: map[uint32]int64{}, locks: make(chan struct{}, 1)}
	d.locks <- struct{}{}
	return d
}

// write deletes and adds chunks in one generation, and gives the new keys.
func (d *database) write(del []uint32, texts ...[]string) (keys []uint32) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.generation++
	for _, key := range del {
		if _, ok := d.rows[key]; ok {
			delete(d.rows, key)
			d.deleted[key] = d.generation
		}
	}
	for _, tokens := range texts {
		d.nextKey++
		d.rows[d.nextKey] = row{d.generation, tokens}
		keys = append(keys, d.nextKey)
	}
	return keys
}

func (d *database) now() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.generation
}

// docs are the chunks as they are.
func (d *database) docs() []bm25.Doc {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.after(0)
}

func (d *database) after(generation int64) []bm25.Doc {
	var out []bm25.Doc
	for _, key := range slices.Sorted(maps.Keys(d.rows)) {
		if r := d.rows[key]; r.generation > generation {
			out = append(out, bm25.Doc{Key: key, Tokens: r.tokens})
		}
	}
	return out
}

func (d *database) Changes(ctx context.Context, _ Index, after int64, visit func(Changes) error) (int64, error) {
	d.mu.Lock()
	d.reads++
	seen, docs, reading, err := d.generation, d.after(after), d.reading, d.failing
	var deleted []uint32
	for key, generation := range d.deleted {
		if generation > after && after > 0 {
			deleted = append(deleted, key)
		}
	}
	if after > 0 && after < d.trimmed {
		err = ErrLogTrimmed
	}
	d.mu.Unlock()
	if reading != nil {
		reading()
	}
	if err != nil || seen <= after {
		return seen, err
	}
	for part := range slices.Chunk(docs, 64) {
		if err := visit(Changes{Added: part}); err != nil {
			return 0, err
		}
	}
	if len(deleted) > 0 {
		err = visit(Changes{Deleted: deleted})
	}
	return seen, err
}

func (d *database) Load(context.Context, Index) ([]Blob, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.base == nil {
		return nil, nil
	}
	return append([]Blob{*d.base}, d.deltas...), nil
}

func (d *database) Head(context.Context, Index) (h Head, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.head(), nil
}

func (d *database) head() (h Head) {
	if d.base == nil {
		return h
	}
	h = Head{To: d.base.To, BaseDocs: d.base.Docs}
	for _, b := range d.deltas {
		h.To, h.Deltas, h.DeltaDocs = b.To, h.Deltas+1, h.DeltaDocs+b.Docs
	}
	return h
}

func (d *database) Save(_ context.Context, _ Index, b Blob) (bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if b.From != 0 {
		if d.base == nil || d.head().To != b.From {
			return false, nil
		}
		d.deltas = append(d.deltas, b)
		return true, nil
	}
	if d.base != nil && d.base.To > b.To {
		return false, nil
	}
	d.base = &b
	d.deltas = slices.DeleteFunc(d.deltas, func(x Blob) bool { return x.From < b.To })
	return true, nil
}

func (d *database) Drop(context.Context, Index) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.base, d.deltas = nil, nil
	d.drops++
	return nil
}

func (d *database) Lock(ctx context.Context, _ Index) (func(), error) {
	select {
	case <-d.locks:
		return func() { d.locks <- struct{}{} }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

var manuals = Index{KnowledgeBase: 7, Field: "content", Options: bm25.Options{Fingerprint: "test/1"}, Name: "acme/manuals"}

// open makes a cache of the database that is closed with the test.
func open(t interface{ Cleanup(func()) }, d *database, change ...func(*Options)) *Cache {
	o := Options{Source: d, Store: d, Locker: d, Log: slog.New(slog.NewTextHandler(io.Discard, nil))}
	for _, f := range change {
		f(&o)
	}
	c := New(o)
	t.Cleanup(c.Close)
	return c
}

// settled waits until nothing runs in the background.
func (c *Cache) settled() { c.running.Wait() }

func at(t *testing.T, c *Cache, generation int64) *bm25.Snapshot {
	t.Helper()
	s, err := c.At(t.Context(), manuals, generation)
	if err != nil {
		t.Fatalf("At(%d): %v", generation, err)
	}
	return s
}

func fresh(t interface{ Fatal(...any) }, docs []bm25.Doc) *bm25.Snapshot {
	o := manuals.Options
	o.LiveStatistics = true
	x := bm25.New(o)
	if err := x.Add(docs); err != nil {
		t.Fatal(err)
	}
	return x.Snapshot()
}

func query(words ...string) *textquery.Query {
	q := &textquery.Query{}
	for _, w := range words {
		q.Terms = append(q.Terms, textquery.Term{Text: w, Weight: 1})
	}
	return q
}

// same compares an index with one built from scratch, bit by bit.
func same(t interface {
	Context() context.Context
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}, got *bm25.Snapshot, docs []bm25.Doc,
) {
	t.Helper()
	want := fresh(t, docs)
	if got.Docs() != want.Docs() {
		t.Fatalf("%d chunks, wanted %d", got.Docs(), want.Docs())
	}
	for _, q := range []*textquery.Query{query("w0"), query("w1", "w3"), query("w2", "w5", "w7")} {
		if a, b := got.Search(t.Context(), q, 1000, nil), want.Search(t.Context(), q, 1000, nil); !slices.Equal(a, b) {
			t.Fatalf("%v\ngives  %v\nwanted %v", q.Terms, a, b)
		}
	}
}

// texts makes n chunks of few words.
func texts(n int) [][]string {
	out := make([][]string, n)
	for i := range out {
		for j := range 2 + i%5 {
			out[i] = append(out[i], fmt.Sprint("w", (i*j+i)%9))
		}
	}
	return out
}

func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for range 500 {
		if ok() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("never:", what)
}
