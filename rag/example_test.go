package rag_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/hybridge-search/hybridge/rag"
)

// gateway stands for a running one.
func gateway() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"hits": [{"id": "c1", "document_id": "d1", "document_name": "guide.md", "score": 0.87,
			"content": "Refunds take a week.", "positions": [[3, 0, 0, 0, 0]]}]}`)
	}))
}

func Example() {
	running := gateway()
	defer running.Close()

	service := rag.New(rag.At(running.URL, rag.ClientOptions{}))
	hits, err := service.Search(context.Background(), rag.Query{
		Text: "how long do refunds take", KnowledgeBases: []string{"manuals", "faq"}, TopK: 5,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(rag.FormatForContext(hits, 4000).Text)
	// Output:
	// [1] guide.md, page 3 (score 0.87)
	// Refunds take a week.
}
