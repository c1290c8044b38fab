package chunks

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/ingest"
)

type exportInput struct {
	KB      string `path:"kb" doc:"Id of the knowledge base."`
	After   string `query:"after" doc:"Continue after the chunk with this id."`
	Limit   int    `query:"limit" minimum:"0" maximum:"1000000000" default:"0" doc:"Chunks at most; 0: all."`
	Vectors bool   `query:"vectors" doc:"With their vectors."`
}

// exportedAtOnce is how many bytes of lines are sent together.
const exportedAtOnce = 64 << 10

// exportRoutes adds the route that reads a knowledge base whole, as a stream of any length.
func (s *documentService) exportRoutes() {
	r := endpoint.Route{
		Method: http.MethodGet, Path: basePath + "/chunks", Tag: "documents", Access: endpoint.Reads,
		ID: "export-chunks", Summary: "Read all chunks, as they are written",
		About: "In the order of their ids by bytes, hidden ones included, each as POST of documents takes it. When they " +
			"could not be read to their end, the last line is a problem; ask again after the last id.",
	}
	in := s.api.Document.InputOf(reflect.TypeFor[exportInput]())
	op := s.api.Document.Operation(&r, in)
	op.Responses["200"] = &huma.Response{
		Description: "One chunk a line.",
		Content: map[string]*huma.MediaType{
			endpoint.NDJSON: {Schema: s.api.Document.SchemaOf(reflect.TypeFor[ingest.Chunk]())},
		},
	}
	s.api.Document.AddOperation(op)
	s.api.Mount(&r, func(_ context.Context, scope access.Scope, c *fiber.Ctx) error {
		var input exportInput
		if err := in.Bind(c, &input, 0); err != nil {
			return err
		}
		export := ingest.Export{KB: input.KB, After: input.After, Limit: input.Limit, Vectors: input.Vectors}
		return s.api.Live(c, func(ctx context.Context, tell func(any) error) (any, error) {
			return s.export(ctx, scope, export, tell)
		})
	})
}

// export streams the chunks, and returns the remaining lines as last.
func (s *documentService) export(
	ctx context.Context, scope access.Scope, export ingest.Export, tell func(any) error,
) (last any, err error) {
	var lines bytes.Buffer
	encoder := json.NewEncoder(&lines)
	encoder.SetEscapeHTML(false)
	count := 0
	flush := func() error {
		defer lines.Reset()
		return tell(endpoint.RawLines(lines.Bytes()))
	}
	err = s.ingester.Export(ctx, scope, export, func(chunk ingest.Chunk) error {
		count++
		if err := encoder.Encode(chunk); err != nil || lines.Len() < exportedAtOnce {
			return err
		}
		return flush()
	})
	if err != nil && count > 0 && ctx.Err() == nil {
		_ = flush() // what was read before the error is true; a client that has gone needs none
	}
	return endpoint.RawLines(lines.Bytes()), err
}
