package postgres

import (
	"fmt"

	"github.com/hybridge-search/hybridge/engine"
)

// What engine.ParseMoment says, in SQL that raises no error whatever a text is. OFFSET 0 keeps each step from
// being written into the next one as often as that names it.
const (
	// partsOfTime are the parts of a text with the form of a time, NULL of another: year, month, day, hour,
	// minute, second, fraction, and of the offset the sign, hours and minutes.
	partsOfTime = `regexp_match(value #>> '{}', '^([0-9]{4})(?:-([0-9]{2})(?:-([0-9]{2})(?:[Tt ]([0-9]{2}):([0-9]{2})` +
		`(?::([0-9]{2})(?:[.]([0-9]{1,9}))?)?(?:[Zz]|([+-])([0-9]{2})(?::?([0-9]{2}))?)?)?)?)?$')`

	numbersOfTime = `p[1]::int AS year, coalesce(p[2], '1')::int AS month, coalesce(p[3], '1')::int AS day, ` +
		`coalesce(p[4], '0')::int AS hour, coalesce(p[5], '0')::int AS minute, coalesce(p[6], '0')::int AS second, ` +
		`rpad(left(coalesce(p[7], ''), 6), 6, '0')::int AS micros, CASE WHEN p[8] = '-' THEN -1 ELSE 1 END AS sign, ` +
		`coalesce(p[9], '0')::int AS hours, coalesce(p[10], '0')::int AS minutes`

	validTime = `p IS NOT NULL AND year >= 1 AND month BETWEEN 1 AND 12 AND day BETWEEN 1 AND CASE month ` +
		`WHEN 2 THEN CASE WHEN year % 4 = 0 AND (year % 100 <> 0 OR year % 400 = 0) THEN 29 ELSE 28 END ` +
		`WHEN 4 THEN 30 WHEN 6 THEN 30 WHEN 9 THEN 30 WHEN 11 THEN 30 ELSE 31 END ` +
		`AND greatest(hour, hours) <= 23 AND greatest(minute, minutes, second) <= 59`

	microsOfTime = `(make_date(year, month, day) - DATE '1970-01-01') * 86400000000 ` +
		`+ ((hour - sign * hours) * 3600 + (minute - sign * minutes) * 60 + second) * 1000000::bigint + micros`
)

// inTime holds where one of the field's texts is a time that lies between.
func (w *where) inTime(field string, between engine.Moment) string {
	from, below := between.Texts()
	return fmt.Sprintf("EXISTS (SELECT FROM jsonb_array_elements(metadata -> %s) AS list (value) "+
		`CROSS JOIN LATERAL (SELECT CASE WHEN jsonb_typeof(value) = 'string' AND (value #>> '{}') COLLATE "C" >= %s `+
		`AND (value #>> '{}') COLLATE "C" < %s THEN %s END AS p OFFSET 0) AS parts `+
		"CROSS JOIN LATERAL (SELECT %s OFFSET 0) AS numbers "+
		"CROSS JOIN LATERAL (SELECT CASE WHEN %s THEN %s END AS at OFFSET 0) AS moment "+
		"WHERE at >= %s AND at < %s)",
		w.bind(field), w.bind(from), w.bind(below), partsOfTime, numbersOfTime, validTime, microsOfTime,
		w.bind(between.From), w.bind(between.Below))
}
