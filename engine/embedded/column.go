package embedded

import (
	"cmp"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/hybridge-search/hybridge/filter"
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

// position is the index at which a value is or would be inserted; with past, the index after it.
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
	times   []timed
	bools   [2]posting // false, true
}

// timed is a string that is a time.
type timed struct {
	at     int64 // its start, see filter.Moment
	string int   // its index among the strings
}

// timesOf returns the times among strings, in chronological order.
func timesOf(texts []string) []timed {
	var times []timed
	for i, text := range texts {
		if moment, ok := filter.ParseMoment(text); ok {
			times = append(times, timed{moment.From, i})
		}
	}
	slices.SortFunc(times, func(a, b timed) int { return cmp.Compare(a.at, b.at) })
	return slices.Clip(times)
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

func (c *columnBuilder) add(row uint32, values []filter.Value) {
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

// appendOnce appends a row once, even if a list repeats a value.
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
	strings := newOrdered(c.strings)
	return &column{
		exists:  roaring.BitmapOf(c.exists...),
		numbers: newOrdered(c.numbers),
		strings: strings,
		times:   timesOf(strings.values),
		bools:   [2]posting{newPosting(c.bools[0]), newPosting(c.bools[1])},
	}
}

// addEqual adds the rows that have the value.
func (c *column) addEqual(value filter.Value, out *roaring.Bitmap) {
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
func (c *column) addHolding(p *filter.Part, out *roaring.Bitmap) {
	from := 0
	if p.At == filter.AtStart {
		from = c.strings.position(p.Text, false)
	}
	for i := from; i < len(c.strings.values); i++ {
		switch {
		case p.In(c.strings.values[i]):
			c.strings.postings[i].addTo(out)
		case p.At == filter.AtStart: // strings with a common prefix are adjacent
			return
		}
	}
}

// addRange adds the rows with a value in the range. Bounds of different types, or of a type
// without an order, match nothing.
func (c *column) addRange(r *filter.Range, out *roaring.Bitmap) {
	if *r == (filter.Range{}) {
		out.Or(c.exists)
		return
	}
	if between, ok := r.Moments(); ok {
		c.addTimes(between, out)
		return
	}
	if from, to, ok := c.numbers.within(r); ok {
		for i := from; i < to; i++ {
			c.numbers.postings[i].addTo(out)
		}
	}
}

func (c *column) addTimes(between filter.Moment, out *roaring.Bitmap) {
	byTime := func(t timed, at int64) int { return cmp.Compare(t.at, at) }
	first, _ := slices.BinarySearchFunc(c.times, between.From, byTime)
	for _, t := range c.times[first:] {
		if t.at >= between.Below {
			return
		}
		c.strings.postings[t.string].addTo(out)
	}
}

// within returns the indexes of the values in a range; ok is false unless all bounds have their type.
func (o *ordered[T]) within(r *filter.Range) (from, to int, ok bool) {
	from, to, ok = 0, len(o.values), true
	place := func(bound *filter.Value, past bool, otherwise int) int {
		if bound == nil {
			return otherwise
		}
		value, same := bound.V.(T)
		ok = ok && same
		return o.position(value, past)
	}
	from = max(place(r.GT, true, from), place(r.GTE, false, from))
	to = min(place(r.LT, false, to), place(r.LTE, true, to))
	return from, to, ok
}
