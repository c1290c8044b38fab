package elastic_test

import (
	"crypto/rand"
	"encoding/json"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/filter"
	"github.com/hybridge-search/hybridge/internal/devservices"
	"github.com/hybridge-search/hybridge/mappings"
	"github.com/hybridge-search/hybridge/textquery"
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
	// Its owner may change more than chunks: nobody may keep an answer until a generation changes.
	if generation, err := e.Generation(t.Context(), &kb); generation != "" || err != nil {
		t.Errorf(`an attached index has generation %q, %v; want generation "" and no error`, generation, err)
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
		t.Errorf(`r1: %+v; want h.DocumentID "d1" and h.DocumentName "guide.pdf" and h.Observations[0].Raw 0 and h.Observations[1].Raw 1 and {"退款"}`, h)
	}
	if h := hits["r5"]; h.Observations[0].Raw <= 0 || !math.IsNaN(h.Observations[1].Raw) {
		t.Errorf("r5: %+v", h)
	}
	req.Sum = &engine.Sum{Candidates: 10, Weights: []float64{0, 1}}
	req.Filter.Conditions = []filter.Condition{{Field: "document_name", In: []filter.Value{{V: "guide.pdf"}}}}
	result, err = e.Search(t.Context(), req)
	if err != nil || len(result.Hits) != 2 || result.Hits[0].ID != "r1" || result.Hits[1].ID != "r2" {
		t.Errorf(`sum: %+v, %v; want no error and 2 result.Hits and result.Hits[0].ID "r1" and result.Hits[1].ID "r2"`, result, err)
	}
	for _, c := range []struct {
		field string
		part  filter.Part
		hits  int
	}{
		{"document_name", filter.Part{Text: "uide.", At: filter.Anywhere}, 2},
		{"document_name", filter.Part{Text: "guide", At: filter.AtStart}, 2},
		{"document_name", filter.Part{Text: "de.pdf", At: filter.AtEnd}, 2},
		{"document_name", filter.Part{Text: "guide", At: filter.AtEnd}, 0},
		{"available_int", filter.Part{Text: "1", At: filter.Anywhere}, 0}, // numbers have no parts
	} {
		req.Filter.Conditions = []filter.Condition{{Field: c.field, Part: &c.part}}
		if result, err = e.Search(t.Context(), req); err != nil || len(result.Hits) != c.hits {
			t.Errorf("%s %+v: %+v, %v, want %d hits", c.field, c.part, result, err, c.hits)
		}
	}
}

// Promise: "The gateway never writes there" (docs/guide/en/elasticsearch.md).
// Promise: "an attached index is never written to" (docs/guide/en/limits.md).
func TestRAGFlowIsReadAndNeverWritten(t *testing.T) {
	e, kb := ragflow(t)
	chunks, err := e.Chunks(t.Context(), engine.ChunksRequest{KB: kb, IDs: []string{"r2", "r3", "r4", "r1"}})
	if err != nil || len(chunks) != 2 || chunks[0].ID != "r2" {
		t.Fatalf(`chunks: %+v, %v; want no error and 2 chunks and chunks[0].ID "r2"`, chunks, err)
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
		t.Errorf("chunks of d1: %+v, %v; want no error and 2 all", all, err)
	}
	d, err := e.Describe(t.Context(), kb)
	if err != nil || d.Chunks != 4 || d.Documents != 3 || d.Vectors != 3 {
		t.Errorf("description: %+v, %v; want no error and d.Chunks 4 and d.Documents 3 and d.Vectors 3", d, err)
	}
	st, err := e.Statistics(t.Context(), &engine.StatisticsRequest{
		KB: kb, Field: engine.FieldText, Terms: []string{"refund"}, VectorField: engine.FieldVector, Vector: []float32{1, 0, 0},
	})
	if err != nil || st.DF[0] != 3 || st.Docs != 4 || st.Vectors != 3 || math.Abs(st.Cosine.Mean-2/3.0) > 1e-6 {
		t.Errorf("statistics: %+v, %v; want no error and st.DF[0] 3 and st.Docs 4 and st.Vectors 3 and math.Abs(st.Cosine.Mean - 2/3.0) at most 1e-6", st, err)
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
		{Field: "official", Match: []filter.Value{{V: true}}},
		{Field: "important_kwd", Match: []filter.Value{{V: "退款"}}},
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
		t.Errorf(`a wrong dimension: %v; want an error of kind Conflict and "q_3_vec" in it`, err)
	}
	wrong = kb
	wrong.Attach = &engine.Attachment{Index: kb.Attach.Index + "-none", Layout: mappings.LayoutRAGFlow}
	if err := e.CreateKnowledgeBase(t.Context(), wrong); !fault.Is(err, fault.NotFound) {
		t.Errorf("no such index: %v; want an error of kind NotFound", err)
	}
	kb.Dimensions = 0 // found in the mapping
	if err := e.CreateKnowledgeBase(t.Context(), kb); err != nil {
		t.Fatal(err)
	}
	all, err := e.KnowledgeBases(t.Context())
	if err != nil || len(all) != 1 || all[0].Dimensions != 3 || all[0].Attach.Value != "one" {
		t.Errorf(`listed: %+v, %v; want no error and 1 all and all[0].Dimensions 3 and all[0].Attach.Value "one"`, all, err)
	}
	if err := e.DeleteKnowledgeBase(t.Context(), kb.Ref); err != nil {
		t.Fatal(err)
	}
	if chunks, err := e.Chunks(t.Context(), engine.ChunksRequest{KB: kb, IDs: []string{"r1"}}); err != nil || len(chunks) != 1 {
		t.Errorf("the index has to stay: %+v, %v; want no error and 1 chunks", chunks, err)
	}
}

