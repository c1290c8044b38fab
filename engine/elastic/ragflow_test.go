package elastic_test

import (
	"crypto/rand"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/devservices"
	"github.com/hybridge-search/hybridge/mappings"
)

// ragflowIndex has the dynamic templates that RAGFlow's indices have, as far as
// they matter, and chunks of two knowledge bases.
const ragflowIndex = `{"settings": {"number_of_shards": 2, "number_of_replicas": 0}, "mappings": {
	"properties": {"lat_lon": {"type": "geo_point"}, "made": {"type": "date"}, "made_flt": {"type": "double"}, "official": {"type": "boolean"}},
	"dynamic_templates": [
		{"ltks": {"match": "*_ltks", "mapping": {"type": "text", "analyzer": "whitespace"}}},
		{"tks": {"match": "*_tks", "mapping": {"type": "text", "analyzer": "whitespace"}}},
		{"weight": {"match": "*_with_weight", "mapping": {"type": "text", "index": false}}},
		{"ids": {"match_pattern": "regex", "match": "^(.*_(kwd|id|ids)|id)$", "mapping": {"type": "keyword"}}},
		{"int": {"match": "*_int", "mapping": {"type": "integer"}}},
		{"vec": {"match": "q_3_vec", "mapping": {"type": "dense_vector", "dims": 3, "similarity": "cosine", "index": true}}}]}}`

const ragflowChunks = `{"index": {"_id": "r1"}}
{"kb_id": "one", "doc_id": "d1", "docnm_kwd": "guide.pdf", "content_with_weight": "如何申请退款", "content_ltks": "如何 申请 退款", "title_tks": "guide", "q_3_vec": [1, 0, 0], "position_int": [[1, 72, 520, 90, 140]], "important_kwd": ["退款"], "available_int": 1, "made": "2026-02-28T12:00:00Z", "made_flt": 1772280000, "stars_int": 30, "official": true, "day_kwd": "2026-02-27"}
{"index": {"_id": "r2"}}
{"kb_id": "one", "doc_id": "d1", "docnm_kwd": "guide.pdf", "content_with_weight": "refund policy", "content_ltks": "refund polici", "q_3_vec": [0, 1, 0]}
{"index": {"_id": "r3"}}
{"kb_id": "one", "doc_id": "d2", "docnm_kwd": "old.pdf", "content_with_weight": "hidden refund", "content_ltks": "hidden refund", "q_3_vec": [1, 0, 0], "available_int": 0}
{"index": {"_id": "r4"}}
{"kb_id": "two", "doc_id": "d9", "docnm_kwd": "other.pdf", "content_with_weight": "other refund", "content_ltks": "other refund", "q_3_vec": [1, 0, 0], "available_int": 1}
{"index": {"_id": "r5"}}
{"kb_id": "one", "doc_id": "d3", "docnm_kwd": "mute.pdf", "content_with_weight": "no vector refund", "content_ltks": "no vector refund", "available_int": 1}
`

func ragflow(t *testing.T) (*elastic.Engine, engine.KnowledgeBase) {
	t.Helper()
	e, prefix := open(t)
	server := devservices.Elasticsearch(t)
	index := prefix + "-ragflow"
	ask(t, http.MethodPut, server+"/"+index, ragflowIndex)
	ask(t, http.MethodPost, server+"/"+index+"/_bulk?refresh=true", ragflowChunks)
	return e, engine.KnowledgeBase{
		Ref:  engine.Ref{Tenant: "t", ID: "rag-" + strings.ToLower(rand.Text()[:6])},
		Kind: engine.KindChunks, Dimensions: 3, Engine: elastic.Name, Analyzer: engine.AnalyzerJieba,
		Attach: &engine.Attachment{Index: index, Layout: mappings.LayoutRAGFlow, Value: "one"},
	}
}

