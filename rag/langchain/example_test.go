package langchain_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/tmc/langchaingo/schema"
	"github.com/tmc/langchaingo/vectorstores"

	"github.com/hybridge-search/hybridge/rag"
	"github.com/hybridge-search/hybridge/rag/langchain"
)

func Example() {
	gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"hits": [{"id": "q1", "document_name": "faq.csv", "score": 0.75, "question": "How long?",
			"answer": "A week.", "url": "https://example.com/refunds", "relevance": 0.92}]}`)
	}))
	defer gateway.Close()

	var retriever schema.Retriever = langchain.Retriever{
		Service: rag.New(rag.At(gateway.URL, rag.ClientOptions{})),
		Query:   rag.Query{KnowledgeBases: []string{"faq"}, TopK: 5},
		Options: []vectorstores.Option{vectorstores.WithScoreThreshold(0.03)}, // of the relevance
	}
	documents, err := retriever.GetRelevantDocuments(context.Background(), "how long do refunds take")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range documents {
		fmt.Printf("%s %.2f %.2f %s\n%s\n", d.Metadata["source"], d.Score, d.Metadata["relevance"], d.Metadata["url"], d.PageContent)
	}
	// Output:
	// faq.csv 0.75 0.92 https://example.com/refunds
	// How long?
	// A week.
}
