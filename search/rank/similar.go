package rank

import (
	"github.com/hybridge-search/hybridge/engine"
)

// Original is a chunk that may stand for copies.
type Original struct {
	Key
	Text shingles
}

// ChunkText is what is compared of a chunk: its content, or the question and the answer.
func ChunkText(chunk *engine.Chunk) string {
	if chunk.QA != nil {
		return chunk.Question + "\n" + chunk.Answer
	}
	return chunk.Content
}
