package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/internal/brief"
)

const printed = `date: 2026-01-31T10:00Z
commit: abc
load-before: 0.1 0.2 0.3
goos: linux
BenchmarkServers/gateway/rrf-2 	       1	        0.9000 added-p50-of-proxy	        5.100 added-p99-ms
BenchmarkServers/gateway/balanced-2 	       1	        -3.0 added-p99-ms	        5.5 cpu-of-relay	  2.0 noise-p50	 9.0 noise-p99
BenchmarkFuse/rrf-2            	   20000	     50000 ns/op	  1000 B/op	  12 allocs/op
BenchmarkFuse/a_new_method-2   	   20000	     60000 ns/op	  2000 B/op	  14 allocs/op
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
		"| `rrf`: added p50, of the bare proxy's | ≤ 0.95 | 0.90 | reached |",
		"| `rrf`: gateway's CPU a request, one client, of the bare proxy's | ≤ 0.75 | – | not measured |",
		"| `rrf`: added p99, ms | < 5 | 5.10 | **missed** |",
		"| `balanced`: added p99, ms | < 5 | -3.00 | lost in the noise |",
		"| `balanced`: gateway's CPU a request, one client, of the relay's | ≤ 6 | 5.50 | reached, on a busy machine |",
		"| `script_score`: added p50, of the bare proxy's | ≤ 0.33 | – | not measured |",
		"| `rrf`, ns | < 100000 | 50000 | reached |",
		"| `rrf` | 12.0 | 1000 |",
		"| `a_new_method`, ns | < 100000 | 60000 | reached |",
		"| `a_new_method` | 14.0 | 2000 |",
		"Measured 2026-01-31T10:00Z, commit abc, load 0.1 0.2 0.3 before it.",
	} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page does not hold %q:\n%s", want, brief.Of(page))
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
		t.Errorf(`what was measured once is said to be of another run: %s; want "commit abc" in it`, got)
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
			t.Errorf("the page does not hold %q:\n%s", want, brief.Of(text))
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

func TestReadmeQuotesThePages(t *testing.T) {
	read := func(path string) string {
		t.Helper()
		text, err := os.ReadFile(filepath.Join("../../..", path))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	readme, page := read("README.md"), read("docs/benchmarks.md")
	quoted, said := inShort.FindString(readme), inShort.FindString(page)
	if said == "" || quoted != said {
		t.Errorf("README.md says\n%s\nand docs/benchmarks.md says\n%s", quoted, said)
	}
	gain := regexp.MustCompile(`\[([\d.]+) points of nDCG@10\]`).FindStringSubmatch(readme)
	if gain == nil || !strings.Contains(read("docs/relevance.md"), " | +"+gain[1]+" | ") {
		t.Errorf("README.md says %q of `balanced`, and docs/relevance.md does not", gain)
	}
	rest := inShort.ReplaceAllString(readme, "")
	if speed := regexp.MustCompile(`\d ms\b|millisecond|times as fast`).FindString(rest); speed != "" {
		t.Errorf(`README.md says %q outside of what it takes from docs/benchmarks.md; want speed ""`, speed)
	}
}

func TestQuoteReplacesWhatWasSaidBefore(t *testing.T) {
	readme := filepath.Join(t.TempDir(), "README.md")
	const before = "One\n<!-- figures -->\nold\n<!-- end of figures -->\ntwo\n"
	if err := os.WriteFile(readme, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	const said = "<!-- figures -->\n$1 new\n<!-- end of figures -->"
	if err := quote("A page\n"+said+"\nand more\n", readme); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(readme)
	if want := "One\n" + said + "\ntwo\n"; err != nil || string(got) != want {
		t.Errorf("the page is now %q, %v; want %q", brief.Of(got), err, want)
	}
	if err := os.WriteFile(readme, []byte("One\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := quote(said, readme); err == nil {
		t.Error("a page without the marks was taken for one that was brought up to date")
	}
}

func TestBadRelationIsSaid(t *testing.T) {
	if _, err := holds(1, ">", 2); err == nil || !strings.Contains(err.Error(), "accepted are") {
		t.Errorf("holds: %v, want an error that names what is accepted", err)
	}
}
