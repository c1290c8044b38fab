package gateway

import (
	_ "embed"
	"encoding/json"
	"fmt"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"
)

// bodyExamples are bodies that routes accept, by operation; tests send each to its route.
//
//go:embed examples.json
var bodyExamples []byte

// giveExamples puts an example into each body of JSON.
func (s *Server) giveExamples() {
	var examples map[string]json.RawMessage
	if err := json.Unmarshal(bodyExamples, &examples); err != nil {
		panic(fmt.Sprintf("gateway/examples.json: %v", err)) // it is part of the program
	}
	for _, path := range s.openapi.Paths {
		for _, op := range []*huma.Operation{path.Post, path.Put, path.Patch, path.Delete} {
			if op == nil || op.RequestBody == nil {
				continue
			}
			if body := op.RequestBody.Content[fiber.MIMEApplicationJSON]; body != nil && examples[op.OperationID] != nil {
				body.Example = examples[op.OperationID]
			}
		}
	}
}
