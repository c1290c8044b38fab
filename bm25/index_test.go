package bm25

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/textquery"
)

func termQuery(terms ...string) *textquery.Query {
	q := &textquery.Query{}
	for _, t := range terms {
		q.Terms = append(q.Terms, textquery.Term{Text: t, Weight: 1})
	}
	return q
}

func TestKeysMustAscend(t *testing.T) {
	x := New(Options{})
	f := func(ok bool, keys ...uint32) {
		t.Helper()
		var docs []Doc
		for _, k := range keys {
			docs = append(docs, Doc{Key: k, Tokens: []string{"a"}})
		}
		before := x.Snapshot().Docs()
		err := x.Add(docs)
		if ok && err != nil || !ok && !fault.Is(err, fault.InvalidArgument) {
			t.Errorf("Add(%v) = %v; want not ok or no error and ok or an error of kind InvalidArgument", keys, err)
		}
		if !ok && x.Snapshot().Docs() != before {
			t.Errorf("a refused Add(%v) changed the index", keys)
		}
	}
	f(true, 0, 1, 5)
	f(false, 5)
	f(false, 7, 7)
	f(false, 9, 8)
	f(true, 6)
	f(true, 1<<32-1)
	f(false, 1<<32-1)
	x.Delete([]uint32{1<<32 - 1})
	f(false, 7) // a key is never used again
}

func TestEmptyIndexAndEmptyQueries(t *testing.T) {
	x := New(Options{})
	full := New(Options{})
	if err := full.Add([]Doc{{Key: 3, Tokens: []string{"", "a"}}, {Key: 4}}); err != nil {
		t.Fatal(err)
	}
	for _, s := range []*Snapshot{x.Snapshot(), full.Snapshot()} {
		for _, q := range []*textquery.Query{nil, {}, termQuery("unknown"), {Phrases: []textquery.Phrase{{Terms: []string{"a"}}}}} {
			if hits := s.Search(t.Context(), q, 10, nil); len(hits) != 0 {
				t.Errorf("Search(%v) = %v; want no hits", q, hits)
			}
			if got := s.Scores(t.Context(), q, []uint32{3}); got[0] != 0 {
				t.Errorf("Scores(%v) = %v; want got[0] 0", q, got)
			}
			s.ScoreAll(t.Context(), q, func(key uint32, _ float32) { t.Errorf("ScoreAll(%v) gave %d", q, key) })
		}
		if hits := s.Search(t.Context(), termQuery("a"), 0, nil); len(hits) != 0 {
			t.Errorf("the best 0 are %v; want no hits", hits)
		}
		if m := s.Match(t.Context(), textquery.Phrase{}); !m.IsEmpty() {
			t.Errorf("the empty phrase matches %v", m)
		}
	}
	if hits := full.Snapshot().Search(t.Context(), termQuery(""), 10, nil); len(hits) != 1 || hits[0].Key != 3 {
		t.Errorf("the empty token is found in %v; want 1 hits and hits[0].Key 3", hits)
	}
	docs, avg, df := full.Snapshot().Stats([]string{"a", "unknown", ""})
	if docs != 1 || avg != 2 || !slices.Equal(df, []int{1, 0, 1}) {
		t.Errorf("Stats = %d, %v, %v; the chunk without tokens must not count", docs, avg, df)
	}
	if full.Snapshot().Docs() != 2 || full.Snapshot().Bytes() == 0 {
		t.Errorf("Docs = %d, Bytes = %d; want full.Snapshot().Docs() 2 and full.Snapshot().Bytes() other than 0", full.Snapshot().Docs(), full.Snapshot().Bytes())
	}
}

func TestSmallSegmentsAreMerged(t *testing.T) {
	x := New(Options{})
	for key := range uint32(5000) {
		if err := x.Add([]Doc{{Key: key, Tokens: []string{"a", fmt.Sprint(key % 10)}}}); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(x.Snapshot().views); n >= 3*fanIn {
		t.Errorf("5000 chunks are in %d segments; want n below 3 * fanIn", n)
	}
	var half []uint32
	for key := uint32(0); key < 5000; key += 2 {
		half = append(half, key)
	}
	x.Delete(half)
	x.Delete([]uint32{1, 1, 77777})
	if docs, _, _ := x.Snapshot().Stats(nil); docs > 2600 || x.Snapshot().Docs() != 2499 {
		t.Errorf("%d chunks count, %d are alive; half of every segment was deleted; want docs at most 2600 and x.Snapshot().Docs() 2499", docs, x.Snapshot().Docs())
	}
	x.Delete(x.Snapshot().Keys().ToArray())
	if s := x.Snapshot(); s.Docs() != 0 || len(s.views) != 0 {
		t.Errorf("%d chunks in %d segments after all were deleted; want s.Docs() 0 and no s.views", s.Docs(), len(s.views))
	}
}

func TestUnusableParametersAreTheDefaults(t *testing.T) {
	f := func(o Options, k1, b float64) {
		t.Helper()
		if got := o.withDefaults(); got.K1 != k1 || got.B != b {
			t.Errorf("%+v: k1 %v, b %v; want %v, %v", o, got.K1, got.B, k1, b)
		}
	}
	f(Options{}, 1.2, .75)
	f(Options{Variant: Okapi}, 1.5, .75)
	f(Options{K1: 2}, 2, 0)
	f(Options{K1: 2, B: 1}, 2, 1)
	f(Options{K1: -1, B: .5}, 1.2, .75)
	f(Options{K1: 1, B: 2}, 1.2, .75)
}

// A document is two chunks that are always replaced together: every reader sees
// exactly two chunks of one version.
func TestReadersNeverSeeHalfAChange(t *testing.T) {
	x := New(Options{})
	version := func(v uint32) []Doc {
		word := fmt.Sprint("v", v)
		return []Doc{{Key: 2 * v, Tokens: []string{"doc", word}}, {Key: 2*v + 1, Tokens: []string{"doc", word, "x"}}}
	}
	if err := x.Add(version(0)); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				s := x.Snapshot()
				hits := s.Search(t.Context(), termQuery("doc"), 10, nil)
				if len(hits) != 2 || hits[0].Key/2 != hits[1].Key/2 || s.Docs() != 2 {
					t.Errorf("a reader saw %v of %d chunks", hits, s.Docs())
					return
				}
				q := termQuery(fmt.Sprint("v", hits[0].Key/2))
				q.Phrases = []textquery.Phrase{{Terms: []string{"doc", q.Terms[0].Text}, Slop: 1, Weight: 1}}
				if got := s.Scores(t.Context(), q, []uint32{hits[0].Key, hits[1].Key}); got[0] <= 0 || got[1] <= 0 {
					t.Errorf("the scores of %v are %v; want got[0] above 0 and got[1] above 0", hits, got)
					return
				}
			}
		})
	}
	for v := uint32(1); v < 400; v++ {
		if err := x.Apply(version(v), []uint32{2*v - 2, 2*v - 1}); err != nil {
			t.Error(err)
		}
		if v%100 == 0 {
			x.Compact()
		}
	}
	close(done)
	readers.Wait()
}
