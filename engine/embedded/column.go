package embedded

import (
	"cmp"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/hybridge-search/hybridge/engine"
)

// posting is the rows that have one value: a list while short, else a bitmap.
type posting struct {
	rows   []uint32
	bitmap *roaring.Bitmap
}

const longPosting = 64

func newPosting(rows []uint32) posting {
	if len(rows) < longPosting {
		return posting{rows: slices.Clip(rows)}
	}
	return posting{bitmap: roaring.BitmapOf(rows...)}
}

func (p *posting) addTo(out *roaring.Bitmap) {
	if p.bitmap != nil {
		out.Or(p.bitmap)
		return
	}
	out.AddMany(p.rows)
}

// ordered is the distinct values of one type in a field, sorted, with their rows.
type ordered[T cmp.Ordered] struct {
	values   []T
	postings []posting
}

func newOrdered[T cmp.Ordered](rows map[T][]uint32) ordered[T] {
	var o ordered[T]
	for v := range rows {
		o.values = append(o.values, v)
	}
	slices.Sort(o.values)
	o.postings = make([]posting, len(o.values))
	for i, v := range o.values {
		o.postings[i] = newPosting(rows[v])
	}
	return o
}

func (o *ordered[T]) addEqual(value T, out *roaring.Bitmap) {
	if i, found := slices.BinarySearch(o.values, value); found {
		o.postings[i].addTo(out)
	}
}

// bounds are a Range whose bounds have all the same type; nil is open.
type bounds[T cmp.Ordered] struct{ gt, gte, lt, lte *T }

func (o *ordered[T]) addRange(b bounds[T], out *roaring.Bitmap) {
	from, to := 0, len(o.values)
	raise := func(bound *T, past bool) {
		if bound != nil {
			from = max(from, o.position(*bound, past))
		}
	}
	lower := func(bound *T, past bool) {
		if bound != nil {
			to = min(to, o.position(*bound, past))
		}
	}
	raise(b.gt, true)
	raise(b.gte, false)
	lower(b.lt, false)
	lower(b.lte, true)
	for i := from; i < to; i++ {
		o.postings[i].addTo(out)
	}
}

// position is where a value stands or would stand; with past, the place after it.
func (o *ordered[T]) position(value T, past bool) int {
	i, found := slices.BinarySearch(o.values, value)
	if found && past {
		i++
	}
	return i
}

// column is one field of a segment: the rows that have it, and the rows of each
// value by type, as numbers, strings and booleans never equal each other.
type column struct {
	exists  *roaring.Bitmap
	numbers ordered[float64]
	strings ordered[string]
	bools   [2]posting // false, true
}

// columnBuilder collects a column's values in ascending order of rows.
type columnBuilder struct {
	exists  []uint32
	numbers map[float64][]uint32
	strings map[string][]uint32
	bools   [2][]uint32
}

func newColumnBuilder() *columnBuilder {
	return &columnBuilder{numbers: map[float64][]uint32{}, strings: map[string][]uint32{}}
}

func (c *columnBuilder) add(row uint32, values []engine.Value) {
	if len(values) > 0 {
		c.exists = append(c.exists, row)
	}
	for _, value := range values {
		switch v := value.V.(type) {
		case float64:
			c.numbers[v] = appendOnce(c.numbers[v], row)
		case string:
			c.strings[v] = appendOnce(c.strings[v], row)
		case bool:
			c.bools[index(v)] = appendOnce(c.bools[index(v)], row)
		}
	}
}

// appendOnce keeps a row from standing twice when a list repeats a value.
func appendOnce(rows []uint32, row uint32) []uint32 {
	if n := len(rows); n > 0 && rows[n-1] == row {
		return rows
	}
	return append(rows, row)
}

func index(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (c *columnBuilder) build() *column {
	return &column{
		exists:  roaring.BitmapOf(c.exists...),
		numbers: newOrdered(c.numbers),
		strings: newOrdered(c.strings),
		bools:   [2]posting{newPosting(c.bools[0]), newPosting(c.bools[1])},
	}
}

// addEqual adds the rows that have the value.
func (c *column) addEqual(value engine.Value, out *roaring.Bitmap) {
	switch v := value.V.(type) {
	case float64:
		c.numbers.addEqual(v, out)
	case string:
		c.strings.addEqual(v, out)
	case bool:
		c.bools[index(v)].addTo(out)
	}
}

// addHolding adds the rows with a string that holds the part.
func (c *column) addHolding(p *engine.Part, out *roaring.Bitmap) {
	from := 0
	if p.At == engine.AtStart {
		from = c.strings.position(p.Text, false)
	}
	for i := from; i < len(c.strings.values); i++ {
		switch {
		case p.In(c.strings.values[i]):
			c.strings.postings[i].addTo(out)
		case p.At == engine.AtStart: // those that begin so stand together
			return
		}
	}
}

// addRange adds the rows with a value in the range. No value lies between bounds of
// two types, or of a type without an order.
func (c *column) addRange(r *engine.Range, out *roaring.Bitmap) {
	given := 0
	for _, bound := range []*engine.Value{r.GT, r.GTE, r.LT, r.LTE} {
		if bound != nil {
			given++
		}
	}
	if given == 0 {
		out.Or(c.exists)
		return
	}
	if b, n := boundsOf[float64](r); n == given {
		c.numbers.addRange(b, out)
	}
	if b, n := boundsOf[string](r); n == given {
		c.strings.addRange(b, out)
	}
}

// boundsOf gives the bounds of one type and how many there are.
func boundsOf[T cmp.Ordered](r *engine.Range) (bounds[T], int) {
	n := 0
	as := func(value *engine.Value) *T {
		if value == nil {
			return nil
		}
		v, ok := value.V.(T)
		if !ok {
			return nil
		}
		n++
		return &v
	}
	return bounds[T]{gt: as(r.GT), gte: as(r.GTE), lt: as(r.LT), lte: as(r.LTE)}, n
}
