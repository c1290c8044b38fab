// Package documents reads documents as other programs want them: as texts, and with the time they were written.
package documents

import (
	"context"
	"time"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/ingest"
	"github.com/hybridge-search/hybridge/search"
)

// Reader reads the chunks of documents.
type Reader interface {
	DocumentChunks(ctx context.Context, scope access.Scope, of ingest.DocumentRef, page ingest.Page) (
		[]engine.Chunk, error)
}

// Text is the text of a chunk that was not found by a question.
func Text(c *engine.Chunk) string {
	if c.QA != nil {
		return c.Question + "\n" + c.Answer
	}
	return c.Content
}

// Texts are the texts of a document's chunks, in their order, of at most limit bytes together.
func Texts(
	ctx context.Context, from Reader, scope access.Scope, of ingest.DocumentRef, limit int,
) (texts []string, err error) {
	size := 0
	for page := (ingest.Page{Limit: 500}); ; {
		chunks, err := from.DocumentChunks(ctx, scope, of, page)
		if err != nil {
			return nil, err
		}
		for i := range chunks {
			piece := Text(&chunks[i])
			if size += len(piece); size > limit {
				return nil, search.TooLarge(int64(limit))
			}
			texts = append(texts, piece)
		}
		if len(chunks) < page.Limit {
			break
		}
		page.After = chunks[len(chunks)-1].ID
	}
	if len(texts) == 0 {
		return nil, Missing(of)
	}
	return texts, nil
}

// WrittenAt is when a document was last written, if known.
func WrittenAt(d *engine.Document) (at time.Time, known bool) {
	at, err := time.Parse(time.RFC3339, d.WrittenAt)
	return at, err == nil
}

// Missing is the error of a document that has no chunks.
func Missing(of ingest.DocumentRef) error {
	return fault.New(fault.NotFound, "document %q does not exist in knowledge base %q", endpoint.Clip(of.ID), of.KB)
}
