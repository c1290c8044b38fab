// Package langchain is a retriever for langchaingo. It is apart from package rag so that
// only programs that use it get langchaingo's dependencies.
package langchain

import (
	"context"

	"github.com/tmc/langchaingo/schema"
	"github.com/tmc/langchaingo/vectorstores"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/rag"
	"github.com/hybridge-search/hybridge/search"
)

// Retriever returns the hits of a question as documents of langchaingo. It is safe for
// concurrent use.
type Retriever struct {
	Service *rag.Service
	Query   rag.Query // of every question, except Text
	// Options are options of langchaingo's vector stores. WithScoreThreshold is the minimum
	// relevance of a document, in [0, 1]; all others are refused, as a search has no equivalent.
	Options []vectorstores.Option
}

var _ schema.Retriever = Retriever{}

// GetRelevantDocuments implements schema.Retriever. Below Query.MinRelevance there are no
// documents. The metadata of a document has the names that the Python client's retrievers
// give it: chunk_id, document_id, document_name, knowledge_base, source, score, relevance
// and page where they are known, heading and lines (a rag.Lines) in a split file, url where
// there is one, and the chunk's own metadata under metadata.
func (r Retriever) GetRelevantDocuments(ctx context.Context, query string) ([]schema.Document, error) {
	q := r.Query
	q.Text = query
	if err := r.apply(&q); err != nil {
		return nil, err
	}
	hits, err := r.Service.Search(ctx, q)
	if err != nil {
		return nil, err
	}
	documents := make([]schema.Document, len(hits))
	for i := range hits {
		documents[i] = document(&hits[i])
	}
	return documents, nil
}

// apply applies the options.
func (r Retriever) apply(q *rag.Query) error {
	var o vectorstores.Options
	for _, option := range r.Options {
		option(&o)
	}
	if o.NameSpace != "" || o.Filters != nil || o.Embedder != nil || o.Deduplicater != nil {
		return fault.New(fault.InvalidArgument, "of the options, a retriever has WithScoreThreshold only: "+
			"Query has knowledge bases and filters")
	}
	if o.ScoreThreshold != 0 {
		least := float64(o.ScoreThreshold)
		q.Request.Threshold.Relevance = &least
	}
	return nil
}

func document(hit *search.Hit) schema.Document {
	c := rag.Cite(hit, 0)
	metadata := map[string]any{
		"chunk_id": c.ID, "document_id": c.DocumentID, "document_name": hit.DocumentName,
		"knowledge_base": c.KnowledgeBase, "source": c.Source, "score": c.Score, "metadata": hit.Metadata,
	}
	if c.Page != nil {
		metadata["page"] = *c.Page
	}
	if c.Heading != "" {
		metadata["heading"] = c.Heading
	}
	if c.Lines != nil {
		metadata["lines"] = *c.Lines
	}
	if c.Relevance != nil {
		metadata["relevance"] = *c.Relevance
	}
	if c.URL != "" {
		metadata["url"] = c.URL
	}
	return schema.Document{PageContent: rag.Text(hit), Metadata: metadata, Score: float32(hit.Score)}
}
