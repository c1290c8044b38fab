package endpoint

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/fault"
)

const openAPIType = "application/openapi+json"

// Details are descriptions of fields that tags cannot express.
type Details struct {
	// Examples are bodies that routes accept, an object by operation.
	Examples []byte
	// Values are the bounds of the values of members that are maps or lists.
	Values map[string][2]float64
	// Signed are whole numbers that may be less than 0; all others count something.
	Signed map[string]bool
}

// openAPIForm is a way of writing the document.
type openAPIForm struct {
	Route
	mediaType string
	write     func(*huma.OpenAPI) ([]byte, error)
}

func openAPIForms() []openAPIForm {
	form := func(path, id, summary, about string) Route {
		return Route{Method: http.MethodGet, Path: path, Tag: "operation", ID: id, Summary: summary, About: about}
	}
	return []openAPIForm{
		{
			Route: form("/openapi.json", "openapi", "This document",
				"OpenAPI 3.1, made of the types that the gateway decodes and encodes. /docs shows it to people."),
			mediaType: openAPIType, write: func(o *huma.OpenAPI) ([]byte, error) { return json.Marshal(o) },
		},
		{
			Route:     form("/openapi.yaml", "openapi-yaml", "This document as YAML", "The same as /openapi.json."),
			mediaType: "application/openapi+yaml", write: (*huma.OpenAPI).YAML,
		},
	}
}

// Describe serves the document.
func (a *API) Describe(details Details) {
	forms := openAPIForms()
	for i := range forms {
		a.Document.AddOperation(a.Document.RawOperation(&forms[i].Route, forms[i].mediaType))
	}
	opened := sync.OnceFunc(func() {
		a.Document.openAnswers()
		a.Document.boundNumbers(details)
		a.Document.giveExamples(details.Examples)
	})
	for i := range forms {
		a.serveOpenAPI(&forms[i], opened)
	}
}

// serveOpenAPI mounts a form of the document, which is made when first asked for, when every route is
// registered.
func (a *API) serveOpenAPI(form *openAPIForm, opened func()) {
	document := sync.OnceValues(func() ([]byte, error) {
		opened()
		return form.write(a.Document.OpenAPI)
	})
	unversioned := sync.OnceValues(func() ([]byte, error) {
		opened()
		of, info := *a.Document.OpenAPI, *a.Document.Info
		of.Info, info.Version = &info, "for callers with a key"
		return form.write(&of)
	})
	a.Mount(&form.Route, func(ctx context.Context, _ access.Scope, c *fiber.Ctx) error {
		encoded, err := document()
		if IsStranger(ctx) {
			encoded, err = unversioned()
		}
		if err != nil {
			return fault.Wrap(fault.Internal, err, "encode the OpenAPI document")
		}
		c.Set(fiber.HeaderContentType, form.mediaType)
		return c.Send(encoded)
	})
}
