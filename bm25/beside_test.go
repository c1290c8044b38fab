package bm25

import (
	"bytes"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/hybridge-search/hybridge/fault"
	_ "github.com/hybridge-search/hybridge/internal/properties" // fewer cases in make test
)

// sameSearch compares two snapshots bit by bit.
func sameSearch(t *rapid.T, got, want *Snapshot) {
	t.Helper()
	q := drawQuery(t)
	if a, b := got.Search(t.Context(), q, 50, nil), want.Search(t.Context(), q, 50, nil); !slices.Equal(a, b) {
		t.Fatalf("%+v\ngives  %v\nwanted %v", q, a, b)
	}
	docs, avg, df := got.Stats(vocabularyOf(9))
	wantDocs, wantAvg, wantDF := want.Stats(vocabularyOf(9))
	if docs != wantDocs || avg != wantAvg || !slices.Equal(df, wantDF) {
		t.Fatalf("%d chunks of %v tokens, %v; wanted %d of %v, %v", docs, avg, df, wantDocs, wantAvg, wantDF)
	}
}

// With live statistics the way to a set of chunks (batches, deletions, merges,
// storing, appending) leaves no trace in the scores.
func TestLiveStatisticsForgetDeletedChunks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := Options{Variant: rapid.SampledFrom([]Variant{Lucene, Okapi}).Draw(t, "variant"), LiveStatistics: true}
		x := New(o)
		live := map[uint32]Doc{}
		var next uint32
		for range rapid.IntRange(1, 6).Draw(t, "steps") {
			add := drawDocs(t, &next, 6)
			del := rapid.SliceOfN(rapid.Uint32Range(0, next), 0, 5).Draw(t, "deleted")
			del = slices.DeleteFunc(del, func(key uint32) bool {
				return slices.ContainsFunc(add, func(d Doc) bool { return d.Key == key })
			})
			for _, d := range add {
				live[d.Key] = d
			}
			for _, key := range del {
				delete(live, key)
			}
			if err := step(t, x, add, del); err != nil {
				t.Fatal(err)
			}
			x = afterwards(t, x)
		}
		var docs []Doc
		for _, d := range live {
			docs = append(docs, d)
		}
		slices.SortFunc(docs, func(a, b Doc) int { return int(a.Key) - int(b.Key) })
		fresh := New(o)
		if err := fresh.Add(docs); err != nil {
			t.Fatal(err)
		}
		sameSearch(t, x.Snapshot(), fresh.Snapshot())
	})
}

// step applies a change, or appends an index that has it.
func step(t *rapid.T, x *Index, add []Doc, del []uint32) error {
	if rapid.Bool().Draw(t, "append") {
		other := New(x.opts)
		if err := other.Add(add); err != nil {
			return err
		}
		return x.Append(other.Snapshot(), del)
	}
	return x.Change(add, del)
}

func afterwards(t *rapid.T, x *Index) *Index {
	switch rapid.SampledFrom([]string{"nothing", "merge", "compact", "store"}).Draw(t, "afterwards") {
	case "merge":
		x.Merge()
	case "compact":
		x.Compact()
	case "store":
		var buf bytes.Buffer
		if _, err := x.Snapshot().WriteTo(&buf); err != nil {
			t.Fatal(err)
		}
		y, err := Read(buf.Bytes(), x.opts)
		if err != nil {
			t.Fatal(err)
		}
		return y
	}
	return x
}

func TestMergesGoOnBesideWriters(t *testing.T) {
	x := New(Options{LiveStatistics: true})
	done := make(chan struct{})
	var mergers sync.WaitGroup
	for range 2 {
		mergers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				x.Merge()
				x.Compact()
			}
		})
	}
	docs := zipfDocs(5, 3000, 10, 50)
	var live []Doc
	for i := 0; i < len(docs); i += 10 {
		var del []uint32
		if i >= 100 {
			del = []uint32{docs[i-1].Key, docs[i-50].Key, docs[i-97].Key}
		}
		live = slices.DeleteFunc(live, func(d Doc) bool { return slices.Contains(del, d.Key) })
		live = append(live, docs[i:i+10]...)
		if err := x.Change(docs[i:i+10], del); err != nil {
			t.Error(err)
		}
		if got := x.Snapshot().Docs(); got != len(live) {
			t.Errorf("%d chunks are alive, wanted %d", got, len(live))
		}
	}
	close(done)
	mergers.Wait()
	fresh := New(x.opts)
	if err := fresh.Add(live); err != nil {
		t.Fatal(err)
	}
	q := termQuery("w1", "w7")
	got, want := x.Snapshot().Search(t.Context(), q, 500, nil), fresh.Snapshot().Search(t.Context(), q, 500, nil)
	if !slices.Equal(got, want) {
		t.Error("after merges beside writers other scores")
	}
}

func TestAppendRefuses(t *testing.T) {
	x := someIndex(t, Options{})
	for o, kind := range map[Options]fault.Kind{
		{}:                       fault.InvalidArgument,
		{Variant: Okapi}:         fault.Conflict,
		{WithoutPositions: true}: fault.Conflict,
	} {
		if err := x.Append(someIndex(t, o).Snapshot(), nil); !fault.Is(err, kind) {
			t.Errorf("Append of %+v = %v, wanted %s", o, err, kind)
		}
	}
}
