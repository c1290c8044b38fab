package embedded

import (
	"math"
	"math/bits"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/hybridge-search/hybridge/vector"
)

// vectors are the unit vectors of one field in pages addressed by row. A row
// without a vector, or with a zero one, has NaN in its first place, so its dot
// product is NaN as well. Rows of a published snapshot are never written again.
type vectors struct {
	dims    int
	shift   uint // a page has 1 << shift rows
	pages   [][]float32
	present *roaring.Bitmap // rows with a cosine
}

// pageFloats is about how many floats a page holds (256 KB).
const pageFloats = 1 << 16

func newVectors(dims int) vectors {
	shift := bits.Len(uint(max(1, pageFloats/dims))) - 1
	return vectors{dims: dims, shift: uint(shift), present: roaring.New()}
}

// with is the field after the changes of a snapshot; position is the field's
// place among an entry's vectors.
func (v vectors) with(add []entry, removed []uint32, position int) vectors {
	v.present = v.present.Clone()
	for _, row := range removed {
		v.present.Remove(row)
	}
	shared := true
	for _, e := range add {
		unit := e.vectors[position]
		if unit == nil {
			continue
		}
		page := int(e.row >> v.shift)
		if page < len(v.pages) && v.pages[page] == nil && shared {
			v.pages, shared = slices.Clone(v.pages), false
		}
		for len(v.pages) <= page {
			v.pages = append(v.pages, nil)
		}
		if v.pages[page] == nil {
			v.pages[page] = v.emptyPage()
		}
		copy(v.pages[page][v.offset(e.row):], unit)
		v.present.Add(e.row)
	}
	return v
}

func (v *vectors) emptyPage() []float32 {
	page := make([]float32, v.dims<<v.shift)
	for i := 0; i < len(page); i += v.dims {
		page[i] = float32(math.NaN())
	}
	return page
}

func (v *vectors) offset(row uint32) int { return int(row&(1<<v.shift-1)) * v.dims }

// at is the vector of a row that has one.
func (v *vectors) at(row uint32) []float32 {
	return v.pages[row>>v.shift][v.offset(row):][:v.dims]
}

// without drops the pages that hold none of the live rows.
func (v vectors) without(removed []uint32, live *roaring.Bitmap) vectors {
	v.pages = dropDead(v.pages, v.shift, removed, live)
	return v
}

// cosine of a row's vector and a unit vector; NaN when the row has none.
func (v *vectors) cosine(row uint32, unit []float32) float32 {
	var out [1]float32
	v.cosines([]uint32{row}, unit, out[:])
	return out[0]
}

// cosines writes the cosine of each row's vector and a unit vector to out, as long
// as the rows, which ascend; NaN for a row without a vector. Rows that follow one
// another are read in one go.
func (v *vectors) cosines(rows []uint32, unit, out []float32) {
	for len(rows) > 0 {
		n, first := v.run(rows), rows[0]
		if page := int(first >> v.shift); page < len(v.pages) && v.pages[page] != nil {
			vector.Dots(unit, v.pages[page][v.offset(first):], out[:n])
			bound(out[:n])
		} else {
			fillNaN(out[:n])
		}
		rows, out = rows[n:], out[n:]
	}
}

// run is how many of the first rows follow one another on a page.
func (v *vectors) run(rows []uint32) int {
	first := rows[0]
	most := min(len(rows), 1<<v.shift-int(first&(1<<v.shift-1)))
	n := 1
	for n < most && rows[n] == first+uint32(n) {
		n++
	}
	return n
}

// bound cuts what rounding puts beyond the scale of a cosine; NaN stays.
func bound(cosines []float32) {
	for i, c := range cosines {
		if c > 1 {
			cosines[i] = 1
		} else if c < -1 {
			cosines[i] = -1
		}
	}
}

func fillNaN(out []float32) {
	for i := range out {
		out[i] = float32(math.NaN())
	}
}

// dropDead gives the pages without those that a removal left empty.
func dropDead[T any](pages [][]T, shift uint, removed []uint32, live *roaring.Bitmap) [][]T {
	copied := false
	last := -1
	for _, row := range removed {
		page := int(row >> shift)
		if page == last || page >= len(pages) || pages[page] == nil {
			continue
		}
		last = page
		from := uint64(page) << shift
		if live.CardinalityInRange(from, from+1<<shift) > 0 {
			continue
		}
		if !copied {
			pages, copied = slices.Clone(pages), true
		}
		pages[page] = nil
	}
	return pages
}

// bytes is the memory that the pages take.
func (v *vectors) bytes() int64 {
	n := int64(0)
	for _, page := range v.pages {
		n += int64(4 * len(page))
	}
	return n
}
