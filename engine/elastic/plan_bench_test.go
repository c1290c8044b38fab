package elastic

import (
	"fmt"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic/storage"
	"github.com/hybridge-search/hybridge/esquery"
	"github.com/hybridge-search/hybridge/mappings"
	"github.com/hybridge-search/hybridge/textquery"
)

// BenchmarkPlan makes what a sum of a text and a vector leg sends: ten words, eight
// phrases, 384 dimensions.
func BenchmarkPlan(b *testing.B) {
	kb := engine.KnowledgeBase{
		Ref: engine.Ref{Tenant: "acme", ID: "manuals"}, Kind: engine.KindChunks, Dimensions: 384,
		Analyzer: mappings.Analyzers()[0],
	}
	store, err := storage.New(storage.Options{Prefix: defaultPrefix})
	if err != nil {
		b.Fatal(err)
	}
	t, err := newTarget(store.OwnLocation(&kb))
	if err != nil {
		b.Fatal(err)
	}
	text := &textquery.Query{MinimumMatch: 3}
	for i := range 10 {
		text.Terms = append(text.Terms, textquery.Term{Text: fmt.Sprintf("word%d", i), Weight: 1 / float64(1+i)})
	}
	for i := range 8 {
		text.Phrases = append(text.Phrases, textquery.Phrase{
			Terms: []string{text.Terms[i].Text, text.Terms[i+1].Text}, Slop: 2, Weight: 1.5,
		})
	}
	vector := make([]float32, kb.Dimensions)
	vector[7] = 1
	req := &engine.Request{
		KB: kb, Legs: []engine.Leg{{Field: engine.FieldText, Text: text}, {Field: engine.FieldVector, Vector: vector}},
		Sum: &engine.Sum{Candidates: 1024, Weights: []float64{0.05, 0.95}},
	}
	e := &Engine{timeout: defaultTimeout}
	b.ReportAllocs()
	for b.Loop() {
		p, err := t.plan(req)
		if err != nil {
			b.Fatal(err)
		}
		query, _, _ := p.sumQuery()
		if _, err = esquery.MarshalSmile(p.sumSearch(e, query)); err != nil {
			b.Fatal(err)
		}
	}
}
