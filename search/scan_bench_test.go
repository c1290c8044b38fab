package search

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// BenchmarkScan reads a request with a vector of 384 numbers, written as a client does
// that has them as float64.
func BenchmarkScan(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	var numbers []string
	for range 384 {
		numbers = append(numbers, fmt.Sprint(float64(float32(rng.NormFloat64()/20))))
	}
	text := []byte(`{"query": "How do I get a refund?", "knowledge_bases": ["manuals"], "preset": "script_score", ` +
		`"vector": [` + strings.Join(numbers, ", ") + `]}`)
	b.ReportAllocs()
	for b.Loop() {
		var r Request
		if rest, ok := r.ScanJSON(text); !ok || rest != nil {
			b.Fatal(string(rest), ok)
		}
	}
}