// besideChunks have the words of a question in all of the fields that RAGFlow searches, and
// each in one of them alone.
const besideChunks = `{"index": {"_id": "b1"}}
{"kb_id": "one", "doc_id": "d1", "docnm_kwd": "a", "content_with_weight": "parcel", "content_ltks": "parcel warranti here", "title_tks": "guide"}
{"index": {"_id": "b2"}}
{"kb_id": "one", "doc_id": "d1", "docnm_kwd": "a", "content_with_weight": "x", "content_ltks": "nothing of it", "title_tks": "warranti guide"}
{"index": {"_id": "b3"}}
{"kb_id": "one", "doc_id": "d1", "docnm_kwd": "a", "content_with_weight": "x", "content_ltks": "nothing", "important_kwd": ["warranti"], "important_tks": "warranti"}
{"index": {"_id": "b4"}}
{"kb_id": "one", "doc_id": "d1", "docnm_kwd": "a", "content_with_weight": "x", "content_ltks": "nothing", "question_kwd": ["How long is the warranty of a parcel?"], "question_tks": "how long is the warranti of a parcel"}
{"index": {"_id": "b5"}}
{"kb_id": "one", "doc_id": "d1", "docnm_kwd": "a", "content_with_weight": "x", "content_ltks": "nothing", "title_sm_tks": "parcel warranti", "content_sm_ltks": "parcel"}
{"index": {"_id": "b6"}}
{"kb_id": "two", "doc_id": "d1", "docnm_kwd": "a", "content_with_weight": "x", "content_ltks": "warranti", "important_kwd": ["warranti"]}
`

// TestRAGFlowIsSearchedInAllItsFields: a word that is in the title, the keywords or the questions
// of a chunk finds it, and scores are those of the query that RAGFlow sends, but for a factor.
func TestRAGFlowIsSearchedInAllItsFields(t *testing.T) {
	e, kb := ragflow(t)
	server := devservices.Elasticsearch(t)
	ask(t, http.MethodPost, server+"/"+kb.Attach.Index+"/_bulk?refresh=true", besideChunks)
	if err := e.CreateKnowledgeBase(t.Context(), kb); err != nil {
		t.Fatal(err)
	}
	words := &textquery.Query{Terms: []textquery.Term{{Text: "warranti", Weight: 1}, {Text: "parcel", Weight: 0.5}}}
	result, err := e.Search(t.Context(), &engine.Request{
		KB: kb, Legs: []engine.Leg{{Name: "text", Field: engine.FieldText, K: 10, Text: words}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var theirs struct {
		Hits struct {
			Hits []struct {
				ID    string  `json:"_id"`
				Score float64 `json:"_score"`
			}
		}
	}
	answer := ask(t, http.MethodPost, server+"/"+kb.Attach.Index+"/_search?search_type=dfs_query_then_fetch", `{"query": {"bool": {
		"filter": {"term": {"kb_id": "one"}}, "must": {"query_string": {"query": "warranti parcel^0.5", "type": "best_fields",
		"fields": ["title_tks^10", "title_sm_tks^5", "important_kwd^30", "important_tks^20", "question_tks^20", "content_ltks^2", "content_sm_ltks"]}}}}}`)
	if err := json.Unmarshal(answer, &theirs); err != nil {
		t.Fatal(err)
	}
	if len(result.Hits) != 5 || len(theirs.Hits.Hits) != 5 {
		t.Fatalf("%d hits, RAGFlow's query has %d; want 5 result.Hits and 5 theirs.Hits.Hits", len(result.Hits), len(theirs.Hits.Hits))
	}
	factor := 0.0
	for i, their := range theirs.Hits.Hits {
		hit := result.Hits[slices.IndexFunc(result.Hits, func(h engine.Hit) bool { return h.ID == their.ID })]
		if factor == 0 {
			factor = their.Score / hit.Observations[0].Raw
		}
		if o := hit.Observations[0]; o.Rank != i+1 || math.Abs(their.Score/o.Raw-factor) > 1e-4*factor {
			t.Errorf("%s is number %d with %v, in RAGFlow's query number %d with %v, factor %v", their.ID, o.Rank, o.Raw, i+1, their.Score, factor)
		}
	}
	stats, err := e.Statistics(t.Context(), &engine.StatisticsRequest{KB: kb, Field: engine.FieldText, Terms: []string{"warranti", "parcel"}})
	if err != nil || !slices.Equal(stats.DF, []int{5, 3}) {
		t.Errorf("frequencies %+v, %v; want no error and {5, 3}", stats, err)
	}
	phrase := textquery.Phrase{Terms: []string{"parcel", "warranti"}, Weight: 1}
	result, err = e.Search(t.Context(), &engine.Request{
		KB: kb, Filter: engine.Filter{Required: []textquery.Phrase{phrase}, Fields: []string{engine.FieldText}},
		Legs: []engine.Leg{{Name: "text", Field: engine.FieldText, K: 10, Text: words}},
	})
	if err != nil || len(result.Hits) != 2 { // of the content, and of the title in small tokens
		t.Errorf("the phrase is in %+v, %v; want no error and 2 result.Hits", result, err)
	}
}
