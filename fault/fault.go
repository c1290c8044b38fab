// Package fault is the one error type of the gateway: a kind that decides the
// HTTP status, the field at fault, and a sentence that says what was seen and
// what is accepted. A callee says what it was doing; an error is returned or
// logged, never both.
package fault

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"
)

// Kind says what went wrong in the caller's terms. Package gateway has the one
// table from Kind to HTTP status.
type Kind string

// The kinds of error. Their text is the stable `code` of a problem document.
const (
	InvalidArgument Kind = "invalid_argument"  // the request is at fault
	Unauthenticated Kind = "unauthenticated"   // no key, or an unknown one
	Forbidden       Kind = "forbidden"         // the key may not do this
	NotFound        Kind = "not_found"         // the named thing does not exist (for this tenant)
	Conflict        Kind = "conflict"          // it exists already, or in another shape
	TooLarge        Kind = "too_large"         // over a size limit
	Unsupported     Kind = "unsupported"       // this engine cannot do that
	ReadOnly        Kind = "read_only"         // an attached index is never written to
	Overloaded      Kind = "overloaded"        // a back end answered "too many requests"
	TooMany         Kind = "too_many_requests" // the caller asked for more than it may
	Unavailable     Kind = "unavailable"       // a back end is away
	Timeout         Kind = "timeout"           // a back end, or the request, took too long
	Canceled        Kind = "canceled"          // the caller went away
	DiskFull        Kind = "disk_full"         // a write found no room
	Corrupt         Kind = "corrupt"           // stored data failed its checksum
	Internal        Kind = "internal"          // a fault of ours
)

// Error is an error with a kind. Detail is shown to the caller and never holds
// a secret; Err is for the log only.
type Error struct {
	Kind   Kind
	Field  string // the request's member or the setting at fault, may be empty
	Detail string
	Err    error
}

// Error implements error.
func (e *Error) Error() string {
	if e.Err != nil {
		return e.Detail + ": " + e.Err.Error()
	}
	return e.Detail
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// New makes an error of a kind.
func New(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Detail: fmt.Sprintf(format, args...)}
}

// Wrap adds a kind and what was being done to a cause.
func Wrap(kind Kind, err error, format string, args ...any) *Error {
	return &Error{Kind: kind, Detail: fmt.Sprintf(format, args...), Err: err}
}

// Invalid says that a field's value is not accepted:
//
//	weights.text is -1; it must be a finite number >= 0
func Invalid(field string, value any, accepted string) *Error {
	return &Error{
		Kind:   InvalidArgument,
		Field:  field,
		Detail: fmt.Sprintf("%s is %s; it must be %s", field, Show(value), accepted),
	}
}

// Length is how many items a list has, as the value of a field that is one:
//
//	documents is a list of 0; it must be a list of 1 to 1000 texts
type Length int

// String implements fmt.Stringer.
func (n Length) String() (detail string) { return fmt.Sprintf("a list of %d", int(n)) }

// Within puts the place of the field in front of it, as columns[1]. of weights.text.
func (e *Error) Within(place string) *Error {
	return &Error{Kind: e.Kind, Field: place + e.Field, Detail: place + e.Detail, Err: e.Err}
}

// Within says which part of a request an error is of, as systems[1].request. of its preset. Errors without a kind, and
// nil, stay as they are.
func Within(place string, err error) error {
	var e *Error
	switch {
	case !errors.As(err, &e):
		return err
	case e.Field != "" && strings.HasPrefix(e.Detail, e.Field):
		return e.Within(place)
	default:
		return &Error{Kind: e.Kind, Field: place + e.Field, Detail: e.Detail, Err: e.Err}
	}
}

// Called names the field as a caller does who has another name for it: limit for top_k.
func (e *Error) Called(field string) *Error {
	detail := e.Detail
	if rest, first := strings.CutPrefix(detail, e.Field); first && e.Field != "" {
		detail = field + rest
	}
	return &Error{Kind: e.Kind, Field: field, Detail: detail, Err: e.Err}
}

// KindOf finds the kind of an error; an error without one is Internal.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return Internal
}

// Is reports whether the error, or one it wraps, is of this kind.
func Is(err error, kind Kind) bool { return err != nil && KindOf(err) == kind }

// maxShown bounds how much of a bad value is echoed, in bytes.
const maxShown = 80

// Show writes a value as the caller sent it: a string in quotation marks, an object or a list as JSON, and at most the
// beginning of a long one.
func Show(value any) string {
	s := ""
	switch v := value.(type) {
	case string:
		if len(v) > maxShown {
			return fmt.Sprintf("%q… (%d bytes)", cut(v), len(v))
		}
		return fmt.Sprintf("%q", v)
	case fmt.Stringer, error:
		s = fmt.Sprint(v)
	default:
		s = showJSON(v)
	}
	if len(s) > maxShown {
		s = cut(s) + "…"
	}
	return s
}

// showJSON writes objects, lists and null as JSON, and anything else as fmt does.
func showJSON(value any) string {
	switch of := reflect.ValueOf(value); of.Kind() { //nolint:exhaustive // the rest are numbers, booleans and strings
	case reflect.Slice:
		if of.IsNil() {
			return "[]"
		}
	case reflect.Invalid, reflect.Struct, reflect.Map, reflect.Array, reflect.Pointer:
	default:
		return fmt.Sprint(value)
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(value) != nil { // NaN, for one
		return fmt.Sprint(value)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// cut gives the first maxShown bytes of a text, without a part of a character.
func cut(text string) string {
	at := maxShown
	for at > 0 && !utf8.RuneStart(text[at]) {
		at--
	}
	return text[:at]
}
