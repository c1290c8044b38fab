package elastic

import (
	"math"
	"time"

	"github.com/hybridge-search/hybridge/esquery"
	"github.com/hybridge-search/hybridge/filter"
	"github.com/hybridge-search/hybridge/mappings"
)

// inTime matches a column with a time in m: by the moments of an index that has them all, else by a script
// that reads the texts which may be such times.
func (t *target) inTime(where column, field string, m filter.Moment) esquery.Query {
	switch {
	case where.kind == native && where.of == "date":
		return where.dates(m)
	case where.kind == native && where.of != "keyword":
		return esquery.MatchNone{}
	case where.kind != native && t.Moments:
		r := esquery.Range{
			Field: t.Names.Metadata + "." + mappings.KeyMoments(field), GTE: mappings.FirstMoment, LT: mappings.BehindMoment,
		}
		if m.From != math.MinInt64 {
			r.GTE = mappings.EncodeMoment(m.From)
		}
		if m.Below != math.MaxInt64 {
			r.LT = mappings.EncodeMoment(m.Below)
		}
		return r
	}
	tag := ""
	if where.kind == encoded {
		tag = mappings.TagString
	}
	from, below := m.Texts()
	return esquery.Bool{Filter: []esquery.Query{
		esquery.Range{Field: where.field, GTE: tag + from, LT: tag + below},
		esquery.ScriptFilter{Script: esquery.Script{
			Source: momentInPainless + inTimeInPainless,
			Params: esquery.Params{Others: []esquery.Param{
				{Name: "field", Value: where.field},
				{Name: "tag", Value: tag},
				{Name: "from", Value: m.From},
				{Name: "below", Value: m.Below},
			}},
		}},
	}}
}

// dates matches a field of Elasticsearch's own type, which counts milliseconds.
func (c column) dates(m filter.Moment) esquery.Query {
	const layout, format = "2006-01-02T15:04:05.000Z", "strict_date_time"
	r := esquery.Range{Field: c.field, Format: format}
	from, below := millisecond(m.From), millisecond(m.Below)
	switch {
	case from.Year() > 9999, below.Year() < 1:
		return esquery.MatchNone{}
	case from.Year() < 1 && below.Year() > 9999:
		return esquery.Exists{Field: c.field}
	}
	if from.Year() >= 1 {
		r.GTE = from.Format(layout)
	}
	if below.Year() <= 9999 {
		r.LT = below.Format(layout)
	}
	return r
}

// millisecond is the first whole one that does not lie before.
func millisecond(micros int64) time.Time {
	at := time.UnixMicro(micros).UTC()
	if whole := at.Truncate(time.Millisecond); whole.Before(at) {
		return whole.Add(time.Millisecond)
	}
	return at
}

const (
	// momentInPainless is where a time starts, as filter.ParseMoment has it; Long.MIN_VALUE for what is none.
	momentInPainless = `int digits(String t, int at, int n, int most) {
  if (at + n > t.length()) { return -1; }
  int x = 0;
  for (int i = at; i < at + n; i++) {
    int digit = t.charAt(i) - (char) '0';
    if (digit < 0 || digit > 9) { return -1; }
    x = 10 * x + digit;
  }
  return x <= most ? x : -1;
}
long moment(String t) {
  int n = t.length(), year = digits(t, 0, 4, 9999), month = 1, day = 1;
  if (year < 1 || n > 35) { return Long.MIN_VALUE; }
  if (n > 4) {
    month = t.charAt(4) == (char) '-' ? digits(t, 5, 2, 12) : -1;
    if (month < 1) { return Long.MIN_VALUE; }
  }
  if (n > 7) {
    day = t.charAt(7) == (char) '-' ? digits(t, 8, 2, 31) : -1;
    if (day < 1 || day > YearMonth.of(year, month).lengthOfMonth()) { return Long.MIN_VALUE; }
  }
  long at = LocalDate.of(year, month, day).toEpochDay() * 86400L;
  if (n <= 10) { return at * 1000000L; }
  if ('Tt '.indexOf(t.substring(10, 11)) < 0) { return Long.MIN_VALUE; }
  int hour = digits(t, 11, 2, 23), second = 0, i = 16;
  int minute = n > 13 && t.charAt(13) == (char) ':' ? digits(t, 14, 2, 59) : -1;
  if (hour < 0 || minute < 0) { return Long.MIN_VALUE; }
  long micros = 0;
  if (i < n && t.charAt(i) == (char) ':') {
    second = digits(t, 17, 2, 59);
    if (second < 0) { return Long.MIN_VALUE; }
    i = 19;
    if (i < n && t.charAt(i) == (char) '.') {
      int places = 0;
      for (i = 20; i < n && digits(t, i, 1, 9) >= 0; i++) {
        if (places < 6) { micros = 10 * micros + digits(t, i, 1, 9); }
        places++;
      }
      if (places < 1 || places > 9) { return Long.MIN_VALUE; }
      for (; places < 6; places++) { micros *= 10; }
    }
  }
  at += hour * 3600 + minute * 60 + second;
  if (i < n) {
    char zone = t.charAt(i);
    i++;
    if (zone == (char) '+' || zone == (char) '-') {
      int hours = digits(t, i, 2, 23), minutes = 0;
      i += 2;
      if (i < n) {
        if (t.charAt(i) == (char) ':') { i++; }
        minutes = digits(t, i, 2, 59);
        i += 2;
      }
      if (hours < 0 || minutes < 0) { return Long.MIN_VALUE; }
      at += (zone == (char) '-' ? 1 : -1) * (hours * 3600 + minutes * 60);
    } else if (zone != (char) 'Z' && zone != (char) 'z') { return Long.MIN_VALUE; }
  }
  return i == n ? at * 1000000L + micros : Long.MIN_VALUE;
}
`
	inTimeInPainless = `long from = ((Number) params.from).longValue(), below = ((Number) params.below).longValue();
for (def v : doc[params.field]) {
  if (!(v instanceof String) || !v.startsWith(params.tag)) { continue; }
  long at = moment(v.substring(params.tag.length()));
  if (at != Long.MIN_VALUE && at >= from && at < below) { return true; }
}
return false;`
)
