package endpoint

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"

	"github.com/hybridge-search/hybridge/fault"
)

// Input describes where the fields of an input type come from.
type Input struct {
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

// newInput reads the tags of an input type.
func newInput(schemas huma.Registry, t reflect.Type) *Input {
	in := &Input{body: -1, queries: map[string]bool{}}
	for i := range t.NumField() {
		field := t.Field(i)
		if field.Name == "Body" {
			in.body, in.bodyType = i, field.Type
			continue
		}
		for _, place := range []string{"path", "query"} {
			if name, ok := field.Tag.Lookup(place); ok {
				schema := huma.SchemaFromField(schemas, field, "")
				in.parameters = append(in.parameters, parameter{field: i, in: place, name: name, schema: schema})
				in.queries[name] = in.queries[name] || place == "query"
			}
		}
	}
	return in
}

// Bind fills an input value, which into points to, from the request.
func (in *Input) Bind(c *fiber.Ctx, into any, limit int) error {
	value := reflect.ValueOf(into).Elem()
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
func (in *Input) checkQueries(c *fiber.Ctx) error {
	if in.lenient {
		return nil
	}
	for key := range c.Context().QueryArgs().All() {
		name := strings.ToValidUTF8(string(key), "\uFFFD")
		if !in.queries[name] {
			err := fault.New(fault.InvalidArgument, "query parameter %q is not known here", Clip(name))
			err.Field = Clip(name)
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
