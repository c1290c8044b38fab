package elastic_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic"
	"github.com/hybridge-search/hybridge/engine/enginetest"
	"github.com/hybridge-search/hybridge/filter"
	"github.com/hybridge-search/hybridge/internal/golden"
	"github.com/hybridge-search/hybridge/mappings"
	"github.com/hybridge-search/hybridge/textquery"
)

// refund is a query with everything that a query can have.
func refund() *textquery.Query {
	return &textquery.Query{
		Terms: []textquery.Term{
			{Text: "refund", Weight: 1, Synonyms: []textquery.Phrase{
				{Terms: []string{"repay"}, Weight: 0.8}, {Terms: []string{"money", "back"}, Weight: 0.64},
			}},
			{Text: "退款", Weight: 0.5},
		},
		Phrases:      []textquery.Phrase{{Terms: []string{"申请", "退款"}, Slop: 2, Weight: 1.5}},
		MinimumMatch: 2,
	}
}

func textLeg() engine.Leg {
	return engine.Leg{Name: "text", Field: engine.FieldText, K: 10, Text: refund()}
}

func vectorLeg() engine.Leg {
	return engine.Leg{Name: "vector", Field: engine.FieldVector, K: 10, Vector: []float32{3, 4}}
}

func everyFilter() engine.Filter {
	value := func(v any) *filter.Value { return &filter.Value{V: v} }
	return engine.Filter{
		Conditions: []filter.Condition{
			{Field: "category", In: []filter.Value{{V: "billing"}, {V: 2.0}, {V: true}}},
			{Field: "year", Range: &filter.Range{GTE: value(2024.0)}},
			{Field: "date", Range: &filter.Range{GTE: value("2024-01-01"), LT: value("2025")}, Not: true},
			{Field: "odd.key*", Exists: new(true)},
			{Field: "document_name", In: []filter.Value{{V: "guide.md"}, {V: 7.0}}},
			{Field: "category", Part: &filter.Part{Text: "bill", At: filter.AtStart}},
			{Field: "document_name", Part: &filter.Part{Text: ".md", At: filter.AtEnd}, Not: true},
			{Field: "mixed", Range: &filter.Range{GT: value(1.0), LT: value("x")}},
		},
		IDs: []string{"c1", "c2"}, Owner: "u1",
		Required: []textquery.Phrase{{Terms: []string{"pay", "back"}, Slop: 3, Weight: 9}},
		Excluded: []textquery.Phrase{{Terms: []string{"draft"}}}, Fields: []string{engine.FieldText},
	}
}

// searches are requests whose statements are goldens.
var searches = map[string]engine.Request{
	"legs":      {Legs: []engine.Leg{textLeg(), vectorLeg()}},
	"filtered":  {Legs: []engine.Leg{vectorLeg()}, Filter: everyFilter(), Facets: []string{"category", "document_name"}},
	"sum":       {Legs: []engine.Leg{textLeg(), vectorLeg()}, Sum: &engine.Sum{Candidates: 1024, Weights: []float64{0.05, 0.95}}},
	"saturated": {Legs: []engine.Leg{textLeg(), vectorLeg()}, Sum: &engine.Sum{Candidates: 1024, Weights: []float64{0, 1}, Pivot: 5}},
	"text-sum":  {Legs: []engine.Leg{textLeg()}, Sum: &engine.Sum{Candidates: 10, Weights: []float64{1}}},
}

func TestRenderedRequests(t *testing.T) {
	kb := manuals()
	e := newFake(t, &kb).engine(t, nil)
	f := func(name string, req engine.Request) {
		t.Helper()
		statements, err := e.Render(&req)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		golden.JSON(t, "render-"+name+".json", statements)
	}
	for name, req := range searches {
		req.KB = kb
		f(name, req)
	}
	required := searches["sum"]
	required.KB, required.Legs = kb, []engine.Leg{textLeg(), vectorLeg()}
	required.Legs[0].Required = true
	f("required", required)
	analysed := searches["legs"]
	analysed.KB = kb
	analysed.KB.Analyzer = mappings.AnalyzerCJK
	f("analysed", analysed)
	shared := searches["legs"]
	shared.KB = kb
	shared.KB.Shared = true
	f("shared", shared)
}

// TestSentRequests notes everything that goes over the wire.
func TestSentRequests(t *testing.T) {
	kb := manuals()
	server := newFake(t, &kb)
	e := server.engine(t, nil)
	f := func(name string, call func() error) {
		t.Helper()
		if err := call(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		golden.JSON(t, "sent-"+name+".json", server.received())
	}
	hit := `{"took": 3, "hits": {"hits": [{"_id": "acme|manuals|NAME", "_score": 1.5, "fields": {"id": ["NAME"]}}]}}`
	one, two := strings.ReplaceAll(hit, "NAME", "c1"), strings.ReplaceAll(hit, "NAME", "c2")
	server.reply("_msearch", http.StatusOK, `{"responses": [`+one+`, `+two+`]}`)
	f("search", func() error { // each leg is full and knows nothing of the other's hit
		req := searches["legs"]
		req.KB, req.Legs = kb, []engine.Leg{textLeg(), vectorLeg()}
		req.Legs[0].K, req.Legs[1].K = 1, 1
		_, err := e.Search(t.Context(), &req)
		return err
	})
	server.reply("_search", http.StatusOK, `{"hits": {"hits": []}, "aggregations": {"terms": {"buckets": [{"doc_count": 3}]}, "vectors": {"doc_count": 2}}}`)
	f("statistics", func() error {
		_, err := e.Statistics(t.Context(), &engine.StatisticsRequest{
			KB: kb, Field: engine.FieldText, Terms: []string{"refund", "refund"},
			VectorField: engine.FieldVector, Vector: []float32{1, 0},
		})
		return err
	})
	server.reply("_bulk", http.StatusOK, `{"items": [{"index": {"result": "created", "status": 201}}]}`)
	f("write", func() error {
		_, err := e.Write(t.Context(), engine.WriteRequest{KB: kb, Refresh: true, Chunks: []engine.Chunk{{
			ID: "c1", DocumentID: "d1", DocumentName: "guide.md", Ordinal: 3, Title: "Refunds", Content: "<b>Pay back</b> 退款",
			Positions: [][]float64{{1, 72, 520, 90, 140}}, Owner: "u1", Available: true,
			Metadata: map[string]any{"category": "billing", "year": 2024.0, "tags": []any{"x", true}},
			Vectors:  map[string][]float32{engine.FieldVector: {3, 4}},
		}}})
		return err
	})
	server.reply("_search", http.StatusOK, nothing)
	f("delete", func() error {
		_, err := e.DeleteDocument(t.Context(), kb, "d1")
		return err
	})
	f("documents", func() error {
		_, err := e.Documents(t.Context(), kb, "d1", 20)
		return err
	})
}

func TestNewRefusesBadOptions(t *testing.T) {
	for name, o := range map[string]elastic.Options{
		"no URL": {Tokenizer: enginetest.Words{}}, "prefix": {URLs: []string{"http://x"}, Tokenizer: enginetest.Words{}, Settings: elastic.Settings{IndexPrefix: "A B"}},
		"hidden prefix": {URLs: []string{"http://x"}, Tokenizer: enginetest.Words{}, Settings: elastic.Settings{IndexPrefix: "_x"}},
		"bad URL":       {URLs: []string{"http://[::1"}, Tokenizer: enginetest.Words{}}, "no tokenizer": {URLs: []string{"http://x"}},
	} {
		if _, err := elastic.New(o); err == nil {
			t.Errorf("%s: accepted; want an error", name)
		}
	}
}
