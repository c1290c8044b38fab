package retrieve

import (
	"context"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search/ask"
	"github.com/hybridge-search/hybridge/search/engines"
)

// VectorField is the first one, empty without any.
func (rt *Retrieval) VectorField() string {
	if fields := rt.KB.FieldsOf(scoring.Vector); len(fields) > 0 {
		return fields[0]
	}
	return ""
}

// ReadChunks is the plain reader.
func (rt *Retrieval) ReadChunks(ctx context.Context, ids []string) ([]engine.Chunk, error) {
	return engines.Ask(ctx, rt.Subject, engines.CallChunks, rt.Engine.Chunks, engine.ChunksRequest{KB: rt.KB, IDs: ids})
}

// neighbourPages bounds how many pages of a document are read for the neighbours of one hit:
// chunks that may not be shown can stand between them.
const (
	neighbourPages = 8
	neighbourPage  = 256
)

// Around reads chunks of a document of a subject that the search may show, by their ordinals, at
// most one for each.
func Around(ctx context.Context, r *ask.Asked, of int, document string, from, to int) ([]engine.Chunk, error) {
	subject := &r.Subjects[of]
	wanted := to - from + 1
	page := engine.DocumentChunksRequest{
		KB: subject.KB, DocumentID: document, From: max(0, from), To: to, Limit: wanted,
	}
	var shown []engine.Chunk
	for range neighbourPages {
		read, err := engines.Ask(ctx, subject, engines.CallDocumentChunks, subject.Engine.DocumentChunks, page)
		if err != nil {
			return nil, err
		}
		for i := range read {
			if r.MayShow(of, &read[i]) {
				shown = append(shown, read[i])
			}
		}
		if len(read) < page.Limit || len(shown) >= wanted || subject.KB.Attach != nil {
			break
		}
		page.After, page.Limit = read[len(read)-1].ID, neighbourPage
	}
	return shown[:min(len(shown), wanted)], nil
}
