package benchmarks

import (
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/search"
)

// BenchmarkLibrary is one search after the other on the embedded engine without
// any HTTP, to profile and to count allocations: every preset, each question in
// turn. p50-ms is over all searches; undisturbed-p50-ms is over the questions, of
// each one's fastest search, which a busy machine changes less.
func BenchmarkLibrary(b *testing.B) {
	const id = "bench"
	searcher := openSearcher(b, id, corpus(b, chunkCount))
	asked := questions(b, perEmbedded)
	for _, preset := range presets {
		requests := make([]search.Request, len(asked))
		for i, q := range asked {
			requests[i] = search.Request{Query: q.Text, Plain: true, KnowledgeBases: []string{id}, Preset: preset, TopK: new(10)}
			if preset != "text" {
				requests[i].Vector = q.Vector
			}
		}
		run := func(i int) error {
			_, err := searcher.Search(b.Context(), access.Scope{Tenant: tenant}, requests[i%len(requests)])
			return err
		}
		b.Run(preset, func(b *testing.B) {
			warmUp(b, 20, run)
			b.ReportAllocs()
			var all times
			fastest := make(times, len(requests))
			for i := 0; b.Loop(); i++ {
				start := time.Now()
				if err := run(i); err != nil {
					b.Fatal(err)
				}
				took := time.Since(start)
				all = append(all, took)
				if at := &fastest[i%len(fastest)]; *at == 0 || took < *at {
					*at = took
				}
			}
			asked := fastest[:min(len(fastest), len(all))]
			b.ReportMetric(milliseconds(all.percentile(50)), "p50-ms")
			b.ReportMetric(milliseconds(asked.percentile(50)), "undisturbed-p50-ms")
		})
	}
}
