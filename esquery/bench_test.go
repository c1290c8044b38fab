package esquery

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// BenchmarkSmile writes what a search of both text and vectors sends, and the
// request for the page of ten that it shows. Cold: the processor's caches were used by
// something else in between, as by Elasticsearch on the same machine.
func BenchmarkSmile(b *testing.B) {
	others := make([]byte, 64<<20)
	for _, cold := range []bool{false, true} {
		for name, body := range map[string]Body{"sum": benchSum(), "page": benchPage()} {
			b.Run(fmt.Sprintf("%s/cold=%t", name, cold), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if cold {
						b.StopTimer()
						for i := 0; i < len(others); i += 64 {
							others[i]++
						}
						b.StartTimer()
					}
					if _, err := MarshalSmile(body); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// benchSum has eight terms, half with synonyms, two phrases and a vector of 384.
func benchSum() Search {
	text := Bool{Common: Common{Name: "leg0"}}
	terms := Bool{MinimumShouldMatch: 3}
	for i := range 8 {
		var clause Query = Term{Field: "text_ltks", Value: fmt.Sprint("word", i)}
		if i%2 == 0 {
			clause = DisMax{Queries: []Query{
				clause,
				Term{Field: "text_ltks", Value: fmt.Sprint("other", i), Common: Common{Boost: new(0.8)}},
				MatchPhrase{Field: "text_ltks", Query: fmt.Sprint("two words", i), Common: Common{Boost: new(0.64)}},
			}}
		}
		terms.Should = append(terms.Should, clause)
	}
	text.Must = []Query{terms}
	for i := range 2 {
		text.Should = append(text.Should, MatchPhrase{
			Field: "text_ltks", Query: fmt.Sprintf("some words%d", i), Slop: 2, Common: Common{Boost: new(1.5)},
		})
	}
	rng := rand.New(rand.NewPCG(1, 1))
	vector := make([]float32, 384)
	for i := range vector {
		vector[i] = float32(rng.NormFloat64() / 20)
	}
	near := ScriptScore{Common: Common{Name: "leg1"}, Query: Exists{Field: "vector"}, Script: CosineScript("vector", vector)}
	return Search{
		Query: Bool{Filter: benchFilter(), Should: []Query{
			Bool{Common: Common{Boost: new(0.05)}, Must: []Query{text}},
			Bool{Common: Common{Boost: new(0.95)}, Must: []Query{near}},
		}},
		Size: 1025, DocValueFields: []string{"id", "document_id", "document_name"}, NoStored: true, Timeout: 8 * time.Second,
	}
}

func benchPage() Search {
	var ids []any
	for i := range 10 {
		ids = append(ids, fmt.Sprintf("guide.md#%d", i*7))
	}
	return Search{
		Query: Bool{Filter: append(benchFilter(), Terms{Field: "id", Values: ids})}, Size: len(ids),
		Source: []string{"id", "document_id", "document_name", "content", "title", "metadata"},
	}
}

func benchFilter() []Query {
	return []Query{
		Term{Field: "tenant", Value: "default"}, Term{Field: "kb", Value: "manuals"}, Term{Field: "available", Value: true},
	}
}
