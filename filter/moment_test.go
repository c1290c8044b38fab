package filter

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// Elsewhere than in UTC, which texts without a zone are of.
func init() { time.Local = time.FixedZone("elsewhere", 5*3600+45*60) }

// TestParseMoment: what a text says, as an interval of RFC 3339's times.
func TestParseMoment(t *testing.T) {
	f := func(text, from, below string) {
		t.Helper()
		moment, ok := ParseMoment(text)
		if from == "" {
			if ok {
				t.Errorf("%q is taken for a time: %+v; want not ok", text, moment)
			}
			return
		}
		want := Moment{micros(t, from), micros(t, from) + 1}
		if below != "" {
			want.Below = micros(t, below)
		}
		if !ok || moment != want {
			t.Errorf("%q is %+v, %v; want %+v", text, moment, ok, want)
		}
	}
	f("2026", "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z")
	f("2026-12", "2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z")
	f("2026-06-10", "2026-06-10T00:00:00Z", "2026-06-11T00:00:00Z")
	f("2024-02-29", "2024-02-29T00:00:00Z", "2024-03-01T00:00:00Z")
	f("0001", "0001-01-01T00:00:00Z", "0002-01-01T00:00:00Z")
	f("2026-06-10T22:00", "2026-06-10T22:00:00Z", "")
	f("2026-06-10t22:00z", "2026-06-10T22:00:00Z", "")
	f("2026-06-10 22:00:30", "2026-06-10T22:00:30Z", "")
	f("2026-06-10T22:00:30.5", "2026-06-10T22:00:30.5Z", "")
	f("2026-06-10T22:00:30.123456789Z", "2026-06-10T22:00:30.123456Z", "")
	f("2026-06-10T22:00:30.000000999", "2026-06-10T22:00:30Z", "")
	f("2026-06-10T22:00:00+02:00", "2026-06-10T20:00:00Z", "")
	f("2026-06-10 22:00-0530", "2026-06-11T03:30:00Z", "")
	f("2026-01-01T01:00+02", "2025-12-31T23:00:00Z", "")
	f("1969-12-31T23:59:59.9", "1969-12-31T23:59:59.9Z", "")
	f("2026-06-10T22:00-00:00", "2026-06-10T22:00:00Z", "")
	for _, none := range []string{
		"", "x", "202", "20260610", "2026-6-10", "2026-06-1", "2026-00", "2026-13", "2026-02-30", "2025-02-29", "2026-04-31", "0000",
		"0000-01-01", "2026-06-00", "2026-", "2026-06-", "2026-06-10T", "2026-06-10T22", "2026-06-10T22:0", "2026-06-10T24:00",
		"2026-06-10T22:60", "2026-06-10T22:00:60", "2026-06-10T22:00:00.", "2026-06-10T22:00:00.1234567890", "2026-06-10T22:00:00,5",
		"2026-06-10  22:00", "2026-06-10X22:00", "2026-06-10T22:00:00+2", "2026-06-10T22:00:00+02:", "2026-06-10T22:00:00+02:0",
		"2026-06-10T22:00:00+24:00", "2026-06-10T22:00:00+02:60", "2026-06-10T22:00:00 Z", "2026-06-10T22:00:00ZZ", "2026-06-10Z",
		"2026-W24", "2026-W24-3", "2026-161", " 2026", "2026 ", "2026-06-10 apples", "-2026", "+2026", "２０２６", "2026-06T10:00",
		"20x6", "2026-06-10T22:00:00.123456789+02:00Z", "yesterday", "2026\x00", "2026-06-10\n", "//26", "2026-0:-01",
	} {
		f(none, "", "")
	}
}

func micros(t *testing.T, text string) int64 {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at.UnixMicro()
}

// TestMomentsOfRanges: a day as a bound is the whole of it.
func TestMomentsOfRanges(t *testing.T) {
	f := func(r Range, from, below string) {
		t.Helper()
		want := Moment{math.MinInt64, math.MaxInt64}
		if from != "" {
			want.From = micros(t, from)
		}
		if below != "" {
			want.Below = micros(t, below)
		}
		if got, ok := r.Moments(); !ok || got != want {
			t.Errorf("%+v, %v; want %+v", got, ok, want)
		}
	}
	v := func(x any) *Value { return &Value{x} }
	f(Range{GT: v("2026-06-10")}, "2026-06-11T00:00:00Z", "")
	f(Range{GTE: v("2026-06-10")}, "2026-06-10T00:00:00Z", "")
	f(Range{LT: v("2026-06-10")}, "", "2026-06-10T00:00:00Z")
	f(Range{LTE: v("2026-06-10")}, "", "2026-06-11T00:00:00Z")
	f(Range{GT: v("2025"), LTE: v("2026-02")}, "2026-01-01T00:00:00Z", "2026-03-01T00:00:00Z")
	f(Range{GT: v("2026-06-10T22:00")}, "2026-06-10T22:00:00.000001Z", "")
	f(Range{LTE: v("2026-06-10T22:00+02:00")}, "", "2026-06-10T20:00:00.000001Z")
	f(Range{GTE: v("2026"), GT: v("2026-03"), LT: v("2027"), LTE: v("2026-05")}, "2026-04-01T00:00:00Z", "2026-06-01T00:00:00Z")
	for _, r := range []Range{{}, {GT: v(1.0)}, {GT: v("2026"), LT: v(1.0)}, {LT: v("x")}, {GTE: v(true)}} {
		if _, ok := r.Moments(); ok {
			t.Errorf("%+v is taken for one of times; want not ok", r)
		}
	}
}

// TestTextsOfMoments: no text of a time in a range lies outside its texts.
func TestTextsOfMoments(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	text := func() string {
		days := []int{1, 2, 365 * 2026, 365 * 2027, 3652058, 3652057}
		day := date(1, 1, days[rng.IntN(len(days))]).AddDate(0, 0, rng.IntN(3)-1)
		written := fmt.Sprintf("%04d-%02d-%02d", max(1, min(day.Year(), 9999)), day.Month(), day.Day())
		switch rng.IntN(4) {
		case 0:
			return written[:[]int{4, 7, 10}[rng.IntN(3)]]
		case 1:
			return written + []string{"T23:59+23:59", " 00:00-23:59", "T00:00:00.1+23", "t23:59:59-23"}[rng.IntN(4)]
		default:
			return written + "T12:00:00Z"
		}
	}
	for range 20_000 {
		r := Range{}
		for _, bound := range []**Value{&r.GT, &r.GTE, &r.LT, &r.LTE} {
			if rng.IntN(2) == 0 {
				*bound = &Value{text()}
			}
		}
		between, ok := r.Moments()
		from, below := between.Texts()
		if stored := text(); ok && between.Holds(stored) && (stored < from || stored >= below) {
			t.Fatalf("%s lies in %+v and not between the texts %s and %s", stored, between, from, below)
		}
	}
}

func TestParseMomentDoesNotAllocate(t *testing.T) {
	texts := []string{"2026-06-10T22:00:00.5+02:00", "2026", "no time", "2026 was a year", strings.Repeat("2", 9999)}
	if n := testing.AllocsPerRun(100, func() {
		for _, text := range texts {
			ParseMoment(text)
		}
	}); n > 0 {
		t.Errorf("%v allocations; want n 0", n)
	}
}

func BenchmarkParseMoment(b *testing.B) {
	for _, text := range []string{"2026-06-10T22:00:00Z", "2026-06-10", "billing"} {
		b.Run(text, func(b *testing.B) {
			for b.Loop() {
				ParseMoment(text)
			}
		})
	}
}
