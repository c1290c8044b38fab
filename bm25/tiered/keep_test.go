package tiered

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/hybridge-search/hybridge/bm25"
	"github.com/hybridge-search/hybridge/fault"
	_ "github.com/hybridge-search/hybridge/internal/properties" // fewer cases in make test
)

func TestASmallChangeWritesASmallPart(t *testing.T) {
	d := newDatabase()
	keys := d.write(nil, texts(3000)...)
	c := open(t, d, func(o *Options) { o.DeltaRows = 100 })
	ask := func() {
		same(t, at(t, c, d.now()), d.docs())
		c.settled()
	}
	f := func(what string, want Head) {
		t.Helper()
		if got := d.head(); got != want {
			t.Errorf("%s: stored is %+v, wanted %+v", what, got, want)
		}
	}
	ask()
	f("built", Head{To: 1, BaseDocs: 3000})
	d.write(keys[:1], texts(10)...)
	ask()
	f("after 11 rows", Head{To: 1, BaseDocs: 3000})
	d.write(keys[1:50], texts(50)...)
	ask()
	f("after 110 rows", Head{To: 3, BaseDocs: 3000, Deltas: 1, DeltaDocs: 110})
	if base, delta := len(d.base.Data), len(d.deltas[0].Data); delta > base/3 {
		t.Errorf("110 rows were stored in %d bytes, 3000 in %d", delta, base)
	}
	d.write(nil, texts(200)...)
	ask()
	f("after 200 more", Head{To: 4, BaseDocs: 3000, Deltas: 2, DeltaDocs: 310})
	d.write(nil, texts(450)...)
	ask()
	f("after a quarter", Head{To: 5, BaseDocs: 3660})

	d.write(keys[50:150])
	ask()
	f("after deletions", Head{To: 6, BaseDocs: 3660, Deltas: 1, DeltaDocs: 100})
	same(t, at(t, open(t, d), 6), d.docs())
}

func TestTwoGatewaysContinueOneChain(t *testing.T) {
	d := newDatabase()
	d.write(nil, texts(2000)...)
	small := func(o *Options) { o.DeltaRows = 50 }
	a, b := open(t, d, small), open(t, d, small)
	for range 6 {
		d.write(nil, texts(60)...)
		same(t, at(t, a, d.now()), d.docs())
		same(t, at(t, b, d.now()), d.docs())
		a.settled()
		b.settled()
	}
	if h := d.head(); h.To != d.now() || h.Deltas != 5 || h.DeltaDocs != 300 {
		t.Errorf("stored is %+v at generation %d", h, d.now())
	}
	same(t, at(t, open(t, d), d.now()), d.docs())
}

// stored gives a database with a base and two deltas of the index.
func storedChain(t *testing.T) *database {
	d := newDatabase()
	keys := d.write(nil, texts(1200)...)
	c := open(t, d, func(o *Options) { o.DeltaRows = 20 })
	for i := range 3 {
		at(t, c, d.now())
		c.settled()
		d.write(keys[i*10:i*10+10], texts(20)...)
	}
	if h := d.head(); h.Deltas != 2 {
		t.Fatalf("stored is %+v; want h.Deltas 2", h)
	}
	return d
}

// A bit flipped anywhere in any part is found, counted once, and the part is
// replaced; the answer is right all the same.
func TestDamagedPartsAreReplaced(t *testing.T) {
	for damaged := range 3 {
		d := storedChain(t)
		part := d.base
		if damaged > 0 {
			part = &d.deltas[damaged-1]
		}
		part.Data = slices.Clone(part.Data)
		part.Data[len(part.Data)/2] ^= 4
		c := open(t, d)
		same(t, at(t, c, d.now()), d.docs())
		c.settled()
		if got, _ := c.Totals(); got.Repairs != 1 || got.Saves != 1 {
			t.Errorf("part %d damaged: counted %+v; want got.Repairs 1 and got.Saves 1", damaged, got)
		}
		next := open(t, d)
		same(t, at(t, next, d.now()), d.docs())
		if got, _ := next.Totals(); got.Repairs != 0 || got.Store != 1 {
			t.Errorf("part %d damaged and replaced: counted %+v; want got.Repairs 0 and got.Store 1", damaged, got)
		}
	}
}

// One bit flipped at a thousand random places: each is found, counted, and what
// it is in is replaced, while the answer is right.
func TestEveryBitFlipIsFound(t *testing.T) {
	d := newDatabase()
	d.write(nil, texts(60)...)
	small := func(o *Options) { o.DeltaRows = 5 }
	builder := open(t, d, small)
	at(t, builder, 1)
	builder.settled()
	d.write([]uint32{2}, texts(6)...)
	at(t, builder, 2)
	builder.settled()
	if h := d.head(); h.Deltas != 1 {
		t.Fatalf("stored is %+v; want h.Deltas 1", h)
	}
	base, deltas := *d.base, d.deltas
	want := fresh(t, d.docs()).Search(t.Context(), query("w1", "w3"), 100, nil)
	r := rand.New(rand.NewPCG(5, 5))
	for i := range 1000 {
		whole := base
		d.base, d.deltas = &whole, slices.Clone(deltas)
		part := []*Blob{d.base, &d.deltas[0]}[i%2]
		part.Data = slices.Clone(part.Data)
		bit := r.IntN(8 * len(part.Data))
		part.Data[bit/8] ^= 1 << (bit % 8)
		c := open(t, d)
		hits := at(t, c, 2).Search(t.Context(), query("w1", "w3"), 100, nil)
		c.settled()
		if !slices.Equal(hits, want) {
			t.Fatalf("bit %d of part %d flipped: %v", bit, i%2, hits)
		}
		if got, _ := c.Totals(); got.Repairs != 1 || got.Saves != 1 {
			t.Fatalf("bit %d of part %d flipped: counted %+v; want got.Repairs 1 and got.Saves 1", bit, i%2, got)
		}
		c.Close()
	}
	for n := range len(base.Data) {
		if _, err := decodeBlob(live(manuals), Blob{To: base.To, Data: base.Data[:n]}); !fault.Is(err, fault.Corrupt) {
			t.Fatalf("cut to %d bytes: %v; want an error of kind Corrupt", n, err)
		}
	}
}

