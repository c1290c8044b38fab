package benchmarks

import (
	"testing"

	"github.com/hybridge-search/hybridge/search"
)

// BenchmarkLibrary is one search after the other on the embedded engine without
// any HTTP, to profile and to count allocations: every preset, each question in
// turn.
func BenchmarkLibrary(b *testing.B) {
	const id = "bench"
	searcher := openSearcher(b, id, corpus(b, chunkCount))
	asked := questions(b, perPreset)
	for _, preset := range presets {
		requests := make([]search.Request, len(asked))
		for i, q := range asked {
			requests[i] = search.Request{Query: q.Text, Plain: true, KnowledgeBases: []string{id}, Preset: preset, TopK: new(10)}
			if preset != "text" {
				requests[i].Vector = q.Vector
			}
		}
		run := func(i int) error {
			_, err := searcher.Search(b.Context(), search.Scope{Tenant: tenant}, requests[i%len(requests)])
			return err
		}
		b.Run(preset, func(b *testing.B) {
			warmUp(b, 20, run)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if err := run(i); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
