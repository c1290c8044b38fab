package embedded

import (
	"math"
	"math/bits"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/hybridge-search/hybridge/lib/vector"
)

// vectors are the unit vectors of one field in pages addressed by row. Rows of a
// published snapshot are never written again.
type vectors struct {
	dims    int
	shift   uint // a page has 1 << shift rows
	pages   []*vectorPage
	none    []float32       // in place of a vector on no page
	present *roaring.Bitmap // rows with a cosine
}

// vectorPage is the vectors of some rows, exact and in a sketch. A row without a
// vector, or with a zero one, has NaN in its first place, so its dot product is
// NaN as well.
type vectorPage struct {
	exact  []float32
	sketch *vector.Sketch
}

// pageFloats is about how many floats a page holds (256 KB).
const pageFloats = 1 << 16

func newVectors(dims int) vectors {
	shift := bits.Len(uint(max(1, pageFloats/dims))) - 1
	none := make([]float32, dims)
	fillNaN(none)
	return vectors{dims: dims, shift: uint(shift), none: none, present: roaring.New()}
}

// with is the field after the changes of a snapshot; position is the field's
// place among an entry's vectors.
func (v vectors) with(add []entry, removed []uint32, position int) vectors {
	v.present = v.present.Clone()
	for _, row := range removed {
		v.present.Remove(row)
	}
	shared := true
	var rows []uint32
	for _, e := range add {
		unit := e.vectors[position]
		if unit == nil {
			continue
		}
		page := int(e.row >> v.shift)
		if page < len(v.pages) && v.pages[page] == nil && shared {
			v.pages, shared = slices.Clone(v.pages), false
		}
		v.set(e.row, unit)
		rows = append(rows, e.row)
	}
	v.outline(rows)
	return v
}

// set writes a row's vector to its page; outline must follow.
func (v *vectors) set(row uint32, unit []float32) {
	page := int(row >> v.shift)
	for len(v.pages) <= page {
		v.pages = append(v.pages, nil)
	}
	if v.pages[page] == nil {
		v.pages[page] = v.emptyPage()
	}
	copy(v.pages[page].exact[v.offset(row):], unit)
	v.present.Add(row)
}

func (v *vectors) emptyPage() *vectorPage {
	exact := make([]float32, v.dims<<v.shift)
	for i := 0; i < len(exact); i += v.dims {
		exact[i] = float32(math.NaN())
	}
	return &vectorPage{exact: exact}
}

// outline adds rows that were set, in ascending order, to the sketches of their pages.
// New pages share one centre, the mean of these rows, which stays in the processor's
// first-level cache.
func (v *vectors) outline(rows []uint32) {
	var centre []float32
	for len(rows) > 0 {
		n := v.onPage(rows)
		page := v.page(rows[0])
		if page.sketch == nil {
			if centre == nil {
				centre = v.mean(rows)
			}
			page.sketch = vector.NewSketch(centre, 1<<v.shift)
		}
		for _, row := range rows[:n] {
			page.sketch.Set(v.place(row), v.at(row))
		}
		rows = rows[n:]
	}
}

// mean of the vectors of rows.
func (v *vectors) mean(rows []uint32) []float32 {
	sum := make([]float32, v.dims)
	for _, row := range rows {
		for i, x := range v.at(row) {
			sum[i] += x / float32(len(rows))
		}
	}
	return sum
}

// onPage is the number of the ascending rows on the page of the first.
func (v *vectors) onPage(rows []uint32) int {
	n := min(len(rows), 1<<v.shift-v.place(rows[0]))
	if rows[n-1]-rows[0] == uint32(n-1) {
		return n
	}
	n = 1
	for n < len(rows) && rows[n]>>v.shift == rows[0]>>v.shift {
		n++
	}
	return n
}

// place is the index of a row on its page, offset that of its first number.
func (v *vectors) place(row uint32) int  { return int(row & (1<<v.shift - 1)) }
func (v *vectors) offset(row uint32) int { return v.place(row) * v.dims }

// at is the vector of a row; NaN when it has none.
func (v *vectors) at(row uint32) []float32 {
	if page := v.page(row); page != nil {
		return page.exact[v.offset(row):][:v.dims]
	}
	return v.none
}

// page of a row; nil where there is none.
func (v *vectors) page(row uint32) *vectorPage {
	if page := int(row >> v.shift); page < len(v.pages) {
		return v.pages[page]
	}
	return nil
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
// as the rows, which ascend; NaN for a row without a vector.
func (v *vectors) cosines(rows []uint32, unit, out []float32) {
	for block := range slices.Chunk(rows, blockRows) {
		v.blockCosines(block, unit, out[:len(block)])
		bound(out[:len(block)])
		out = out[len(block):]
	}
}

// blockCosines reads adjacent rows at once.
func (v *vectors) blockCosines(rows []uint32, unit, out []float32) {
	if rows[len(rows)-1]-rows[0] >= uint32(len(rows)) {
		var scattered [blockRows][]float32
		for i, row := range rows {
			scattered[i] = v.at(row)
		}
		vector.DotsOf(unit, scattered[:len(rows)], out)
		return
	}
	for len(rows) > 0 {
		n := min(len(rows), 1<<v.shift-v.place(rows[0]))
		if page := v.page(rows[0]); page != nil {
			vector.Dots(unit, page.exact[v.offset(rows[0]):], out[:n])
		} else {
			fillNaN(out[:n])
		}
		rows, out = rows[n:], out[n:]
	}
}

// limits writes bounds of each row's cosine; NaN for a row without a vector. The rows
// ascend; all rows between them on a page are read as well, at a quarter of what
// cosines reads.
func (v *vectors) limits(rows []uint32, query *vector.Query, least, most scores) {
	reader := vector.Reader{Query: query}
	for len(rows) > 0 {
		n := v.onPage(rows)
		first, last := rows[0], rows[n-1]
		if page := v.page(first); page != nil {
			reader.Limits(page.sketch, v.sketchAfter(first), v.place(first), least.part(first, last), most.part(first, last))
		} else {
			fillNaN(least.part(first, last))
		}
		rows = rows[n:]
	}
}

// sketchAfter is the sketch of the page after a row's; nil without one.
func (v *vectors) sketchAfter(row uint32) *vector.Sketch {
	if page := v.page(row + 1<<v.shift); page != nil {
		return page.sketch
	}
	return nil
}

// bound clamps rounding errors to [-1, 1]; NaN stays.
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

// dropDead returns the pages without those emptied by a removal.
func dropDead[T any](pages []*T, shift uint, removed []uint32, live *roaring.Bitmap) []*T {
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
		if page != nil {
			n += int64(4*len(page.exact)) + page.sketch.Bytes()
		}
	}
	return n
}

// blockRows is the number of rows scored at once.
const blockRows = 256
