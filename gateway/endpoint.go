package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/locale"
)

// route describes an endpoint.
type route struct {
	method  string
	path    string // with {parameters}
	id      string // of the operation
	summary string
	about   string
	tag     string
	access  permission
	role    string        // that a key needs; empty: search for what reads, write for the rest
	status  int           // of success; 0: 200
	timeout time.Duration // 0: Limits.Request
	whole   bool          // not for keys that are bound to a filter, although it only reads
	dry     bool          // it changes nothing, although it is a POST that takes more than a key that reads

	bodyBytes int // room for a JSON body where that is more than Limits.JSONBytes

	dialect *dialect // of another program; nil: that of this API
}

// endpoint answers one authorised request.
type endpoint func(ctx context.Context, scope access.Scope, c *fiber.Ctx) error

// register adds a route whose input and output are plain values. The fields of I are tagged
// path:"name" or query:"name", and Body is the JSON body; O is the JSON answer. A nil answer
// is a 204.
//
// It replaces huma.Register, which decodes each body twice, accepts what decodeJSON refuses,
// and makes errors in a function that is global to the process. huma makes the OpenAPI
// document from the same types.
func register[I, O any](s *Server, r route, handle func(context.Context, access.Scope, *I) (*O, error)) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	in := s.inputOf(reflect.TypeFor[I]())
	in.lenient = r.dialect != nil
	s.document(&r, in, reflect.TypeFor[O]())
	s.mount(&r, func(ctx context.Context, scope access.Scope, c *fiber.Ctx) error {
		input := new(I)
		if err := in.bind(c, reflect.ValueOf(input).Elem(), max(r.bodyBytes, s.limits.JSONBytes)); err != nil {
			return err
		}
		output, err := handle(ctx, scope, input)
		if err != nil {
			return err
		}
		if output == nil {
			c.Status(http.StatusNoContent)
			return nil
		}
		return s.send(c, r.status, output)
	})
}

// registerWith is register for what asks a part of the gateway that may be missing.
func registerWith[P, I, O any](
	s *Server, part func() (P, error), r route, handle func(context.Context, P, access.Scope, *I) (*O, error),
) {
	register(s, r, func(ctx context.Context, scope access.Scope, in *I) (*O, error) {
		of, err := part()
		if err != nil {
			return nil, err
		}
		return handle(ctx, of, scope, in)
	})
}

// mount puts an endpoint behind authorisation and a deadline.
func (s *Server) mount(r *route, serve endpoint) {
	s.changing[r.method+" "+r.path] = r.changes()
	timeout := r.timeout
	if timeout == 0 {
		timeout = s.limits.Request
	}
	handler := func(c *fiber.Ctx) (err error) {
		defer func() { err = r.named(err) }()
		x := exchangeOf(c)
		x.route, x.dialect = r.path, r.dialect
		scope, err := s.authorise(c, x, r)
		if err != nil {
			return err
		}
		if r.access != public {
			release, err := s.callers.admit(c, x.key)
			if err != nil {
				return err
			}
			defer release()
		}
		ctx, cancel := context.WithTimeout(context.WithValue(x.span.In(s.base), exchangeKey{}, x), timeout)
		defer cancel()
		defer s.watched.add(x.body.conn, x.start, func() { x.left.Store(true); cancel() })()
		return serve(ctx, scope, c)
	}
	path := strings.NewReplacer("{", ":", "}", "").Replace(r.path)
	if r.method == http.MethodGet {
		s.app.Get(path, handler) // HEAD too
		return
	}
	s.app.Add(r.method, path, handler)
}

// pathNames are what paths call the things that errors name otherwise, where they are told of a body.
var pathNames = map[string][]string{
	"knowledge_base": {"kb"}, "document_id": {"document"}, "chunk_id": {"id"}, "id": {"set", "list"},
}

// named says of an error what this route calls the member at fault.
func (r *route) named(err error) error {
	if r.dialect != nil {
		return r.dialect.named(err)
	}
	var refused *fault.Error
	if !errors.As(err, &refused) {
		return err
	}
	for _, theirs := range pathNames[refused.Field] {
		if strings.Contains(r.path, "{"+theirs+"}") {
			return refused.Called(theirs)
		}
	}
	return err
}

// jsonAppender is an answer that writes its own JSON, faster than encoding/json.
type jsonAppender interface {
	AppendJSON(to []byte) ([]byte, error)
}

// mountStream mounts an endpoint whose body, of one of these types, is read as it comes in
// and may have any length. serve must not read it after it has returned.
func mountStream[I any](s *Server, r *route, in *input, types []string,
	serve func(context.Context, access.Scope, *fiber.Ctx, *I, *requestBody) error,
) {
	s.mount(r, func(ctx context.Context, scope access.Scope, c *fiber.Ctx) error {
		value := new(I)
		if err := in.bind(c, reflect.ValueOf(value).Elem(), 0); err != nil {
			return err
		}
		if err := checkContentType(c, types); err != nil {
			return err
		}
		body := &exchangeOf(c).body
		if err := s.meterBody(ctx, c, scope, body); err != nil {
			return err
		}
		stop := body.allowLong(ctx, s.limits.Idle)
		defer stop()
		return serve(ctx, scope, c, value, body)
	})
}

