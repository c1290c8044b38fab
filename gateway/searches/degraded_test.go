package searches

import (
	"fmt"
	"testing"
	"time"
)

func TestAReasonIsSaidOnceASecond(t *testing.T) {
	var w warnings
	begun := time.Now()
	f := func(reason string, after time.Duration, say bool, unsaid int) {
		t.Helper()
		if n, said := w.of(reason, begun.Add(after)); n != unsaid || said != say {
			t.Errorf("%s after %v: said %v, %d before; want %v, %d", reason, after, said, n, say, unsaid)
		}
	}
	f("a", 0, true, 0)
	f("a", 400*time.Millisecond, false, 0)
	f("a", 999*time.Millisecond, false, 0)
	f("b", 999*time.Millisecond, true, 0)
	f("a", time.Second, true, 2)
	f("a", 1500*time.Millisecond, false, 0)
	f("a", 4*time.Second, true, 1)
	for i := range 2 * maxWarnings {
		w.of(fmt.Sprint("reason ", i), begun.Add(5*time.Second))
	}
	if n := len(w.last); n > maxWarnings {
		t.Errorf("%d reasons are remembered; want n at most maxWarnings", n)
	}
	f("another", 5*time.Second, false, 0)
	f("another", 6*time.Second, true, 0)
	if n := len(w.last); n != 1 {
		t.Errorf("%d reasons are remembered after their second; want n 1", n)
	}
}
