package filter

import (
	"math"
	"strings"
	"time"
)

// Moment is a span of time, [From, Below) in microseconds since 1970 in UTC: a year, a month or a day; any
// other time is one microsecond long.
type Moment struct{ From, Below int64 }

// longestMoment is the length of a time with nanoseconds and an offset.
const longestMoment = len("2026-06-10T22:00:00.123456789+02:00")

// ParseMoment reads a time of ISO 8601: a year, a month or a day, as 2026, 2026-06 and 2026-06-10, or a day
// with T or a space and a clock, as 22:00, 22:00:30 or 22:00:30.123456789, and then perhaps Z or an offset,
// as +02:00, +0200 or +02. Without one it is UTC. Digits beyond microseconds are truncated. Weeks, days of
// the year, 24:00, leap seconds and impossible dates are refused.
func ParseMoment(text string) (Moment, bool) {
	if len(text) < len("2026") || len(text) > longestMoment || text[0] > '9' {
		return Moment{}, false
	}
	r := momentReader{rest: text, ok: true}
	year := r.number(4, 1, 9999)
	if r.rest == "" {
		return period(date(year, 1, 1), 1, 0, 0), r.ok
	}
	r.one("-")
	if !r.ok { // as for most texts that begin with four digits
		return Moment{}, false
	}
	month := r.number(2, 1, 12)
	if r.rest == "" {
		return period(date(year, month, 1), 0, 1, 0), r.ok
	}
	r.one("-")
	start, day := date(year, month, 1), r.number(2, 1, 31)
	start = start.AddDate(0, 0, day-1)
	if r.need(start.Month() == time.Month(month)); r.rest == "" {
		return period(start, 0, 0, 1), r.ok
	}
	r.one("Tt ")
	at := start.UnixMicro() + r.clock() - r.offset()
	r.need(r.rest == "")
	return Moment{at, at + 1}, r.ok
}

func date(year, month, day int) time.Time {
	return time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
}

// period returns the Moment that begins at from and has this length.
func period(from time.Time, years, months, days int) Moment {
	return Moment{from.UnixMicro(), from.AddDate(years, months, days).UnixMicro()}
}

// momentReader parses a time from left to right; ok is false after a mismatch.
type momentReader struct {
	rest string
	ok   bool
}

func (r *momentReader) need(ok bool) { r.ok = r.ok && ok }

// number reads a number of exactly that many digits, within the bounds.
func (r *momentReader) number(digits, least, most int) int {
	if len(r.rest) < digits {
		r.ok, r.rest = false, ""
		return least
	}
	n := 0
	for i := range digits {
		c := r.rest[i]
		r.need('0' <= c && c <= '9')
		n = 10*n + int(c-'0')
	}
	r.rest = r.rest[digits:]
	r.need(least <= n && n <= most)
	return n
}

// optional reads a character if it is one of these; 0 if it is not.
func (r *momentReader) optional(these string) byte {
	if r.rest == "" || strings.IndexByte(these, r.rest[0]) < 0 {
		return 0
	}
	c := r.rest[0]
	r.rest = r.rest[1:]
	return c
}

func (r *momentReader) one(of string) { r.need(r.optional(of) != 0) }

// clock reads hours and minutes, and seconds where there are any, as microseconds.
func (r *momentReader) clock() int64 {
	seconds := r.number(2, 0, 23) * 3600
	r.one(":")
	seconds += r.number(2, 0, 59) * 60
	if r.optional(":") == 0 {
		return int64(seconds) * 1e6
	}
	seconds += r.number(2, 0, 59)
	return int64(seconds)*1e6 + r.fraction()
}

// fraction reads a point and up to nine digits, as microseconds.
func (r *momentReader) fraction() int64 {
	if r.optional(".") == 0 {
		return 0
	}
	n, digits := int64(0), 0
	for ; digits < len(r.rest) && '0' <= r.rest[digits] && r.rest[digits] <= '9'; digits++ {
		if digits < 6 {
			n = 10*n + int64(r.rest[digits]-'0')
		}
	}
	r.need(1 <= digits && digits <= 9)
	r.rest = r.rest[digits:]
	for ; digits < 6; digits++ {
		n *= 10
	}
	return n
}

// offset reads how far the clock is ahead of UTC, as microseconds.
func (r *momentReader) offset() int64 {
	if r.optional("Zz") != 0 {
		return 0
	}
	sign := r.optional("+-")
	if sign == 0 {
		return 0
	}
	seconds := r.number(2, 0, 23) * 3600
	if colon := r.optional(":") != 0; colon || r.rest != "" {
		seconds += r.number(2, 0, 59) * 60
	}
	if sign == '-' {
		seconds = -seconds
	}
	return int64(seconds) * 1e6
}

// Moments returns the span between the bounds of a range. For a year, a month or a day, GT starts at its end
// and GTE at its start; LT ends at its start and LTE at its end. ok is false if there is no bound, or one is
// not a time.
func (r *Range) Moments() (between Moment, ok bool) {
	between = Moment{math.MinInt64, math.MaxInt64}
	for _, bound := range []struct {
		value *Value
		set   func(Moment)
	}{
		{r.GT, func(m Moment) { between.From = max(between.From, m.Below) }},
		{r.GTE, func(m Moment) { between.From = max(between.From, m.From) }},
		{r.LT, func(m Moment) { between.Below = min(between.Below, m.From) }},
		{r.LTE, func(m Moment) { between.Below = min(between.Below, m.Below) }},
	} {
		if bound.value == nil {
			continue
		}
		text, _ := bound.value.V.(string)
		moment, isTime := ParseMoment(text)
		if !isTime {
			return Moment{}, false
		}
		bound.set(moment)
		ok = true
	}
	return between, ok
}

// Holds reports whether the start of a stored time lies in m.
func (m Moment) Holds(text string) bool {
	stored, ok := ParseMoment(text)
	return ok && m.From <= stored.From && stored.From < m.Below
}

// Texts returns bounds [from, below) of the texts of all times in m, widened by a day on each side for
// offsets, so that an engine needs to parse only these.
func (m Moment) Texts() (from, below string) {
	from, below = "0", ":" // everything that begins with a digit
	if m.From != math.MinInt64 {
		if start := time.UnixMicro(m.From).UTC().AddDate(0, 0, -1); start.Year() >= 1 && start.Year() <= 9999 {
			from = start.Format(time.DateOnly)
		}
	}
	if m.Below != math.MaxInt64 {
		if end := time.UnixMicro(m.Below).UTC().AddDate(0, 0, 2); end.Year() <= 9999 {
			below = end.Format(time.DateOnly)
		}
	}
	return from, below
}