// writeJSON encodes directly into the response, its texts in the caller's language.
func writeJSON(c *fiber.Ctx, status int, value any) error {
	if err := encodeJSON(c.Response(), languageOf(c).Answer(value)); err != nil {
		return fault.Wrap(fault.Internal, err, "encode the answer")
	}
	c.Status(status).Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
	return nil
}

// languageOf is the language in which the caller wants texts; the answer is marked as
// written in it.
func languageOf(c *fiber.Ctx) *locale.Language {
	wanted := locale.Match(c.Get(fiber.HeaderAcceptLanguage))
	if wanted != nil {
		c.Set(fiber.HeaderContentLanguage, wanted.Tag())
	}
	return wanted
}

func encodeJSON(to *fasthttp.Response, value any) error {
	if v, ok := value.(jsonAppender); ok {
		body, err := v.AppendJSON(to.SwapBody(nil)[:0])
		to.SwapBody(body)
		return err
	}
	encoder := json.NewEncoder(to.BodyWriter())
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}

// input describes where the fields of an input type come from.
type input struct {
	parameters []parameter
	body       int // index of the field Body; -1: none
	bodyType   reflect.Type
	lenient    bool // unknown members of the body and query parameters are ignored
	queries    map[string]bool
}

type parameter struct {
	field  int
	in     string // path or query
	name   string
	schema *huma.Schema
}

func (s *Server) inputOf(t reflect.Type) *input {
	in := &input{body: -1, queries: map[string]bool{}}
	for i := range t.NumField() {
		field := t.Field(i)
		if field.Name == "Body" {
			in.body, in.bodyType = i, field.Type
			continue
		}
		for _, place := range []string{"path", "query"} {
			if name, ok := field.Tag.Lookup(place); ok {
				schema := huma.SchemaFromField(s.openapi.Components.Schemas, field, "")
				in.parameters = append(in.parameters, parameter{field: i, in: place, name: name, schema: schema})
				in.queries[name] = in.queries[name] || place == "query"
			}
		}
	}
	return in
}

// bind fills an input value from the request.
func (in *input) bind(c *fiber.Ctx, value reflect.Value, limit int) error {
	if err := in.checkQueries(c); err != nil {
		return err
	}
	for i := range in.parameters {
		if err := in.parameters[i].bind(c, value); err != nil {
			return err
		}
	}
	if in.body < 0 {
		return nil
	}
	return decodeJSON(c, limit, in.lenient, value.Field(in.body).Addr().Interface())
}

// checkQueries refuses unknown query parameters.
func (in *input) checkQueries(c *fiber.Ctx) error {
	if in.lenient {
		return nil
	}
	for key := range c.Context().QueryArgs().All() {
		name := strings.ToValidUTF8(string(key), "\uFFFD")
		if !in.queries[name] {
			err := fault.New(fault.InvalidArgument, "query parameter %q is not known here", clip(name))
			err.Field = clip(name)
			return err
		}
	}
	return nil
}

func (p *parameter) bind(c *fiber.Ctx, value reflect.Value) error {
	target := value.Field(p.field)
	if p.in == "path" {
		text, err := unescape(p.name, c.Params(p.name))
		target.SetString(text)
		return err
	}
	if target.Kind() == reflect.Slice { // there once for each value
		for _, value := range c.Context().QueryArgs().PeekMulti(p.name) {
			text := reflect.New(target.Type().Elem()).Elem()
			if err := p.parse(text, string(value)); err != nil {
				return err
			}
			target.Set(reflect.Append(target, text))
		}
		return nil
	}
	if !c.Context().QueryArgs().Has(p.name) {
		p.setDefault(target)
		return nil
	}
	return p.parse(target, c.Query(p.name))
}

func (p *parameter) setDefault(target reflect.Value) {
	if p.schema.Default != nil {
		target.Set(reflect.ValueOf(p.schema.Default).Convert(target.Type()))
	}
}

// parse reads a query parameter. Numbers must be within the bounds of the schema.
func (p *parameter) parse(target reflect.Value, text string) error {
	switch target.Kind() { //nolint:exhaustive // the kinds that parameters have
	case reflect.Bool:
		parsed, err := strconv.ParseBool(text)
		if err != nil {
			return fault.Invalid(p.name, text, "true or false")
		}
		target.SetBool(parsed)
	case reflect.Int:
		low, high := int(*p.schema.Minimum), int(*p.schema.Maximum)
		parsed, err := strconv.Atoi(text)
		if err != nil || parsed < low || parsed > high {
			return fault.Invalid(p.name, text, fmt.Sprintf("a whole number from %d to %d", low, high))
		}
		target.SetInt(int64(parsed))
	default:
		if !utf8.ValidString(text) {
			return fault.Invalid(p.name, strings.ToValidUTF8(text, "\uFFFD"), "percent-encoded UTF-8")
		}
		target.SetString(text)
	}
	return nil
}
