package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search"
)

const schemaPrefix = "#/components/schemas/"

// keySchemes are the two ways of presenting a key.
var keySchemes = []map[string][]string{{"bearer": {}}, {"apiKey": {}}}

func newOpenAPI(version string) *huma.OpenAPI {
	if version == "" {
		version = "dev"
	}
	schemas := huma.NewMapRegistry(schemaPrefix, schemaName)
	schemas.RegisterTypeAlias(reflect.TypeFor[scoring.Normalizer](), reflect.TypeFor[normalizer]())
	schemas.RegisterTypeAlias(reflect.TypeFor[search.Threshold](), reflect.TypeFor[threshold]())
	schemas.RegisterTypeAlias(reflect.TypeFor[search.Rerank](), reflect.TypeFor[reranking]())
	schemas.RegisterTypeAlias(reflect.TypeFor[search.Reranking](), reflect.TypeFor[reranking]())
	return &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{
			Title:   "Hybridge",
			Version: version,
			Description: "Keyword and vector search, fused: a question in, explained hits out. " +
				"Every error is a problem document (RFC 9457) with a stable code. " +
				"Accept-Language chooses the language of its detail and of all other texts for readers, en or zh; " +
				"codes, fields and values stay as they are.",
		},
		Tags: []*huma.Tag{
			{Name: "search", Description: "Ask, and ask why."},
			{Name: "knowledge-bases", Description: "Create, list, describe, delete."},
			{Name: "documents", Description: "Write and read documents and their chunks."},
			{Name: "mappings", Description: "Compare an index with its schema, and change it while it is in use."},
			{Name: "jobs", Description: "Long work: state, progress, cancel."},
			{Name: "keys", Description: "Make, list, rotate and revoke keys."},
			{Name: "protocols", Description: "What other programs already speak, with their own errors."},
			{Name: "operation", Description: "Health, metrics, this document."},
		},
		Components: &huma.Components{
			Schemas: schemas,
			SecuritySchemes: map[string]*huma.SecurityScheme{
				"bearer": {Type: "http", Scheme: "bearer"},
				"apiKey": {Type: "apiKey", In: "header", Name: "X-API-Key"},
			},
		},
	}
}

// normalizer describes scoring.Normalizer in the document, with the list of them.
type normalizer string

// Schema implements huma.SchemaProvider.
func (normalizer) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Description: "Of linear: " + scoring.AcceptedNormalizers() + "."}
}

// threshold describes search.Threshold in the document, with its short form.
type threshold struct{}

// thresholdMembers are those of search.Threshold, without its way of reading JSON.
type thresholdMembers search.Threshold

// Schema implements huma.SchemaProvider.
func (threshold) Schema(r huma.Registry) *huma.Schema {
	auto := search.AutoThreshold()
	return &huma.Schema{OneOf: []*huma.Schema{
		r.Schema(reflect.TypeFor[thresholdMembers](), true, "Threshold"),
		{
			Type: huma.TypeString, Enum: []any{search.Auto},
			Description: fmt.Sprintf("Stands for {answerable: %g, relevance: %g}.", *auto.Answerable, *auto.Relevance),
		},
	}}
}

// reranking describes search.Rerank in the document, with its short form.
type reranking struct{}

// rerankMembers are those of search.Rerank, without its way of reading JSON.
type rerankMembers search.Rerank

// Schema implements huma.SchemaProvider.
func (reranking) Schema(r huma.Registry) *huma.Schema {
	return &huma.Schema{OneOf: []*huma.Schema{
		r.Schema(reflect.TypeFor[rerankMembers](), true, "Rerank"),
		{Type: huma.TypeString, Description: "The name of a reranker: stands for {name, window: 50, weight: 1}."},
	}}
}

// schemaName prefixes the package, because search.Leg and scoring.Leg differ. The gateway's
// own types have no prefix.
func schemaName(t reflect.Type, hint string) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	name := huma.DefaultSchemaNamer(t, hint)
	from := path.Base(t.PkgPath())
	if t.PkgPath() == "" || from == "gateway" {
		return name
	}
	return strings.ToUpper(from[:1]) + from[1:] + name
}

