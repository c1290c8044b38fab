package gateway

import (
	"fmt"
	"net/http"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"

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
			License: &huma.License{Name: "Apache License 2.0", Identifier: "Apache-2.0"},
			Contact: &huma.Contact{Name: "Hybridge", URL: "https://github.com/hybridge-search/hybridge"},
		},
		Servers:  []*huma.Server{{URL: "/", Description: "This gateway."}},
		Security: keySchemes,
		Tags: []*huma.Tag{
			{Name: "search", Description: "Ask, and ask why."},
			{Name: "knowledge-bases", Description: "Create, list, describe, delete."},
			{Name: "documents", Description: "Write and read documents and their chunks."},
			{Name: "synonyms", Description: "Words that stand for others, of each knowledge base, in versions."},
			{Name: "rules", Description: "What questions pin, hide and filter, of each knowledge base, in versions."},
			{Name: "presets", Description: "Plans of searches that are saved while the gateway runs, in versions."},
			{Name: "evaluation", Description: "Query sets, judgments, and what they say of presets."},
			{Name: "experiments", Description: "Let users decide between ways to search."},
			{Name: "events", Description: "What users did with answers, and what that says."},
			{Name: "mappings", Description: "Compare an index with its schema, and change it while it is in use."},
			{Name: "jobs", Description: "Long work: state, progress, cancel."},
			{Name: "keys", Description: "Make, list, rotate and revoke keys."},
			{Name: "protocols", Description: "What other programs already speak, with their own errors."},
			{Name: "operation", Description: "Health, metrics, this document."},
		},
		Components: &huma.Components{
			Schemas:   schemas,
			Responses: map[string]*huma.Response{},
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
// own types have no prefix. Responses are answers, because generators of clients call so what an
// operation gives.
func schemaName(t reflect.Type, hint string) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	name := huma.DefaultSchemaNamer(t, hint)
	if stem, is := strings.CutSuffix(name, "Response"); is {
		name = stem + "Answer"
	}
	from := path.Base(t.PkgPath())
	if t.PkgPath() == "" || from == "gateway" {
		return name
	}
	if path.Base(path.Dir(t.PkgPath())) == "search" && from != "compare" && from != "recall" {
		from = "search" // callers know no steps
	}
	return strings.ToUpper(from[:1]) + from[1:] + name
}

// document adds the route to the OpenAPI document.
func (s *Server) document(r *route, in *input, output reflect.Type) {
	op := s.operation(r, in)
	op.RequestBody = s.requestBody(in)
	success := &huma.Response{Description: http.StatusText(r.status)}
	if r.status != http.StatusNoContent {
		success.Content = map[string]*huma.MediaType{"application/json": {Schema: s.schemaOf(output)}}
	}
	op.Responses[strconv.Itoa(r.status)] = success
	s.openapi.AddOperation(op)
}

// requestBody documents a body of JSON; nil: there is none.
func (s *Server) requestBody(in *input) *huma.RequestBody {
	if in.body < 0 {
		return nil
	}
	schema := s.schemaOf(in.bodyType)
	if !in.lenient {
		s.asRequest(schema)
	}
	return &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/json": {Schema: schema}}}
}

// operation documents a route except for its bodies.
func (s *Server) operation(r *route, in *input) *huma.Operation {
	op := &huma.Operation{
		OperationID: r.id,
		Method:      r.method,
		Path:        r.path,
		Summary:     r.summary,
		Description: r.about,
		Tags:        []string{r.tag},
		Responses:   s.refusals(r, in),
	}
	if r.access == public {
		op.Security = []map[string][]string{{}} // with nothing
	} else {
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

// refusals are the errors that a route may answer with. Each protocol has its own form, and its own
// statuses.
func (s *Server) refusals(r *route, in *input) map[string]*huma.Response {
	if r.dialect != nil {
		refusal := &huma.Response{Description: "An error in the form of that protocol", Content: map[string]*huma.MediaType{
			fiber.MIMEApplicationJSON: {Schema: s.schemaOf(r.dialect.problems)},
		}}
		return map[string]*huma.Response{"4XX": refusal, "default": refusal}
	}
	statuses := []int{http.StatusBadRequest, http.StatusTooManyRequests}
	if r.access != public {
		statuses = append(statuses, http.StatusUnauthorized, http.StatusForbidden)
	}
	if strings.Contains(r.path, "{") {
		statuses = append(statuses, http.StatusNotFound)
	}
	if in.body >= 0 {
		statuses = append(statuses, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)
	}
	responses := map[string]*huma.Response{"default": s.refusal("Error", "An error")}
	for _, status := range statuses {
		text := http.StatusText(status)
		responses[strconv.Itoa(status)] = s.refusal(strings.ReplaceAll(text, " ", ""), text)
	}
	return responses
}

// refusal is a response of the document, which operations share.
func (s *Server) refusal(name, description string) *huma.Response {
	shared := s.openapi.Components.Responses
	if shared[name] == nil {
		shared[name] = &huma.Response{Description: description, Content: map[string]*huma.MediaType{
			problemType: {Schema: s.schemaOf(reflect.TypeFor[Problem]())},
		}}
	}
	return &huma.Response{Ref: "#/components/responses/" + name}
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
