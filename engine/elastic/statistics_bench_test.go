package elastic_test

import (
	"fmt"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic"
	"github.com/hybridge-search/hybridge/engine/enginetest"
)

// BenchmarkStatistics asks for a dozen terms that are remembered.
func BenchmarkStatistics(b *testing.B) {
	server := &counter{t: b, mapping: liveMapping(b, manuals()), docs: 100, df: 7}
	e, err := elastic.New(elastic.Options{
		URLs: []string{"http://127.0.0.1:9200"}, Tokenizer: enginetest.Words{}, Transport: server,
	})
	if err != nil {
		b.Fatal(err)
	}
	req := &engine.StatisticsRequest{KB: manuals(), Field: engine.FieldText}
	for i := range 12 {
		req.Terms = append(req.Terms, fmt.Sprintf("term%d", i))
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := e.Statistics(b.Context(), req); err != nil {
			b.Fatal(err)
		}
	}
	if len(server.asked) > 1 {
		b.Error("the terms were not remembered")
	}
}
