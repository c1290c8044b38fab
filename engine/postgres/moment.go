package postgres

import (
	"fmt"
	"time"

	"github.com/hybridge-search/hybridge/filter"
)

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
