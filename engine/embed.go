package engine

import (
	"context"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/hybridge-search/hybridge/fault"
)

// MaxEmbedded is the number of bytes of a text that are embedded: models read no more.
const MaxEmbedded = 32 << 10

// Embedded is the result of embedding texts.
type Embedded struct {
	Vectors [][]float32   // by text; nil if refused, or not requested after an outage
	Refused map[int]error // by index of the text
	Outage  error         // the model failed for another reason than a text
}

// EmbedEach embeds texts in one call. If the model refuses it, the call is halved until only the offending texts are
// refused.
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

// namedIDBytes bounds the length of an id in an error.
const namedIDBytes = 80

// OfChunk adds the chunk to an error.
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

// ClipText truncates a text to at most that many bytes, at a rune boundary.
func ClipText(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}
