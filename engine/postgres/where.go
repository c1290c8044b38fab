package postgres

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/jackc/pgx/v5"

	"github.com/hybridge-search/hybridge/bm25"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
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

// filter builds the filter's condition, and finds out whether few chunks pass it.
func (q *search) filter(ctx context.Context) error {
	f := &q.request.Filter
	q.where = whereOf(f)
	if len(f.Required)+len(f.Excluded) > 0 {
		var indexes []*bm25.Snapshot
		for _, field := range q.phraseFields() {
			if !slices.Contains(q.base.texts, field) {
				return fault.Invalid("filter.fields", field, engine.OneOf("a text field", q.base.texts))
			}
			if err := q.keywords[field].err; err != nil {
				return err
			}
			indexes = append(indexes, q.keywords[field].snapshot)
		}
		q.where.phrases(ctx, f, indexes)
	}
	if err := ctx.Err(); err != nil {
		return err // the phrases may have too few chunks
	}
	if q.request.Exact { // regardless of their number: rows are not needed
		q.few = true
		return nil
	}
	limit := q.exactLimit()
	if restrictsNothing(f) {
		q.few = q.state.chunks-q.state.hidden <= int64(limit)
		return nil
	}
	return q.probe(ctx, limit)
}

// unfiltered reports whether every chunk of the knowledge base may be a hit.
func (q *search) unfiltered() bool { return restrictsNothing(&q.request.Filter) && q.state.hidden == 0 }

// probe fetches the rows that pass the filter unless there are more than limit.
func (q *search) probe(ctx context.Context, limit int) error {
	w := q.where.clone()
	rows, err := q.conn.Query(ctx, fmt.Sprintf("SELECT row FROM %s WHERE %s LIMIT %s",
		q.base.table.name, w, w.bind(limit+1)), w.args...)
	if err != nil {
		return err
	}
	found, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return err
	}
	q.few = len(found) <= limit
	if !q.few {
		return nil
	}
	q.rows, q.accept = found, roaring.New()
	for _, row := range found {
		q.accept.Add(uint32(row)) //nolint:gosec // a row number, bounded where it is given out
	}
	q.where = &where{}
	q.where.and("row = ANY(%s)", q.where.bind(found))
	return nil
}

// exactFactor is the number of chunks per requested hit up to which search is exact:
// walking a graph visits about as many.
const exactFactor = 10

// exactLimit is the number of filtered chunks up to which all are compared.
func (q *search) exactLimit() int {
	limit := q.engine.exact.limit
	if q.request.Sum != nil {
		return max(limit, q.request.Sum.Candidates)
	}
	for i := range q.legs {
		if l := &q.legs[i]; !l.isText() {
			limit = max(limit, q.engine.exact.factor*min(l.K, 1<<20))
		}
	}
	return limit
}

// filter.ParseMoment in SQL that never raises an error. The parts of such a text are at fixed positions; capturing
// groups would take many times as long.
const (
	// writtenAlike matches the most common format, on days that every month but February has: such texts sort like
	// their times.
	writtenAlike = `'^[0-9]{4}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30))T` +
		`(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z$' AND left(t, 4) <> '0000'`

	formOfTime = `'^[0-9]{4}(?:-[0-9]{2}(?:-[0-9]{2}(?:[Tt ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.][0-9]{1,9})?)?` +
		`(?:[Zz]|[+-][0-9]{2}(?::?[0-9]{2})?)?)?)?)?$'`

	partsOfTime = `left(t, 4)::int AS year, coalesce(nullif(substr(t, 6, 2), '')::int, 1) AS month, ` +
		`coalesce(nullif(substr(t, 9, 2), '')::int, 1) AS day, coalesce(nullif(substr(t, 12, 2), '')::int, 0) AS hour, ` +
		`coalesce(nullif(substr(t, 15, 2), '')::int, 0) AS minute, ` +
		`CASE WHEN substr(t, 17, 1) = ':' THEN substr(t, 18, 2)::int ELSE 0 END AS second, ` +
		`CASE WHEN substr(t, 20, 1) = '.' THEN ` +
		`rpad(left(split_part(translate(substr(t, 21), 'z+-', 'ZZZ'), 'Z', 1), 6), 6, '0')::int ELSE 0 END AS micros, ` +
		`ltrim(substr(t, 17), ':.0123456789') AS zone`

	partsOfZone = `CASE WHEN length(zone) > 2 THEN substr(zone, 2, 2)::int ELSE 0 END AS hours, ` +
		`CASE WHEN length(zone) > 4 THEN right(zone, 2)::int ELSE 0 END AS minutes, ` +
		`CASE left(zone, 1) WHEN '-' THEN -1 ELSE 1 END AS sign`

	validTime = `year >= 1 AND month BETWEEN 1 AND 12 AND day BETWEEN 1 AND CASE month ` +
		`WHEN 2 THEN CASE WHEN year % 4 = 0 AND (year % 100 <> 0 OR year % 400 = 0) THEN 29 ELSE 28 END ` +
		`WHEN 4 THEN 30 WHEN 6 THEN 30 WHEN 9 THEN 30 WHEN 11 THEN 30 ELSE 31 END ` +
		`AND greatest(hour, hours) <= 23 AND greatest(minute, minutes, second) <= 59`

	microsOfTime = `(make_date(year, month, day) - DATE '1970-01-01') * 86400000000 ` +
		`+ ((hour - sign * hours) * 3600 + (minute - sign * minutes) * 60 + second) * 1000000::bigint + micros`
)

// inTime holds if one of the field's texts is a time in the span. OFFSET 0 prevents the planner from inlining a step
// once per reference.
func (w *where) inTime(field string, between filter.Moment) string {
	if between.From >= between.Below { // PostgreSQL has no such ranges
		return "FALSE"
	}
	from, below := between.Texts()
	return fmt.Sprintf("EXISTS (SELECT FROM jsonb_array_elements(metadata -> %s) AS list (value) CROSS JOIN LATERAL "+
		`(SELECT (value #>> '{}') COLLATE "C" AS t WHERE jsonb_typeof(value) = 'string' OFFSET 0) AS texts `+
		"WHERE CASE WHEN t < %s OR t >= %s THEN FALSE WHEN t ~ %s THEN t >= %s AND t < %s ELSE "+
		"(SELECT CASE WHEN %s THEN (%s) <@ int8range(%s, %s) ELSE FALSE END "+
		"FROM (SELECT %s WHERE t ~ %s OFFSET 0) AS parts CROSS JOIN LATERAL (SELECT %s OFFSET 0) AS zones) END)",
		w.bind(field), w.bind(from), w.bind(below), writtenAlike,
		w.bind(second(between.From)), w.bind(second(between.Below)), validTime,
		microsOfTime, w.bind(between.From), w.bind(between.Below), partsOfTime, formOfTime, partsOfZone)
}

// second is the text of the first whole second not before micros, clamped below or above all texts.
func second(micros int64) string {
	at := time.UnixMicro(micros).UTC()
	if at.Truncate(time.Second).Before(at) {
		at = at.Truncate(time.Second).Add(time.Second)
	}
	switch year := at.Year(); {
	case year < 1:
		return ""
	case year > 9999:
		return ":"
	default:
		return at.Format(time.RFC3339)
	}
}
