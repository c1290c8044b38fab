// Package rag brings hits into the prompt of a language model, as numbered text of bounded
// length with a list of the sources behind the numbers.
//
// A Service searches by a Searcher: one in this process (In), or a gateway elsewhere (At).
//
//	service := rag.New(rag.At("http://127.0.0.1:8080", rag.ClientOptions{}))
//	hits, err := service.Search(ctx, rag.Query{Text: "how do refunds work", KnowledgeBases: []string{"manuals"}})
//	prompt := rag.FormatForContext(hits, 4000)
//
// Package rag/langchain has a retriever for langchaingo.
package rag
