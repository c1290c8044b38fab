package gateway

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

// openAPIForm is a way of writing the document.
type openAPIForm struct {
	route
	mediaType string
	write     func(*huma.OpenAPI) ([]byte, error)
}

func openAPIForms() []openAPIForm {
	form := func(path, id, summary, about string) route {
		return route{method: http.MethodGet, path: path, tag: "operation", id: id, summary: summary, about: about}
	}
	return []openAPIForm{
		{
			route: form("/openapi.json", "openapi", "This document",
				"OpenAPI 3.1, made of the types that the gateway decodes and encodes. /docs shows it to people."),
			mediaType: openAPIType, write: func(o *huma.OpenAPI) ([]byte, error) { return json.Marshal(o) },
		},
		{
			route:     form("/openapi.yaml", "openapi-yaml", "This document as YAML", "The same as /openapi.json."),
			mediaType: "application/openapi+yaml", write: (*huma.OpenAPI).YAML,
		},
	}
}

func (s *Server) openAPIRoutes() {
	forms := openAPIForms()
	for i := range forms {
		s.openapi.AddOperation(s.rawOperation(&forms[i].route, forms[i].mediaType))
	}
	opened := sync.OnceFunc(func() {
		s.openAnswers()
		s.boundNumbers()
		s.giveExamples()
	})
	for i := range forms {
		s.serveOpenAPI(&forms[i], opened)
	}
}

// serveOpenAPI mounts a form of the document, which is made when first asked for, when every route is
// registered.
func (s *Server) serveOpenAPI(form *openAPIForm, opened func()) {
	document := sync.OnceValues(func() ([]byte, error) {
		opened()
		return form.write(s.openapi)
	})
	unversioned := sync.OnceValues(func() ([]byte, error) {
		opened()
		of, info := *s.openapi, *s.openapi.Info
		of.Info, info.Version = &info, "for callers with a key"
		return form.write(&of)
	})
	s.mount(&form.route, func(ctx context.Context, _ access.Scope, c *fiber.Ctx) error {
		encoded, err := document()
		if isStranger(ctx) {
			encoded, err = unversioned()
		}
		if err != nil {
			return fault.Wrap(fault.Internal, err, "encode the OpenAPI document")
		}
		c.Set(fiber.HeaderContentType, form.mediaType)
		return c.Send(encoded)
	})
}

// rawOperation documents a GET without input whose answer is not one of the API's JSON
// values.
func (s *Server) rawOperation(r *route, mediaType string) *huma.Operation {
	op := s.operation(r, &input{body: -1})
	op.Responses["200"] = &huma.Response{
		Description: http.StatusText(http.StatusOK),
		Content:     map[string]*huma.MediaType{mediaType: {Schema: &huma.Schema{}}},
	}
	return op
}
