package search

import (
	"context"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/search/ask"
)

func (s *Searcher) asker() ask.Asker {
	return ask.Asker{
		Analyzer: s.Analyzer, Embedder: s.Embedder, Embedders: s.Embedders, Synonyms: s.Synonyms, Rules: s.Rules,
	}
}

// ask makes the question of a run.
func (s *Searcher) ask(ctx context.Context, r *run) error {
	q, err := s.asker().Ask(ctx, r.Request, r.Bound, r.Subjects, &r.timings)
	if err != nil {
		return err
	}
	s.pose(r, q)
	return nil
}

// pose gives a run its question.
func (s *Searcher) pose(r *run, q ask.Question) {
	r.Question = q
	r.Vocabulary = s.asker().Vocabularies(&r.Question, r.Subjects, &r.Plan.Text)
}

// QueryVector embeds a question for a knowledge base, [dim]float32, by the model of its vectors.
func (s *Searcher) QueryVector(ctx context.Context, kb *engine.KnowledgeBase, text string) ([]float32, error) {
	return s.asker().QueryVector(ctx, kb, text)
}