func TestRAGFlowIsSearched(t *testing.T) {
	e, kb := ragflow(t)
	if err := e.CreateKnowledgeBase(t.Context(), kb); err != nil {
		t.Fatal(err)
	}
	req := &engine.Request{KB: kb, Facets: []string{"docnm_kwd", "important_kwd", "nosuch"}, Legs: []engine.Leg{
		{Name: "text", Field: engine.FieldText, K: 10, Text: refundOnly()},
		{Name: "vector", Field: engine.FieldVector, K: 10, Vector: []float32{2, 0, 0}},
	}}
	result, err := e.Search(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	hits := map[string]engine.Hit{}
	for _, hit := range result.Hits {
		hits[hit.ID] = hit
	}
	if len(hits) != 3 {
		t.Fatalf("found %v, want r1, r2 and r5", hits)
	}
	if h := hits["r1"]; h.DocumentID != "d1" || h.DocumentName != "guide.pdf" || h.Observations[0].Raw != 0 ||
		h.Observations[1].Raw != 1 || !slices.Equal(h.Facets["important_kwd"], []string{"退款"}) {
		t.Errorf("r1: %+v", h)
	}
	if h := hits["r5"]; h.Observations[0].Raw <= 0 || !math.IsNaN(h.Observations[1].Raw) {
		t.Errorf("r5: %+v", h)
	}
	req.Sum = &engine.Sum{Candidates: 10, Weights: []float64{0, 1}}
	req.Filter.Conditions = []engine.Condition{{Field: "document_name", In: []engine.Value{{V: "guide.pdf"}}}}
	result, err = e.Search(t.Context(), req)
	if err != nil || len(result.Hits) != 2 || result.Hits[0].ID != "r1" || result.Hits[1].ID != "r2" {
		t.Errorf("sum: %+v, %v", result, err)
	}
}

func TestRAGFlowIsReadAndNeverWritten(t *testing.T) {
	e, kb := ragflow(t)
	chunks, err := e.Chunks(t.Context(), engine.ChunksRequest{KB: kb, IDs: []string{"r2", "r3", "r4", "r1"}})
	if err != nil || len(chunks) != 2 || chunks[0].ID != "r2" {
		t.Fatalf("chunks: %+v, %v", chunks, err)
	}
	c := chunks[1]
	if c.Content != "如何申请退款" || c.DocumentName != "guide.pdf" || len(c.Positions) != 1 || c.Positions[0][1] != 72 ||
		!c.Available || c.Metadata["important_kwd"] == nil {
		t.Errorf("r1: %+v", c)
	}
	documents, err := e.Documents(t.Context(), kb, "", 10)
	if err != nil || len(documents) != 3 || documents[0] != (engine.Document{ID: "d1", Name: "guide.pdf", Chunks: 2}) {
		t.Errorf("documents: %+v, %v", documents, err)
	}
	if all, err := e.DocumentChunks(t.Context(), engine.DocumentChunksRequest{KB: kb, DocumentID: "d1", To: -1, Limit: 9}); err != nil || len(all) != 2 {
		t.Errorf("chunks of d1: %+v, %v", all, err)
	}
	d, err := e.Describe(t.Context(), kb)
	if err != nil || d.Chunks != 4 || d.Documents != 3 || d.Vectors != 3 {
		t.Errorf("description: %+v, %v", d, err)
	}
	st, err := e.Statistics(t.Context(), &engine.StatisticsRequest{
		KB: kb, Field: engine.FieldText, Terms: []string{"refund"}, VectorField: engine.FieldVector, Vector: []float32{1, 0, 0},
	})
	if err != nil || st.DF[0] != 3 || st.Docs != 4 || st.Vectors != 3 || math.Abs(st.Cosine.Mean-2/3.0) > 1e-6 {
		t.Errorf("statistics: %+v, %v", st, err)
	}

	write := engine.WriteRequest{KB: kb, Chunks: []engine.Chunk{{ID: "x", DocumentID: "d"}}}
	_, written := e.Write(t.Context(), write)
	_, replaced := e.ReplaceDocument(t.Context(), "d1", write)
	_, deleted := e.DeleteDocument(t.Context(), kb, "d1")
	_, removed := e.DeleteChunks(t.Context(), kb, []string{"r1"})
	for name, err := range map[string]error{"write": written, "replace": replaced, "delete": deleted, "remove": removed} {
		if !fault.Is(err, fault.ReadOnly) {
			t.Errorf("%s: %v, want read_only", name, err)
		}
	}
}

// TestSignalsOfNativeFields: fields of an index that somebody else fills have types of their own.
func TestSignalsOfNativeFields(t *testing.T) {
	e, kb := ragflow(t)
	if err := e.CreateKnowledgeBase(t.Context(), kb); err != nil {
		t.Fatal(err)
	}
	recency := &engine.Recency{Now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), HalfLife: 24 * time.Hour}
	asked := []engine.Signal{
		{Field: "made", Recency: recency},
		{Field: "made_flt", Recency: recency},
		{Field: "day_kwd", Recency: recency},
		{Field: "stars_int", Number: &engine.Number{Shape: engine.Saturation, Pivot: 10}},
		{Field: "official", Match: []engine.Value{{V: true}}},
		{Field: "important_kwd", Match: []engine.Value{{V: "退款"}}},
	}
	want := []float64{.5, .5, math.Exp2(-2.5), .75, 1, 1}
	for i := range asked {
		weights := make([]float64, len(asked))
		weights[i] = 100
		result, err := e.Search(t.Context(), &engine.Request{
			KB: kb, Signals: asked, Sum: &engine.Sum{Candidates: 5, Weights: []float64{0, 1}, Signals: weights},
			Legs: []engine.Leg{
				{Name: "text", Field: engine.FieldText, Text: refundOnly()},
				{Name: "vector", Field: engine.FieldVector, Vector: []float32{0, 1, 0}}, // r2's, but for the signal
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		first := result.Hits[0]
		for k := range want {
			if first.ID != "r1" || math.Abs(first.Signals[k]-want[k]) > 1e-9 {
				t.Errorf("by signal %d: %s has %v, want r1 with %v", i, first.ID, first.Signals, want)
				break
			}
		}
	}
}

func TestRAGFlowIsAttachedAndLeft(t *testing.T) {
	e, kb := ragflow(t)
	wrong := kb
	wrong.Dimensions = 7
	if err := e.CreateKnowledgeBase(t.Context(), wrong); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "q_3_vec") {
		t.Errorf("a wrong dimension: %v", err)
	}
	wrong = kb
	wrong.Attach = &engine.Attachment{Index: kb.Attach.Index + "-none", Layout: mappings.LayoutRAGFlow}
	if err := e.CreateKnowledgeBase(t.Context(), wrong); !fault.Is(err, fault.NotFound) {
		t.Errorf("no such index: %v", err)
	}
	kb.Dimensions = 0 // found in the mapping
	if err := e.CreateKnowledgeBase(t.Context(), kb); err != nil {
		t.Fatal(err)
	}
	all, err := e.KnowledgeBases(t.Context())
	if err != nil || len(all) != 1 || all[0].Dimensions != 3 || all[0].Attach.Value != "one" {
		t.Errorf("listed: %+v, %v", all, err)
	}
	if err := e.DeleteKnowledgeBase(t.Context(), kb.Ref); err != nil {
		t.Fatal(err)
	}
	if chunks, err := e.Chunks(t.Context(), engine.ChunksRequest{KB: kb, IDs: []string{"r1"}}); err != nil || len(chunks) != 1 {
		t.Errorf("the index has to stay: %+v, %v", chunks, err)
	}
}
