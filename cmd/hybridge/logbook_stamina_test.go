package main

import (
	"bufio"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/internal/devservices"
)

// periods is into how many equal parts a load is divided for its report.
const periods = 10

// logbook keeps what the requests of a load took, and what the process needed.
type logbook struct {
	begun   time.Time
	lasting time.Duration
	mu      sync.Mutex
	took    [periods]map[string][]time.Duration
	needs   [periods][]need
}

// need is what the process has at one moment.
type need struct {
	heapMB, residentMB float64
	runtimeMB          float64 // what Go's runtime has of the system
	goroutines         float64
}

func newLogbook(lasting time.Duration) *logbook {
	b := &logbook{begun: time.Now(), lasting: lasting}
	for i := range b.took {
		b.took[i] = map[string][]time.Duration{}
	}
	return b
}

func (b *logbook) period() int {
	return min(periods-1, int(periods*time.Since(b.begun)/b.lasting))
}

func (b *logbook) note(what string, took time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	of := b.took[b.period()]
	of[what] = append(of[what], took)
}

// sample reads the metrics of the process.
func (b *logbook) sample(p *process) {
	response, err := p.http.Get(p.url + "/metrics")
	if err != nil {
		p.t.Error(err)
		return
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		p.t.Errorf("/metrics: %d; want response.StatusCode StatusOK", response.StatusCode)
	}
	values := map[string]float64{}
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		var name string
		var value float64
		if _, err := fmt.Sscan(lines.Text(), &name, &value); err == nil {
			values[name] = value
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.needs[b.period()] = append(b.needs[b.period()], need{
		heapMB: values["go_memstats_heap_alloc_bytes"] / 1e6, residentMB: values["process_resident_memory_bytes"] / 1e6,
		runtimeMB: values["go_memstats_sys_bytes"] / 1e6, goroutines: values["go_goroutines"],
	})
}

// least is the lowest of a period's samples: what is there just after a collection.
func least(samples []need, of func(need) float64) float64 {
	low := of(samples[0])
	for _, s := range samples {
		low = min(low, of(s))
	}
	return low
}

func middle(samples []need, of func(need) float64) float64 {
	all := make([]float64, len(samples))
	for i, s := range samples {
		all[i] = of(s)
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// judge reports the load, and wants the last fifth to need about what the fifth and sixth
// tenth needed. Before them caches fill, which takes requests and not time: under the race
// detector on a busy machine three tenths.
func (b *logbook) judge(t *testing.T) {
	t.Helper()
	if t.Failed() {
		return
	}
	devservices.Report(t, b.table())
	early, late := slices.Concat(b.needs[periods/2-1], b.needs[periods/2]), slices.Concat(b.needs[periods-2], b.needs[periods-1])
	if len(early) == 0 || len(late) == 0 {
		t.Fatalf("%d and %d samples; want some early and some late", len(early), len(late))
	}
	flat := func(what string, from, to, factor, slack float64) {
		t.Helper()
		if to > factor*from+slack {
			t.Errorf("%s grew from %.0f to %.0f", what, from, to)
		}
	}
	slack := 16.0
	if b.lasting < time.Minute { // a few collections only, and none of them may have met a sample
		slack = 128
	}
	heap := func(n need) float64 { return n.heapMB }
	what, memory := "the resident memory in MB", func(n need) float64 { return n.residentMB }
	if raceDetector { // whose own records, 5 kB a request, are resident too, and no runtime's
		what, memory = "the memory of Go's runtime in MB", func(n need) float64 { return n.runtimeMB }
	}
	goroutines := func(n need) float64 { return n.goroutines }
	flat("the heap in MB", least(early, heap), least(late, heap), 1.25, slack)
	flat(what, middle(early, memory), middle(late, memory), 1.25, 4*slack)
	flat("the number of goroutines", middle(early, goroutines), middle(late, goroutines), 1, 10)
}

// table is the report in Markdown: per period, and per kind of request.
func (b *logbook) table() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s of mixed load%s, %d requests, no error, nothing degraded.\n\n", b.lasting, underRace(), b.requests())
	out.WriteString("| part | requests/s | search p50 ms | search p99 ms | write p50 ms | write p99 ms | heap MB | resident MB | goroutines |\n")
	out.WriteString("|---|---|---|---|---|---|---|---|---|\n")
	for i, of := range b.took {
		var searches, writes []time.Duration
		n := 0
		for what, took := range of {
			n += len(took)
			switch {
			case strings.HasPrefix(what, "search"):
				searches = append(searches, took...)
			case what == "write" || what == "replace" || what == "delete":
				writes = append(writes, took...)
			}
		}
		if len(b.needs[i]) == 0 {
			continue
		}
		fmt.Fprintf(&out, "| %d | %.0f | %.1f | %.1f | %.1f | %.1f | %.0f | %.0f | %.0f |\n", i+1,
			float64(n)*periods/b.lasting.Seconds(), atShare(searches, 50), atShare(searches, 99),
			atShare(writes, 50), atShare(writes, 99), least(b.needs[i], func(n need) float64 { return n.heapMB }),
			middle(b.needs[i], func(n need) float64 { return n.residentMB }),
			middle(b.needs[i], func(n need) float64 { return n.goroutines }))
	}
	out.WriteString("\n" + b.kinds())
	return out.String()
}

// kinds is a table of what each kind of request took.
func (b *logbook) kinds() string {
	var out strings.Builder
	out.WriteString("| request | count | p50 ms | p99 ms | worst ms |\n|---|---|---|---|---|\n")
	all := b.byKind()
	kinds := make([]string, 0, len(all))
	for what := range all {
		kinds = append(kinds, what)
	}
	slices.Sort(kinds)
	for _, what := range kinds {
		fmt.Fprintf(&out, "| %s | %d | %.1f | %.1f | %.1f |\n", what, len(all[what]), atShare(all[what], 50),
			atShare(all[what], 99), atShare(all[what], 100))
	}
	return out.String()
}

func underRace() string {
	if raceDetector {
		return " under the race detector"
	}
	return ""
}

func (b *logbook) byKind() map[string][]time.Duration {
	all := map[string][]time.Duration{}
	for _, of := range b.took {
		for what, took := range of {
			all[what] = append(all[what], took...)
		}
	}
	return all
}

func (b *logbook) requests() (n int) {
	for _, took := range b.byKind() {
		n += len(took)
	}
	return n
}

// atShare gives a percentile in milliseconds, 0 of nothing.
func atShare(took []time.Duration, percent int) float64 {
	if len(took) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(took))
	return float64(sorted[min(len(sorted)*percent/100, len(sorted)-1)].Microseconds()) / 1000
}
