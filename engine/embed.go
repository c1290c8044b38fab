package engine

import (
	"context"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/hybridge-search/hybridge/fault"
)

// MaxEmbedded is how many bytes of a text are embedded: models read no more.
const MaxEmbedded = 32 << 10

// Embedded is what became of texts that were to be embedded.
type Embedded struct {
	Vectors [][]float32   // by text; nil where it was refused, or not asked for after an outage
	Refused map[int]error // of texts, by their index
	Outage  error         // the model failed, and not because of a text
}

// EmbedEach embeds texts in one call. If the model refuses a text, the call is halved to find that text, so that
// it is refused alone.
func EmbedEach(
	ctx context.Context, texts []string, embed func(context.Context, []string) ([][]float32, error),
) *Embedded {
	e := &eachEmbedder{embed: embed, texts: texts}
	e.Vectors, e.Refused = make([][]float32, len(texts)), map[int]error{}
	if len(texts) > 0 {
		e.Outage = e.between(ctx, 0, len(texts))
	}
	return &e.Embedded
}

type eachEmbedder struct {
	Embedded
	embed func(context.Context, []string) ([][]float32, error)
	texts []string
}

func (e *eachEmbedder) between(ctx context.Context, from, to int) error {
	vectors, err := e.embed(ctx, e.texts[from:to])
	if err == nil && len(vectors) != to-from {
		err = fault.New(fault.Unavailable, "the embedding service gave %d vectors for %d texts", len(vectors), to-from)
	}
	if err == nil {
		copy(e.Vectors[from:to], vectors)
		return nil
	}
	switch kind := fault.KindOf(err); {
	case kind != fault.InvalidArgument && kind != fault.TooLarge:
		return err
	case to-from == 1:
		e.Refused[from] = err
		return nil
	}
	middle := from + (to-from)/2
	if outage := e.between(ctx, from, middle); outage != nil {
		return outage
	}
	return e.between(ctx, middle, to)
}

// WrongDimensions is the fault of a model whose vectors a knowledge base cannot hold.
func (kb *KnowledgeBase) WrongDimensions(found int) *fault.Error {
	return fault.New(fault.Conflict, "the embedding model gives %d dimensions and knowledge base %q has %d",
		found, kb.ID, kb.Dimensions)
}

// namedIDBytes bounds how much of an id an error shows.
const namedIDBytes = 80

// OfChunk says of which chunk an error is.
func OfChunk(c *Chunk, err error) error {
	var f *fault.Error
	if !errors.As(err, &f) {
		return err
	}
	return &fault.Error{
		Kind: f.Kind, Field: f.Field, Err: f.Err,
		Detail: fmt.Sprintf("chunk %s of document %s: %s",
			ClipText(c.ID, namedIDBytes), ClipText(c.DocumentID, namedIDBytes), f.Detail),
	}
}

// ClipText cuts a text off after at most that many bytes, and after a whole rune.
func ClipText(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}
