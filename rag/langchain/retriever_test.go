package langchain_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/tmc/langchaingo/vectorstores"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/rag"
	"github.com/hybridge-search/hybridge/rag/langchain"
	"github.com/hybridge-search/hybridge/search"
)

func TestOptions(t *testing.T) {
	var asked search.Request
	gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
			t.Error(err)
		}
		_, _ = w.Write([]byte(`{"hits": []}`))
	}))
	defer gateway.Close()
	retriever := langchain.Retriever{
		Service: rag.New(rag.At(gateway.URL, rag.ClientOptions{})), Query: rag.Query{MinRelevance: 0.5},
		Options: []vectorstores.Option{vectorstores.WithScoreThreshold(0.25)},
	}
	if _, err := retriever.GetRelevantDocuments(t.Context(), "x"); err != nil {
		t.Fatal(err)
	}
	if got := asked.Threshold; got.Relevance == nil || *got.Relevance != 0.25 || *got.Answerable != 0.5 || got.Score != nil {
		t.Errorf("threshold %+v; want a got.Relevance and *got.Relevance 0.25 and *got.Answerable 0.5 and no got.Score", got)
	}
	retriever.Options = append(retriever.Options, vectorstores.WithNameSpace("manuals"))
	if _, err := retriever.GetRelevantDocuments(t.Context(), "x"); !fault.Is(err, fault.InvalidArgument) {
		t.Errorf("another option: %v; want an error of kind InvalidArgument", err)
	}
}

// TestDocuments: documents can be cited, by the names that the Python retrievers have too.
func TestDocuments(t *testing.T) {
	f := func(answer, want string) {
		t.Helper()
		gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(answer))
		}))
		defer gateway.Close()
		retriever := langchain.Retriever{
			Service: rag.New(rag.At(gateway.URL, rag.ClientOptions{})), Query: rag.Query{MinRelevance: 0.25},
		}
		documents, err := retriever.GetRelevantDocuments(t.Context(), "x")
		if err != nil {
			t.Fatal(err)
		}
		got := []any{}
		for _, d := range documents {
			got = append(got, d.Metadata)
		}
		if text, err := json.Marshal(got); err != nil || string(text) != want {
			t.Errorf("%v\n got %s\nwant %s", err, brief.Of(text), want)
		}
	}
	f(`{"hits": [{"id": "c1", "document_id": "d1", "document_name": "手册.md", "title": "退款", "knowledge_base": "manuals",
		"content": "一周。", "score": 0.5, "relevance": 0.9, "positions": [[12, 30]], "metadata": {"year": 2024}}]}`,
		`[{"chunk_id":"c1","document_id":"d1","document_name":"手册.md","heading":"退款","knowledge_base":"manuals",`+
			`"lines":{"first":12,"last":30},"metadata":{"year":2024},"relevance":0.9,"score":0.5,"source":"手册.md"}]`)
	f(`{"hits": [{"id": "c2", "document_id": "d2", "document_name": "guide.pdf", "knowledge_base": "manuals", "content": "x",
		"score": 0.5, "positions": [[3, 1, 2, 3, 4]]}]}`,
		`[{"chunk_id":"c2","document_id":"d2","document_name":"guide.pdf","knowledge_base":"manuals","metadata":null,`+
			`"page":3,"score":0.5,"source":"guide.pdf"}]`)
	f(`{"hits": [], "answerable": 0.02, "empty": "nothing_relevant"}`, `[]`)
}
