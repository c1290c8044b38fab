// Command generated writes, searches and reads an error by a client that oapi-codegen makes, and prints
// what it is told, as JSON: generated URL KEY.
package main

import (
	"context"
	"encoding/json"
	"generated/client"
	"log"
	"net/http"
	"os"
)

func main() {
	key := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+os.Args[2])
		return nil
	}
	c, err := client.NewClientWithResponses(os.Args[1], client.WithRequestEditorFn(key))
	if err != nil {
		log.Fatal(err)
	}
	if err := run(context.Background(), c); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, c *client.ClientWithResponses) error {
	made, err := c.CreateKnowledgeBaseWithResponse(ctx, client.CatalogSpec{Id: "by-go"})
	if err != nil {
		return err
	}
	refresh := true
	content, id := "The workshop opens at nine in the morning.", "c0"
	written, err := c.WriteChunksWithResponse(ctx, "by-go", &client.WriteChunksParams{Refresh: &refresh},
		[]client.IngestChunk{{Id: id, Content: &content}})
	if err != nil {
		return err
	}
	found, err := c.SearchWithResponse(ctx, client.SearchRequest{
		Query: "When does the workshop open?", KnowledgeBases: &[]string{"by-go"},
	})
	if err != nil {
		return err
	}
	missing, err := c.SearchWithResponse(ctx, client.SearchRequest{Query: "x", KnowledgeBases: &[]string{"nothing"}})
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{
		"made": made.StatusCode(), "written": written.JSON200, "found": found.JSON200,
		"missing": missing.ApplicationproblemJSONDefault,
	})
}
