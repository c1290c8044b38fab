package langchain_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/tmc/langchaingo/vectorstores"

	"github.com/hybridge-search/hybridge/fault"
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
		t.Errorf("threshold %+v", got)
	}
	retriever.Options = append(retriever.Options, vectorstores.WithNameSpace("manuals"))
	if _, err := retriever.GetRelevantDocuments(t.Context(), "x"); !fault.Is(err, fault.InvalidArgument) {
		t.Errorf("another option: %v", err)
	}
}