func live(i Index) Index { i.Options.LiveStatistics = true; return i }

func TestAPartBelongsToItsPlace(t *testing.T) {
	d := storedChain(t)
	f := func(what string, index Index, b Blob, kind fault.Kind) {
		t.Helper()
		if _, err := decodeBlob(live(index), b); !fault.Is(err, kind) {
			t.Errorf("%s: %v", what, err)
		}
	}
	other := manuals
	other.Field = "question"
	f("another field", other, *d.base, fault.Corrupt)
	other = manuals
	other.KnowledgeBase++
	f("another knowledge base", other, *d.base, fault.Corrupt)
	other = manuals
	other.Options.Fingerprint = "test/2"
	f("another analyzer", other, *d.base, fault.Conflict)
	moved := d.deltas[0]
	moved.To++
	f("another generation", manuals, moved, fault.Corrupt)
	if _, _, err := restore(live(manuals), []Blob{*d.base, d.deltas[1]}); !fault.Is(err, fault.Corrupt) {
		t.Errorf("a chain with a hole: %v; want an error of kind Corrupt", err)
	}
	if _, _, err := restore(live(manuals), d.deltas); !fault.Is(err, fault.Corrupt) {
		t.Errorf("a chain without a base: %v", err)
	}
}

func TestAnotherAnalyzerBuildsAnew(t *testing.T) {
	d := storedChain(t)
	index := manuals
	index.Options.Fingerprint = "test/2"
	c := open(t, d)
	s, err := c.At(t.Context(), index, d.now())
	if err != nil {
		t.Fatal(err)
	}
	same(t, s, d.docs())
	c.settled()
	if got, _ := c.Totals(); got.Builds != 1 || got.Repairs != 0 || d.head().To != d.now() {
		t.Errorf("counted %+v, stored %+v", got, d.head())
	}
}

func FuzzDecodeBlob(f *testing.F) {
	b, err := encodeBlob(live(manuals), 0, 3, []uint32{4, 9}, fresh(f, []bm25.Doc{{Key: 12, Tokens: []string{"w1"}}}))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b.Data)
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := decodeBlob(live(manuals), Blob{To: 3, Data: data})
		if err == nil && !bytes.Equal(data, b.Data) && p.added == nil {
			t.Error("a part without an index and without an error")
		}
	})
}

// Whatever is written, and whichever tiers are emptied or damaged on the way,
// two gateways always answer as an index built from scratch.
func TestAlwaysAsBuiltFromScratch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := newDatabase()
		small := func(o *Options) { o.DeltaRows, o.Keep = 8, 1 }
		gateways := []*Cache{open(t, d, small), open(t, d, small)}
		for range rapid.IntRange(3, 25).Draw(t, "steps") {
			i := rapid.IntRange(0, 1).Draw(t, "gateway")
			switch rapid.SampledFrom([]string{"write", "write", "search", "search", "restart", "damage", "invalidate", "trim"}).Draw(t, "step") {
			case "write":
				keys := rapid.SliceOfN(rapid.Uint32Range(1, d.nextKey+1), 0, 6).Draw(t, "deleted")
				d.write(keys, texts(rapid.IntRange(0, 12).Draw(t, "added"))...)
			case "search":
				s, err := gateways[i].At(t.Context(), manuals, d.now())
				if err != nil {
					t.Fatal(err)
				}
				same(t, s, d.docs())
			case "restart":
				gateways[i].Close()
				gateways[i] = open(t, d, small)
			case "damage":
				d.damage(rapid.IntRange(0, 1<<20).Draw(t, "bit"))
			case "invalidate":
				if err := gateways[i].Invalidate(t.Context(), manuals); err != nil {
					t.Fatal(err)
				}
			case "trim":
				d.mu.Lock()
				d.trimmed = d.generation
				d.mu.Unlock()
			}
		}
	})
}

// damage flips a bit of a stored part.
func (d *database) damage(bit int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.base == nil {
		return
	}
	parts := []*Blob{d.base}
	for i := range d.deltas {
		parts = append(parts, &d.deltas[i])
	}
	part := parts[bit%len(parts)]
	part.Data = slices.Clone(part.Data)
	part.Data[bit/8%len(part.Data)] ^= 1 << (bit % 8)
}
