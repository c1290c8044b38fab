package cli

import (
	"testing"
	"time"
)

func TestPace(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	p := Progress{what: "uploading", unit: InBytes, size: 100e6}
	p.pace.start(start)
	f := func(seconds float64, n int64, want string) {
		t.Helper()
		p.pace.add(n, start.Add(time.Duration(seconds*float64(time.Second))))
		if got := p.text(); got != want {
			t.Errorf("after %g s: %q, want %q", seconds, got, want)
		}
	}
	p.pace.skip(20e6) // by an earlier run: no part of the rate
	f(0.2, 1e6, "uploading 21 MB of 100 MB")
	f(2, 1e6, "uploading 22 MB of 100 MB, 1.0 MB/s, 1m18s left")
	for i := range 100 { // unchanged files, 10 MB in a second
		f2 := 2 + float64(i+1)/100
		p.pace.add(1e5, start.Add(time.Duration(f2*float64(time.Second))))
	}
	f(4, 8e6, "uploading 40 MB of 100 MB, 5.0 MB/s, 12s left")
	f(64, 6e6, "uploading 46 MB of 100 MB, 100 kB/s, 9m0s left") // one large file for a minute: what was before is too old
	if len(p.pace.samples) > 3 {
		t.Errorf("%d samples are kept; want at most 3 p.pace.samples", len(p.pace.samples))
	}
	p.size = -1
	f(65, 0, "uploading 46 MB, 98 kB/s")
}
