package bm25

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cespare/xxhash/v2"
	"pgregory.net/rapid"

	"github.com/hybridge-search/hybridge/fault"
)

func stored(t interface{ Fatal(...any) }, x *Index) []byte {
	var buf bytes.Buffer
	n, err := x.Snapshot().WriteTo(&buf)
	if err != nil || n != int64(buf.Len()) {
		t.Fatal("WriteTo gave", n, err, "for", buf.Len(), "bytes")
	}
	return buf.Bytes()
}

func TestStoredIndexIsTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := Options{
			Variant:          rapid.SampledFrom([]Variant{Lucene, Okapi}).Draw(t, "variant"),
			WithoutPositions: rapid.Bool().Draw(t, "without positions"),
			Fingerprint:      "jieba/7",
		}
		x := New(o)
		var docs []Doc
		var next uint32
		for range rapid.IntRange(0, 4).Draw(t, "batches") {
			add := drawDocs(t, &next, 6)
			if err := x.Apply(add, rapid.SliceOfN(rapid.Uint32Range(0, next), 0, 3).Draw(t, "deleted")); err != nil {
				t.Fatal(err)
			}
			docs = append(docs, add...)
		}
		data := stored(t, x)
		y, err := Read(data, o)
		if err != nil {
			t.Fatal(err)
		}
		q := drawQuery(t)
		a, b := x.Snapshot().Search(t.Context(), q, 20, nil), y.Snapshot().Search(t.Context(), q, 20, nil)
		if !slices.Equal(a, b) {
			t.Fatalf("%v before, %v after", a, b)
		}
		checkAgainst(t, y.Snapshot(), referenceOf(y.Snapshot(), docs), q)
		if !bytes.Equal(stored(t, y), data) {
			t.Fatal("written again, it differs")
		}
		more := drawDocs(t, &next, 3)
		if err := y.Add(more); err != nil {
			t.Fatal(err)
		}
		y.Compact()
		checkAgainst(t, y.Snapshot(), referenceOf(y.Snapshot(), append(docs, more...)), q)
	})
}

func someIndex(t interface{ Fatal(...any) }, o Options) *Index {
	x := New(o)
	for batch := range slices.Chunk(zipfDocs(3, 600, 15, 200), 400) {
		if err := x.Add(batch); err != nil {
			t.Fatal(err)
		}
	}
	x.Delete([]uint32{5, 6, 450})
	return x
}

func TestEveryBitFlipIsFound(t *testing.T) {
	data := stored(t, someIndex(t, Options{}))
	r := rand.New(rand.NewPCG(1, 1))
	for range 500 {
		bad := slices.Clone(data)
		at := r.IntN(8 * len(bad))
		bad[at/8] ^= 1 << (at % 8)
		if _, err := Read(bad, Options{}); !fault.Is(err, fault.Corrupt) {
			t.Fatalf("bit %d flipped: %v; want an error of kind Corrupt", at, err)
		}
	}
	for n := range len(data) {
		if n > 300 && n%97 > 0 {
			continue
		}
		if _, err := Read(data[:n], Options{}); !fault.Is(err, fault.Corrupt) {
			t.Fatalf("cut to %d bytes: %v; want an error of kind Corrupt", n, err)
		}
	}
}

func TestAnotherIndexIsAConflict(t *testing.T) {
	data := stored(t, someIndex(t, Options{Fingerprint: "a"}))
	f := func(data []byte, o Options) {
		t.Helper()
		if _, err := Read(data, o); !fault.Is(err, fault.Conflict) {
			t.Errorf("Read(%+v) = %v; want an error of kind Conflict", o, err)
		}
	}
	f(data, Options{})
	f(data, Options{Fingerprint: "b"})
	f(data, Options{Fingerprint: "a", WithoutPositions: true})
	newer := slices.Clone(data)
	newer[len(magic)]++
	f(sealed(newer), Options{Fingerprint: "a"})
	x, err := Read(data, Options{Fingerprint: "a", Variant: Okapi})
	if err != nil || len(x.Snapshot().Search(t.Context(), termQuery("w1"), 3, nil)) != 3 {
		t.Errorf("another variant of the same data: %v", err)
	}
}

// sealed sets the checksum that the content has.
func sealed(data []byte) []byte {
	if len(data) >= padding {
		body := data[:len(data)-padding]
		binary.LittleEndian.PutUint64(data[len(body):], xxhash.Sum64(body))
	}
	return data
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestAFailedWriteIsReported(t *testing.T) {
	if _, err := someIndex(t, Options{}).Snapshot().WriteTo(failingWriter{}); err == nil {
		t.Error("WriteTo did not report the error")
	}
}

// A file with the right checksum and wrong content must be refused, or be an
// index that can be searched, merged and written.
func FuzzRead(f *testing.F) {
	f.Add(stored(f, New(Options{})))
	f.Add(stored(f, someIndex(f, Options{})))
	small := New(Options{})
	_ = small.Add([]Doc{{Key: 1, Tokens: []string{"w1", "w2", "w1"}}, {Key: 9}, {Key: 12, Tokens: []string{"w2", "w1"}}})
	small.Delete([]uint32{12})
	f.Add(stored(f, small))
	f.Fuzz(func(t *testing.T, data []byte) { useIfRead(t, sealed(slices.Clone(data))) })
}

// useIfRead searches, merges and writes what Read accepts.
func useIfRead(t *testing.T, data []byte) {
	x, err := Read(data, Options{})
	if err != nil {
		if !fault.Is(err, fault.Corrupt) && !fault.Is(err, fault.Conflict) {
			t.Fatalf("Read gave %v; want an error of kind Corrupt or an error of kind Conflict", err)
		}
		return
	}
	q := randomQuery(rand.New(rand.NewPCG(1, 2)), 3)
	hits := x.Snapshot().Search(t.Context(), q, 5, nil)
	x.Compact()
	if len(hits) > 5 || x.Snapshot().Docs() != int(x.Snapshot().Keys().GetCardinality()) {
		t.Fatalf("%d hits, %d chunks", len(hits), x.Snapshot().Docs())
	}
	if _, err := Read(stored(t, x), Options{}); err != nil {
		t.Fatal(err)
	}
}

func TestDamageBehindTheChecksumIsHarmless(t *testing.T) {
	data := stored(t, someIndex(t, Options{}))
	r := rand.New(rand.NewPCG(4, 4))
	for range 2000 {
		bad := slices.Clone(data)
		for range 1 + r.IntN(3) {
			bad[len(magic)+1+r.IntN(len(bad)-len(magic)-1)] = byte(r.Uint32())
		}
		useIfRead(t, sealed(bad))
	}
}
