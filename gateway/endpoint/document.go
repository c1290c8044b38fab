package endpoint

import (
	"net/http"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"
)

const schemaPrefix = "#/components/schemas/"

// keySchemes are the two ways of presenting a key.
var keySchemes = []map[string][]string{{"bearer": {}}, {"apiKey": {}}}

// Document is the OpenAPI document, to which each route is added when it is registered.
type Document struct {
	*huma.OpenAPI
	requests map[*huma.Schema]bool // the schemas that requests have
}

// newDocument gives a document components and the two ways of presenting a key.
func newDocument(about *huma.OpenAPI) *Document {
	about.Security = keySchemes
	about.Components = &huma.Components{
		Schemas:   huma.NewMapRegistry(schemaPrefix, schemaName),
		Responses: map[string]*huma.Response{},
		SecuritySchemes: map[string]*huma.SecurityScheme{
			"bearer": {Type: "http", Scheme: "bearer"},
			"apiKey": {Type: "apiKey", In: "header", Name: "X-API-Key"},
		},
	}
	return &Document{OpenAPI: about, requests: map[*huma.Schema]bool{}}
}

// InputOf reads the tags of an input type.
func (d *Document) InputOf(t reflect.Type) *Input { return newInput(d.Components.Schemas, t) }

// gateway is the package whose types, and those of packages in it, have no prefix.
var gateway = path.Dir(reflect.TypeFor[Document]().PkgPath())

// schemaName prefixes the package, because search.Leg and scoring.Leg differ. The gateway's
// own types have no prefix. Responses are renamed to answers, because generators of clients use
// that name for the result of an operation.
func schemaName(t reflect.Type, hint string) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	name := huma.DefaultSchemaNamer(t, hint)
	if stem, is := strings.CutSuffix(name, "Response"); is {
		name = stem + "Answer"
	}
	from := t.PkgPath()
	if from == "" || from == gateway || strings.HasPrefix(from, gateway+"/") {
		return name
	}
	within := path.Base(path.Dir(from))
	if from = path.Base(from); within == "search" && from != "compare" && from != "recall" {
		from = within // callers know no steps
	}
	return strings.ToUpper(from[:1]) + from[1:] + name
}

// add adds the route to the OpenAPI document.
func (d *Document) add(r *Route, in *Input, output reflect.Type) {
	op := d.Operation(r, in)
	op.RequestBody = d.RequestBody(in)
	success := &huma.Response{Description: http.StatusText(r.Status)}
	if r.Status != http.StatusNoContent {
		success.Content = map[string]*huma.MediaType{"application/json": {Schema: d.SchemaOf(output)}}
	}
	op.Responses[strconv.Itoa(r.Status)] = success
	d.AddOperation(op)
}

// RequestBody documents a body of JSON; nil: there is none.
func (d *Document) RequestBody(in *Input) *huma.RequestBody {
	if in.body < 0 {
		return nil
	}
	schema := d.SchemaOf(in.bodyType)
	if !in.lenient {
		d.AsRequest(schema)
	}
	return &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/json": {Schema: schema}}}
}

// Operation documents a route except for its bodies.
func (d *Document) Operation(r *Route, in *Input) *huma.Operation {
	op := &huma.Operation{
		OperationID: r.ID,
		Method:      r.Method,
		Path:        r.Path,
		Summary:     r.Summary,
		Description: r.About,
		Tags:        []string{r.Tag},
		Responses:   d.refusals(r, in),
	}
	if r.Access == public {
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
func (d *Document) refusals(r *Route, in *Input) map[string]*huma.Response {
	if r.Dialect != nil {
		refusal := &huma.Response{Description: "An error in the form of that protocol", Content: map[string]*huma.MediaType{
			fiber.MIMEApplicationJSON: {Schema: d.SchemaOf(r.Dialect.Problems)},
		}}
		return map[string]*huma.Response{"4XX": refusal, "default": refusal}
	}
	statuses := []int{http.StatusBadRequest, http.StatusTooManyRequests}
	if r.Access != public {
		statuses = append(statuses, http.StatusUnauthorized, http.StatusForbidden)
	}
	if strings.Contains(r.Path, "{") {
		statuses = append(statuses, http.StatusNotFound)
	}
	if in.body >= 0 {
		statuses = append(statuses, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)
	}
	responses := map[string]*huma.Response{"default": d.refusal("Error", "An error")}
	for _, status := range statuses {
		text := http.StatusText(status)
		responses[strconv.Itoa(status)] = d.refusal(strings.ReplaceAll(text, " ", ""), text)
	}
	return responses
}

// refusal is a response of the document, which operations share.
func (d *Document) refusal(name, description string) *huma.Response {
	shared := d.Components.Responses
	if shared[name] == nil {
		shared[name] = &huma.Response{Description: description, Content: map[string]*huma.MediaType{
			ProblemType: {Schema: d.SchemaOf(reflect.TypeFor[Problem]())},
		}}
	}
	return &huma.Response{Ref: "#/components/responses/" + name}
}

// SchemaOf is the schema of a type, which the document has from then on.
func (d *Document) SchemaOf(t reflect.Type) *huma.Schema {
	return d.Components.Schemas.Schema(t, true, "")
}

// AsRequest marks a schema, and those that it refers to, as part of a request. Optional scalar
// members become nullable, because null is the same as leaving a member out, and unknown
// members stay forbidden.
func (d *Document) AsRequest(schema *huma.Schema) {
	if schema.Ref != "" {
		schema = d.Components.Schemas.SchemaFromRef(schema.Ref)
	}
	d.requests[schema] = true
	for name, member := range schema.Properties {
		switch {
		case member.Ref != "":
			d.AsRequest(member)
		case !slices.Contains(schema.Required, name) && member.Type != "" && len(member.Enum) == 0:
			member.Nullable = true
		}
	}
}

// openAnswers allows unknown members in schemas that only answers have, so that new members do
// not break a client that validates.
func (d *Document) openAnswers() {
	for _, schema := range d.Components.Schemas.Map() {
		if closed, ok := schema.AdditionalProperties.(bool); ok && !closed && !d.requests[schema] {
			schema.AdditionalProperties = nil
		}
	}
}

// RawOperation documents a GET without input whose answer is not one of the API's JSON
// values.
func (d *Document) RawOperation(r *Route, mediaType string) *huma.Operation {
	op := d.Operation(r, &Input{body: -1})
	op.Responses["200"] = &huma.Response{
		Description: http.StatusText(http.StatusOK),
		Content:     map[string]*huma.MediaType{mediaType: {Schema: &huma.Schema{}}},
	}
	return op
}
