package endpoint

import (
	"bytes"
	"errors"
	"fmt"
	"mime"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/gofiber/fiber/v2"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/search"
)

// NDJSON is the media type of JSON values, one a line.
const NDJSON = "application/x-ndjson"

// The content type is required: forms and bodies without a type can be posted by a page of
// another site without a preflight request.
var (
	JSONTypes  = []string{"application/json"}
	ChunkTypes = []string{NDJSON, "application/ndjson", "application/jsonl", "application/json"}
)

// CheckContentType refuses a body whose declared type is not one of these.
func CheckContentType(c *fiber.Ctx, accepted []string) error {
	if encoding := c.Get(fiber.HeaderContentEncoding); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return fault.New(UnsupportedMedia, "Content-Encoding is %q; bodies are taken uncompressed only", Clip(encoding))
	}
	if string(c.Request().Header.ContentType()) == accepted[0] {
		return nil
	}
	given := c.Get(fiber.HeaderContentType)
	media, params, err := mime.ParseMediaType(given)
	if err != nil || !slices.Contains(accepted, media) {
		return fault.New(UnsupportedMedia, "Content-Type is %q; it must be %s", Clip(given), accepted[0])
	}
	if charset := params["charset"]; charset != "" && !strings.EqualFold(charset, "utf-8") {
		return fault.New(UnsupportedMedia, "charset is %q; it must be utf-8", Clip(charset))
	}
	return nil
}

// decodeJSON reads a JSON body into a request. lenient: unknown members are ignored.
func decodeJSON(c *fiber.Ctx, limit int, lenient bool, into any) error {
	if err := CheckContentType(c, JSONTypes); err != nil {
		return err
	}
	buffer := bodies.Get().(*bytes.Buffer)
	defer func() {
		if buffer.Cap() <= keptBody {
			buffer.Reset()
			bodies.Put(buffer)
		}
	}()
	if err := ExchangeOf(c).Body.ReadAll(buffer, limit); err != nil {
		return err
	}
	return unmarshal(buffer.Bytes(), lenient, into)
}

// bodies are reused buffers of at most keptBody bytes. Decoding copies what it keeps.
var bodies = sync.Pool{New: func() any { return new(bytes.Buffer) }}

const keptBody = 64 << 10

// unmarshal is strict: it accepts one object of known members, each once, in valid UTF-8,
// with numbers that fit. encoding/json does not check any of this; the package used here is
// the future encoding/json/v2. lenient: unknown members are ignored.
func unmarshal(data []byte, lenient bool, into any) error {
	switch string(bytes.TrimSpace(data)) {
	case "":
		return fault.New(fault.InvalidArgument, "the body is empty; it must be a JSON object")
	case "null":
		return fault.New(fault.InvalidArgument, "the body is null; it must be a JSON object")
	}
	if err := json.Unmarshal(data, into, json.RejectUnknownMembers(!lenient)); err != nil {
		return explainJSON(err)
	}
	return nil
}

// explainJSON names the invalid field and the accepted values.
func explainJSON(err error) error {
	var semantic *json.SemanticError
	var syntactic *jsontext.SyntacticError
	problem := fault.Wrap(fault.InvalidArgument, err, "the body is not valid JSON")
	switch {
	case errors.As(err, &syntactic):
		problem.Field = memberPath(syntactic.JSONPointer)
		problem.Detail = fmt.Sprintf("the body is not valid JSON: %s at byte %d",
			syntaxOf(syntactic), syntactic.ByteOffset)
	case errors.As(err, &semantic) && errors.Is(err, json.ErrUnknownName):
		problem.Field = memberPath(semantic.JSONPointer)
		problem.Detail = problem.Field + " is not a member that is known here"
	case errors.As(err, &semantic):
		problem.Field = memberPath(semantic.JSONPointer)
		problem.Detail = fmt.Sprintf("%s is %s; it must be %s",
			orBody(problem.Field), seen(semantic), accepted(semantic.GoType))
	}
	return problem
}

func syntaxOf(err *jsontext.SyntacticError) string {
	if errors.Is(err, jsontext.ErrDuplicateName) {
		return "a member stands there twice"
	}
	if err.Err == nil {
		return "unexpected text"
	}
	return Clip(strings.ToValidUTF8(err.Err.Error(), "\uFFFD"))
}

// memberPath writes a JSON pointer as the API's field names: weights.text,
// vector[2].
func memberPath(pointer jsontext.Pointer) string {
	var path strings.Builder
	for token := range pointer.Tokens() {
		switch {
		case path.Len() > 0 && strings.Trim(token, "0123456789") == "" && token != "":
			path.WriteString("[" + token + "]")
			continue
		case path.Len() > 0:
			path.WriteByte('.')
		}
		path.WriteString(token)
	}
	return Clip(path.String())
}

func orBody(field string) string {
	if field == "" {
		return "the body"
	}
	return field
}

func seen(err *json.SemanticError) string {
	if len(err.JSONValue) > 0 {
		return Clip(string(err.JSONValue))
	}
	switch err.JSONKind { //nolint:exhaustive // the others have names
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a string"
	case '0':
		return "a number"
	default:
		return err.JSONKind.String()
	}
}

// readsItself is a type of members that may be written in several ways.
type readsItself interface{ Accepts() (accepted string) }

func accepted(t reflect.Type) string {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil {
		return "another type"
	}
	if own, ok := reflect.Zero(t).Interface().(readsItself); ok {
		return own.Accepts()
	}
	switch t.Kind() { //nolint:exhaustive // the kinds that requests have
	case reflect.Struct:
		switch t {
		case reflect.TypeFor[search.Threshold]():
			return `an object, or "auto"`
		case reflect.TypeFor[time.Time]():
			return "a time as 2026-11-28T12:00:00Z"
		}
		return "an object"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64, reflect.Int32:
		return "a whole number"
	case reflect.Float32, reflect.Float64:
		return "a finite number"
	case reflect.String:
		return "a string"
	case reflect.Slice, reflect.Array:
		return "a list"
	default:
		return "an object"
	}
}

// unescape decodes a parameter of the path. Ids may hold any character, a slash as %2F.
func unescape(name, raw string) (string, error) {
	value, err := url.PathUnescape(raw)
	if err != nil || !utf8.ValidString(value) {
		return "", fault.Invalid(name, strings.ToValidUTF8(raw, "\uFFFD"), "percent-encoded UTF-8")
	}
	return value, nil
}

// Clip limits how much of a request is echoed.
func Clip(s string) string {
	const shown = 80
	if len(s) <= shown {
		return s
	}
	return strings.ToValidUTF8(s[:shown], "") + "…"
}

// IsJSON reports whether a body is said to be JSON.
func IsJSON(contentType string) bool { return mediaOf(contentType) == fiber.MIMEApplicationJSON }

// IsForm reports whether a body is said to be a form.
func IsForm(contentType string) bool { return mediaOf(contentType) == fiber.MIMEMultipartForm }

func mediaOf(contentType string) string {
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return ""
	}
	return media
}