// document adds the route to the OpenAPI document.
func (s *Server) document(r *route, in *input, output reflect.Type) {
	op := s.operation(r, in)
	if in.body >= 0 {
		schema := s.schemaOf(in.bodyType)
		if !in.lenient {
			s.asRequest(schema)
		}
		op.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
			"application/json": {Schema: schema},
		}}
	}
	success := &huma.Response{Description: http.StatusText(r.status)}
	if r.status != http.StatusNoContent {
		success.Content = map[string]*huma.MediaType{"application/json": {Schema: s.schemaOf(output)}}
	}
	op.Responses[strconv.Itoa(r.status)] = success
	s.openapi.AddOperation(op)
}

// operation documents a route except for its bodies.
func (s *Server) operation(r *route, in *input) *huma.Operation {
	problems, schema := problemType, s.schemaOf(reflect.TypeFor[Problem]())
	if r.dialect != nil {
		problems, schema = fiber.MIMEApplicationJSON, s.schemaOf(r.dialect.problems)
	}
	op := &huma.Operation{
		OperationID: r.id,
		Method:      r.method,
		Path:        r.path,
		Summary:     r.summary,
		Description: r.about,
		Tags:        []string{r.tag},
		Responses: map[string]*huma.Response{"default": {
			Description: "A problem",
			Content:     map[string]*huma.MediaType{problems: {Schema: schema}},
		}},
	}
	if r.access != public {
		op.Security = keySchemes
		op.Extensions = map[string]any{"x-role": r.needs()}
	}
	for _, p := range in.parameters {
		op.Parameters = append(op.Parameters, &huma.Param{
			Name: p.name, In: p.in, Required: p.in == "path",
			Description: p.schema.Description, Schema: p.schema,
		})
	}
	return op
}

func (s *Server) schemaOf(t reflect.Type) *huma.Schema {
	return s.openapi.Components.Schemas.Schema(t, true, "")
}

// asRequest marks a schema, and those that it refers to, as part of a request. Optional scalar
// members become nullable, because null is the same as leaving a member out, and unknown
// members stay forbidden.
func (s *Server) asRequest(schema *huma.Schema) {
	if schema.Ref != "" {
		schema = s.openapi.Components.Schemas.SchemaFromRef(schema.Ref)
	}
	s.requests[schema] = true
	for name, member := range schema.Properties {
		switch {
		case member.Ref != "":
			s.asRequest(member)
		case !slices.Contains(schema.Required, name) && member.Type != "" && len(member.Enum) == 0:
			member.Nullable = true
		}
	}
}

// openAnswers allows unknown members in schemas that only answers have, so that new members do
// not break a client that validates.
func (s *Server) openAnswers() {
	for _, schema := range s.openapi.Components.Schemas.Map() {
		if closed, ok := schema.AdditionalProperties.(bool); ok && !closed && !s.requests[schema] {
			schema.AdditionalProperties = nil
		}
	}
}

func (s *Server) openAPIRoutes() {
	r := route{
		method: http.MethodGet, path: "/openapi.json", tag: "operation",
		id: "openapi", summary: "This document",
	}
	s.openapi.AddOperation(s.rawOperation(&r, "application/openapi+json"))
	// Made when first asked for, when every route is registered.
	opened := sync.OnceFunc(s.openAnswers)
	document := sync.OnceValues(func() ([]byte, error) {
		opened()
		return json.Marshal(s.openapi)
	})
	unversioned := sync.OnceValues(func() ([]byte, error) {
		opened()
		of, info := *s.openapi, *s.openapi.Info
		of.Info, info.Version = &info, "for callers with a key"
		return json.Marshal(&of)
	})
	s.mount(&r, func(ctx context.Context, _ access.Scope, c *fiber.Ctx) error {
		encoded, err := document()
		if isStranger(ctx) {
			encoded, err = unversioned()
		}
		if err != nil {
			return fault.Wrap(fault.Internal, err, "encode the OpenAPI document")
		}
		c.Set(fiber.HeaderContentType, "application/openapi+json")
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
