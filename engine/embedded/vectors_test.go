package embedded

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/hybridge-search/hybridge/lib/vector"
)

// TestCosines wants the bits that a dot product row by row gives, however the
// rows lie.
func TestCosines(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		field := newVectors(3)
		field.shift = 2 // four rows on a page
		component := rapid.Float32Range(-2, 2)
		units := map[uint32][]float32{}
		var entries []entry
		for row := range uint32(rapid.IntRange(0, 20).Draw(r, "rows")) {
			u := vector.Unit(rapid.SliceOfN(component, 3, 3).Draw(r, "vector"))
			entries = append(entries, entry{row: row, vectors: [][]float32{u}})
			if u != nil {
				units[row] = u
			}
		}
		field = field.with(entries, nil, 0)
		query := vector.Unit([]float32{component.Draw(r, "query"), 1, -1})
		rows := rapid.SliceOfDistinct(rapid.Uint32Range(0, 24), rapid.ID[uint32]).Draw(r, "block")
		slices.Sort(rows)
		got := make([]float32, len(rows))
		field.cosines(rows, query, got)
		for i, row := range rows {
			want := float32(math.NaN())
			if u, known := units[row]; known {
				want = max(-1, min(1, vector.Dot(u, query)))
			}
			if math.IsNaN(float64(want)) != math.IsNaN(float64(got[i])) || want == want && got[i] != want {
				r.Fatalf("row %d of %v: got %v, want %v", row, rows, got[i], want)
			}
		}
	})
}

// TestCosinesAreBounded: rounding puts the dot product of some unit vectors with
// themselves beyond 1; their cosine is 1, with the opposite vector -1.
func TestCosinesAreBounded(t *testing.T) {
	unit := vector.Unit([]float32{1, 0, 0})
	for i := 0; vector.Dot(unit, unit) <= 1; i++ {
		unit = vector.Unit([]float32{float32(i), 7, 3})
	}
	opposite := []float32{-unit[0], -unit[1], -unit[2]}
	field := newVectors(3)
	field = field.with([]entry{{row: 0, vectors: [][]float32{unit}}}, nil, 0)
	if got, reverse := field.cosine(0, unit), field.cosine(0, opposite); got != 1 || reverse != -1 {
		t.Errorf("got %v and %v, want 1 and -1", got, reverse)
	}
}
