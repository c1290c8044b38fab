package search

import (
	"context"

	"github.com/hybridge-search/hybridge/engine"
)

// Exactness is what of a search is exact that engines approximate otherwise: a measurement of them
// asks twice.
type Exactness struct {
	Legs       bool // every vector is compared, and joint rankings are over every chunk
	Statistics bool // the moments of cosines are those of every vector, not of a sample
}

// QueryVector embeds a question for a knowledge base, [dim]float32, by the model that its vectors are of.
func (s *Searcher) QueryVector(ctx context.Context, kb *engine.KnowledgeBase, text string) ([]float32, error) {
	var q question
	e := s.embedder(kb.EmbeddingModel)
	made := embed(ctx, e, s.Analyzer.ParsePlain(text).Text)
	if q.vector, q.noVector = made.vector, made.err; made.err == nil {
		q.model = e.Model()
	}
	return q.vectorFor(kb, &leg{})
}
