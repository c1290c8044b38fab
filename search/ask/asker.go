package ask

import (
	"context"

	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/rules"
)

// Analyzer turns text into tokens, and a question into its terms.
type Analyzer interface {
	Parse(query string) analysis.Query
	ParsePlain(query string) analysis.Query
	Selector(parts []string, keep func(term string) bool) analysis.Selector
	Terms(text string) []string
	Tokens(text string) []analysis.Token
	// Fold normalizes a text as tokens are, without stemming.
	Fold(text string) string
}

// Embedder turns a question into a vector, [dim]float32.
type Embedder interface {
	Query(ctx context.Context, text string) ([]float32, error)
	Model() string
}

// PassageEmbedder is an Embedder that can also embed texts as chunks.
type PassageEmbedder interface {
	Passages(ctx context.Context, texts []string) ([][]float32, error)
}

// Passages embeds each text as a chunk.
func Passages(ctx context.Context, e PassageEmbedder, texts []string) ([][]float32, error) {
	vectors, err := e.Passages(ctx, texts)
	if err == nil && len(vectors) != len(texts) {
		err = fault.New(fault.Unavailable, "the embedding service gave %d vectors for %d texts", len(vectors), len(texts))
	}
	return vectors, err
}

// Synonyms gives the expander of a knowledge base, nil where it has no synonyms.
type Synonyms interface {
	For(kb engine.Ref) analysis.Expander
}

// Asker turns requests into questions.
type Asker struct {
	Analyzer  Analyzer
	Embedder  Embedder // of knowledge bases that name no model, or none of the following; may be nil
	Embedders map[string]Embedder
	Synonyms  Synonyms // may be nil
	Rules     Rules    // may be nil
}

// Rules gives the query rules of a knowledge base, nil where it has none.
type Rules interface {
	For(kb engine.Ref) *rules.Set
}
