package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestTheTimeThatIsLeft(t *testing.T) {
	f := func(copied int, took time.Duration, throttle, rate, remaining float64) {
		t.Helper()
		p := MigrationProgress{Done: 400, Total: 1000, Throttle: throttle}
		if p.Measure(copied, took); p.Rate != rate || p.Remaining != remaining {
			t.Errorf("%d in %s at most %g a second: %+v, want %g and %g s", copied, took, throttle, p, rate, remaining)
		}
	}
	f(100, time.Second, 0, 100, 6)
	f(1000, time.Second, 20, 1000, 30) // the first page is not held yet
	f(10, time.Second, 20, 10, 60)     // slower than the limit
	f(0, 0, 20, 0, 30)                 // nothing measured since it was taken over
	f(0, time.Second, 0, 0, 0)         // not known
}

// TestTheTimelineNotesEachStepOnce, also one that failed and is resumed, and shares nothing with copies.
func TestTheTimelineNotesEachStepOnce(t *testing.T) {
	at := func(seconds int) time.Time { return time.Unix(int64(seconds), 0) }
	m := Migration{Direction: GoForward}
	m.Begin("create", at(0))
	m.End(at(2))
	m.Begin("copy", at(2))
	copied := m
	m.Begin("copy", at(10)) // resumed
	m.End(at(14))
	m.Direction = GoRollback
	m.Begin("copy", at(20))
	var got []string
	for _, s := range m.Timeline {
		got = append(got, fmt.Sprintf("%s %s %d+%g", s.Direction, s.Step, s.StartedAt.Unix(), s.Seconds))
	}
	if want := "apply create 0+2, apply copy 10+4, rollback copy 20+0"; strings.Join(got, ", ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, ", "), want)
	}
	if last := copied.Timeline[1]; last.Seconds != 0 || !last.StartedAt.Equal(at(2)) {
		t.Errorf("a copy changed along: %+v", last)
	}
}

// TestChecksShareNothingWithCopies: an answer holds a copy of the migration while its run goes on.
func TestChecksShareNothingWithCopies(t *testing.T) {
	var m Migration
	m.Pass("counts", "%d of %d", 3, 3)
	m.Pass("samples", "none differs")
	copied := m
	m.Pass("counts", "%d of %d", 4, 4)
	if got := copied.Checks; len(got) != 2 || got[0].Name != "counts" || got[0].Detail != "3 of 3" || got[1].Name != "samples" {
		t.Errorf(`a copy changed along: %+v; want 2 got and got[0].Name "counts" and got[0].Detail "3 of 3" and got[1].Name "samples"`, got)
	}
	if got := m.Checks; len(got) != 2 || got[0].Name != "samples" || got[1].Detail != "4 of 4" {
		t.Errorf(`%+v; want 2 got and got[0].Name "samples" and got[1].Detail "4 of 4"`, got)
	}
}
