package embedded

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	"pgregory.net/rapid"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/filter"
	_ "github.com/hybridge-search/hybridge/internal/properties" // fewer cases in make test
)

// TestJoin wants of segments joined what one made of all their rows knows.
func TestJoin(t *testing.T) {
	values := []filter.Value{{V: "red"}, {V: "blue"}, {V: 1.0}, {V: -2.5}, {V: true}, {V: false}}
	rapid.Check(t, func(r *rapid.T) {
		var all records
		var rows []uint32
		var parts []*segment
		next := uint32(0)
		for range rapid.IntRange(1, 6).Draw(r, "segments") {
			from := len(rows)
			for range rapid.IntRange(1, 80).Draw(r, "rows") {
				next += rapid.Uint32Range(1, 3).Draw(r, "gap")
				rows = append(rows, next)
				// Ids repeat, as they do when a chunk is written anew.
				rec := record{id: fmt.Sprint("c", rapid.IntRange(0, 300).Draw(r, "id")), documentID: fmt.Sprint("d", next/40)}
				for _, field := range []string{"a", "b"} {
					if list := rapid.SliceOfN(rapid.SampledFrom(values), 0, 3).Draw(r, field); len(list) > 0 {
						rec.fields = append(rec.fields, fieldValues{field, list})
					}
				}
				all = all.with([]entry{{row: next, record: rec}})
			}
			parts = append(parts, newSegment(rows[from:], &all))
		}
		got, want := known(joinedSegments(parts)[0]), known(newSegment(rows, &all))
		if !reflect.DeepEqual(got, want) {
			r.Fatalf("joined %v, want %v", got, want)
		}
		if got := known(merged(parts, roaring.BitmapOf(rows...), &all)); !reflect.DeepEqual(got, want) {
			r.Fatalf("merged %v, want %v", got, want)
		}
	})
}

// known is what a segment knows, as lines; ids that stand twice in their rows' order.
func known(s *segment) []string {
	lines := []string{fmt.Sprint(s.rows.ToArray())}
	ids := slices.Clone(s.ids)
	if !slices.IsSortedFunc(ids, func(a, b idRow) int { return cmp.Compare(a.id, b.id) }) {
		lines = append(lines, "ids out of order")
	}
	slices.SortFunc(ids, func(a, b idRow) int { return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.row, b.row)) })
	lines = append(lines, fmt.Sprint(ids))
	add := func(what string, p posting) {
		rows := roaring.New()
		p.addTo(rows)
		lines = append(lines, fmt.Sprint(what, rows.ToArray(), p.bitmap != nil))
	}
	for _, field := range slices.Sorted(maps.Keys(s.columns)) {
		c := s.columns[field]
		lines = append(lines, fmt.Sprint(field, c.exists.ToArray()))
		for i, v := range c.numbers.values {
			add(fmt.Sprint(field, v), c.numbers.postings[i])
		}
		for i, v := range c.strings.values {
			add(fmt.Sprint(field, v), c.strings.postings[i])
		}
		add(field+" false", c.bools[0])
		add(field+" true", c.bools[1])
	}
	return lines
}

// TestPartsOfTheTable wants the same of the table's rows however many parts they
// are read in.
func TestPartsOfTheTable(t *testing.T) {
	e := opened(t)
	kb := engine.KnowledgeBase{
		Ref: engine.Ref{Tenant: "t", ID: "kb"}, Engine: "embedded", Kind: engine.KindChunks, Dimensions: 500,
	}
	if err := e.CreateKnowledgeBase(t.Context(), kb); err != nil {
		t.Fatal(err)
	}
	fillUnevenly(t, e, kb)
	b := e.bases[kb.Ref]
	whole, _, err := b.read(t.Context(), leastPart)
	if err != nil {
		t.Fatal(err)
	}
	parts, _, err := b.read(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if parts.partShift(1, 3000, 0) >= whole.partShift(1, 3000, leastPart) {
		t.Fatal("there is one part only")
	}
	sameRows(t, whole, b.current.Load())
	sameRows(t, parts, b.current.Load())
	if got, want := known(parts.segments[0]), known(whole.segments[0]); !reflect.DeepEqual(got, want) {
		t.Errorf("segment %v, want %v", got, want)
	}
}

// fillUnevenly writes chunks of which some have no vector, some are hidden, some
// are written again under their ids, and some are deleted.
func fillUnevenly(t *testing.T, e *Engine, kb engine.KnowledgeBase) {
	t.Helper()
	for i := range 3000 {
		c := engine.Chunk{
			ID: fmt.Sprint("c", i%2500), DocumentID: fmt.Sprint("d", i/7), Content: "word", Available: i%5 > 0,
			Metadata: map[string]any{"year": float64(i % 30)},
		}
		if i%3 > 0 {
			v := make([]float32, kb.Dimensions)
			v[i%kb.Dimensions] = 2
			c.Vectors = map[string][]float32{engine.FieldVector: v}
		}
		if _, err := e.Write(t.Context(), engine.WriteRequest{KB: kb, Chunks: []engine.Chunk{c}}); err != nil {
			t.Fatal(err)
		}
		if i%250 > 0 {
			continue
		}
		if _, err := e.DeleteDocument(t.Context(), kb, fmt.Sprint("d", i/14)); err != nil {
			t.Fatal(err)
		}
	}
}

func sameRows(t *testing.T, got, want *snapshot) {
	t.Helper()
	if !got.live.Equals(want.live) || !got.visible.Equals(want.visible) ||
		got.bytes != want.bytes || got.generation != want.generation {
		t.Errorf("%d rows of %d bytes, %d visible, generation %d; want %d of %d, %d, %d",
			got.live.GetCardinality(), got.bytes, got.visible.GetCardinality(), got.generation,
			want.live.GetCardinality(), want.bytes, want.visible.GetCardinality(), want.generation)
	}
	vectors := got.vectors[0]
	if !vectors.present.Equals(want.vectors[0].present) || len(got.segments) != 1 {
		t.Errorf("%d rows with vectors, want %d; %d segments",
			vectors.present.GetCardinality(), want.vectors[0].present.GetCardinality(), len(got.segments))
	}
	for rows := want.live.Iterator(); rows.HasNext(); {
		row := rows.Next()
		if !reflect.DeepEqual(got.records.at(row), want.records.at(row)) {
			t.Errorf("row %d is %+v, want %+v", row, got.records.at(row), want.records.at(row))
		}
		if vectors.present.Contains(row) && !slices.Equal(vectors.at(row), want.vectors[0].at(row)) {
			t.Errorf("row %d has another vector", row)
		}
	}
}
