package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const printed = `date: 2026-01-31T10:00Z
commit: abc
load-before: 0.1 0.2 0.3
goos: linux
BenchmarkServers/gateway/rrf-2 	       1	        0.9000 added-p50-ms	        5.100 added-p99-ms
BenchmarkServers/gateway/balanced-2 	       1	        -3.0 added-p99-ms	        0.5 cpu-ms	  2.0 noise-p50	 9.0 noise-p99
BenchmarkFuse/rrf-2            	   20000	     50000 ns/op	  1000 B/op	  12 allocs/op
BenchmarkGrowth/embedded/1000-2 	       1	 0.5 build-s	 200 gateway-MB	 1.5 text-p50-ms
BenchmarkGrowth/embedded/10000-2 	       1	 5.5 build-s	 300 gateway-MB	 2.5 text-p50-ms
BenchmarkNothing
PASS
`

func TestPageShowsFiguresAndVerdicts(t *testing.T) {
	r, err := parse(strings.NewReader(printed))
	if err != nil {
		t.Fatal(err)
	}
	page, err := r.page(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| `rrf`: added p50, ms | < 1 | 0.90 | reached |",
		"| `rrf`: added p99, ms | < 5 | 5.10 | **missed** |",
		"| `balanced`: added p99, ms | < 5 | -3.00 | lost in the noise |",
		"| `balanced`: gateway's CPU a request, one client, ms | ≤ 1 | 0.50 | reached, on a busy machine |",
		"| `text`: added p50, ms | < 1 | – | not measured |",
		"| `rrf`, ns | < 100000 | 50000 | reached |",
		"| `rrf` | 12.0 | 1000 |",
		"Measured 2026-01-31T10:00Z, commit abc, load 0.1 0.2 0.3 before it.",
	} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page does not hold %q:\n%s", want, page)
		}
	}
}

func TestALaterRunReplacesItsOwnFiguresOnly(t *testing.T) {
	r, err := parse(strings.NewReader(printed + "commit: def\nBenchmarkFuse/rrf-2 10 70000 ns/op\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got := r.figures["Fuse/rrf"]["ns/op"]; got != 70000 {
		t.Errorf("fusing takes %g ns, want those of the later run", got)
	}
	if got := r.measured("Servers/gateway/rrf"); !strings.Contains(got, "commit abc") {
		t.Errorf("what was measured once is said to be of another run: %s", got)
	}
	if got := r.measured("Fuse/rrf"); !strings.Contains(got, "commit def") {
		t.Errorf("the later run is not named: %s", got)
	}
}

func TestGrowthPageHasARowPerSize(t *testing.T) {
	r, err := parse(strings.NewReader(printed))
	if err != nil {
		t.Fatal(err)
	}
	text, err := r.page(growthPage)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| 1000 |", "| 10000 |", "Measured 2026-01-31T10:00Z"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the page does not hold %q:\n%s", want, text)
		}
	}
}

func TestChartsAreDrawnOfWhatThereIs(t *testing.T) {
	r, err := parse(strings.NewReader(printed))
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := r.draw(folder); err != nil {
		t.Fatal(err)
	}
	f := func(name string, want bool) {
		t.Helper()
		data, err := os.ReadFile(filepath.Join(folder, name))
		if drawn := err == nil && strings.Contains(string(data), "<svg"); drawn != want {
			t.Errorf("%s is drawn: %t, want %t", name, drawn, want)
		}
	}
	f("latency-embedded.svg", true)
	f("memory.svg", true)
	f("build.svg", true)
	f("latency-elasticsearch.svg", false)
}

func TestBadRelationIsSaid(t *testing.T) {
	if _, err := holds(1, ">", 2); err == nil || !strings.Contains(err.Error(), "accepted are") {
		t.Errorf("holds: %v, want an error that names what is accepted", err)
	}
}
