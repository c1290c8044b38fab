// Package rag brings what Hybridge finds into the prompt of a language model:
// hits for a question, as numbered text of bounded length with the sources that
// the numbers stand for.
//
// A Service searches through a Searcher: one of this process (In), or a gateway
// somewhere else (At).
//
//	service := rag.New(rag.At("http://127.0.0.1:8080", rag.ClientOptions{}))
//	hits, err := service.Search(ctx, rag.Query{Text: "how do refunds work", KnowledgeBases: []string{"manuals"}})
//	prompt := rag.FormatForContext(hits, 4000)
//
// Package rag/langchain has a retriever for langchaingo.
package rag
