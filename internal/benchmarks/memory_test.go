package benchmarks

import (
	"testing"
	"time"
)

// BenchmarkIdle is the memory of the program after its start, its dictionaries
// loaded and used once.
func BenchmarkIdle(b *testing.B) {
	if _, err := buildBinary(); err != nil {
		b.Fatal(err)
	}
	start := time.Now()
	g := startGateway(b, "")
	ready := time.Since(start)
	time.Sleep(2 * time.Second)
	began := g.resident(b)
	g.fill(b, "embedded", "bench", corpus(b, 10))
	if err := g.search([]byte(`{"query": "如何申请退款", "knowledge_bases": ["bench"], "preset": "text"}`)); err != nil {
		b.Fatal(err)
	}
	time.Sleep(2 * time.Second)
	show(b, figure{"resident-MB", began}, figure{"resident-used-MB", g.resident(b)},
		figure{"ready-ms", milliseconds(ready)})
}
