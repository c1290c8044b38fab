package postgres

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/hybridge-search/hybridge/bm25"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/filter"
	"github.com/hybridge-search/hybridge/textquery"
)

// where is a condition in SQL. Every value and every field's name is a parameter.
type where struct {
	parts []string
	args  []any
}

// bind adds a parameter and gives its place.
func (w *where) bind(value any) string {
	w.args = append(w.args, value)
	return "$" + strconv.Itoa(len(w.args))
}

func (w *where) and(sql string, args ...any) {
	w.parts = append(w.parts, fmt.Sprintf(sql, args...))
}

// String returns the condition; TRUE if there is none.
func (w *where) String() string {
	if len(w.parts) == 0 {
		return "TRUE"
	}
	return strings.Join(w.parts, " AND ")
}

// clone returns a copy to which parameters may be added.
func (w *where) clone() *where {
	return &where{parts: append([]string(nil), w.parts...), args: append([]any(nil), w.args...)}
}

// restrictsNothing reports whether every available chunk passes a filter.
func restrictsNothing(f *engine.Filter) bool {
	return f.IDs == nil && f.Owner == "" && len(f.Conditions)+len(f.Required)+len(f.Excluded)+len(f.Except) == 0
}

// whereOf builds a filter's condition, without its phrases.
func whereOf(f *engine.Filter) *where {
	w := &where{}
	w.and("available")
	if f.IDs != nil {
		w.and("id = ANY(%s)", w.ids(f.IDs))
	}
	if len(f.Except) > 0 {
		w.and("id <> ALL(%s)", w.ids(f.Except))
	}
	if f.Owner != "" {
		w.condition(&filter.Condition{Field: "owner", In: []filter.Value{{V: f.Owner}}})
	}
	for i := range f.Conditions {
		w.condition(&f.Conditions[i])
	}
	return w
}

// ids binds the allowed ids of chunks.
func (w *where) ids(ids []string) string {
	some := make([]string, 0, len(ids))
	for _, id := range ids {
		if storable(id) {
			some = append(some, id)
		}
	}
	return w.bind(some)
}

// condition adds the equivalent of filter.Condition.Matches.
func (w *where) condition(c *filter.Condition) { w.parts = append(w.parts, w.matches(c)) }

func (w *where) matches(c *filter.Condition) string {
	if c.Not {
		return "NOT (" + w.holds(c) + ")"
	}
	return w.holds(c)
}

// anyOf holds where all conditions of one of the lists do.
func (w *where) anyOf(lists [][]filter.Condition) string {
	each := make([]string, len(lists))
	for i, all := range lists {
		both := make([]string, len(all))
		for k := range all {
			both[k] = w.matches(&all[k])
		}
		each[i] = "(" + strings.Join(both, " AND ") + ")"
	}
	return "(" + strings.Join(each, " OR ") + ")"
}

func (w *where) holds(c *filter.Condition) string {
	switch {
	case c.AnyOf != nil:
		return w.anyOf(c.AnyOf)
	case !storable(c.Field): // no chunk has such a field
		if c.Exists != nil && !*c.Exists {
			return "TRUE"
		}
		return "FALSE"
	case c.Exists != nil && *c.Exists:
		return "metadata ? " + w.bind(c.Field)
	case c.Exists != nil:
		return "NOT metadata ? " + w.bind(c.Field)
	case c.Range != nil:
		return w.within(c.Field, c.Range)
	case c.Part != nil:
		return w.holding(c.Field, c.Part)
	default:
		return w.oneOf(c.Field, c.In)
	}
}

// manyValues is the number of values from which they are compared one by one, instead of
// looked up in the index of the metadata.
const manyValues = 16

func (w *where) oneOf(field string, values []filter.Value) string {
	var wanted []string
	for _, v := range values {
		if text, ok := v.V.(string); ok && !storable(text) {
			continue
		}
		if value, err := engine.EncodeStored(v.V); err == nil { // no chunk has NaN, say
			wanted = append(wanted, string(value))
		}
	}
	if len(wanted) == 0 {
		return "FALSE"
	}
	if len(wanted) >= manyValues {
		return fmt.Sprintf("EXISTS (SELECT FROM jsonb_array_elements(metadata -> %s) AS list (value) "+
			"WHERE value = ANY(%s::jsonb[]))", w.bind(field), w.bind(wanted))
	}
	name, _ := engine.EncodeStored(field) // a text
	each := make([]string, len(wanted))
	for i, value := range wanted {
		each[i] = "metadata @> " + w.bind(fmt.Sprintf("{%s:[%s]}", name, value)) + "::jsonb"
	}
	return "(" + strings.Join(each, " OR ") + ")"
}

func (w *where) holding(field string, p *filter.Part) string {
	if !storable(p.Text) {
		return "FALSE"
	}
	name, text := w.bind(field), w.bind(p.Text)+"::text"
	const value = `(value #>> '{}')`
	holds := map[filter.Place]string{
		filter.Anywhere: "strpos(" + value + ", " + text + ") > 0",
		filter.AtStart:  "starts_with(" + value + ", " + text + ")",
		filter.AtEnd:    "right(" + value + ", length(" + text + ")) = " + text,
	}[p.At]
	return fmt.Sprintf("EXISTS (SELECT FROM jsonb_array_elements(metadata -> %s) AS list (value) "+
		"WHERE CASE WHEN jsonb_typeof(value) = 'string' THEN %s ELSE FALSE END)", name, holds)
}

func (w *where) within(field string, r *filter.Range) string {
	if *r == (filter.Range{}) {
		return "metadata ? " + w.bind(field)
	}
	if between, ok := r.Moments(); ok {
		return w.inTime(field, between)
	}
	from := len(w.args)
	name := w.bind(field)
	var comparisons []string
	for _, b := range []struct {
		operator string
		value    *filter.Value
	}{{">", r.GT}, {">=", r.GTE}, {"<", r.LT}, {"<=", r.LTE}} {
		if b.value == nil {
			continue
		}
		number, ok := b.value.V.(float64)
		if !ok { // no order, or mixed types
			w.args = w.args[:from]
			return "FALSE"
		}
		comparisons = append(comparisons, fmt.Sprintf("value::float8 %s %s", b.operator, w.bind(number)))
	}
	return fmt.Sprintf("EXISTS (SELECT FROM jsonb_array_elements(metadata -> %s) AS list (value) "+
		"WHERE CASE WHEN jsonb_typeof(value) = 'number' THEN %s ELSE FALSE END)", name, strings.Join(comparisons, " AND "))
}

// phrases adds the filter's phrases, as the matching rows of the keyword indexes.
func (w *where) phrases(ctx context.Context, f *engine.Filter, indexes []*bm25.Snapshot) {
	for _, p := range f.Required {
		w.and("row = ANY(%s)", w.bind(containing(ctx, p, indexes)))
	}
	for _, p := range f.Excluded {
		w.and("row <> ALL(%s)", w.bind(containing(ctx, p, indexes)))
	}
}

// containing gives the rows with the phrase in any of the indexes.
func containing(ctx context.Context, p textquery.Phrase, indexes []*bm25.Snapshot) []int64 {
	return rowsOf(matching(ctx, p, indexes).ToArray())
}

func matching(ctx context.Context, p textquery.Phrase, indexes []*bm25.Snapshot) *roaring.Bitmap {
	all := roaring.New()
	for _, index := range indexes {
		all.Or(index.Match(ctx, p))
	}
	return all
}

func rowsOf(keys []uint32) []int64 {
	rows := make([]int64, len(keys))
	for i, key := range keys {
		rows[i] = int64(key)
	}
	return rows
}
