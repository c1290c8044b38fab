package endpoint

import (
	"encoding/json"
	"fmt"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"
)

// giveExamples puts an example into each body of JSON.
func (d *Document) giveExamples(bodies []byte) {
	var examples map[string]json.RawMessage
	if err := json.Unmarshal(bodies, &examples); err != nil {
		panic(fmt.Sprintf("examples of the OpenAPI document: %v", err)) // it is part of the program
	}
	for _, path := range d.Paths {
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
