// Package endpoint serves HTTP: it registers endpoints, authorises, limits, decodes, encodes and reports. It knows
// none of the resources that package gateway registers.
//
// A route is registered once with the types of its input and its answer, from which the OpenAPI document is generated.
// Every answer that is not a success is a problem document, made by the table in errors.go.
//
//	endpoint.go, serve.go             API: how endpoints are registered, and served
//	route.go, input.go                routes, and the sources of the fields of their input
//	document.go, openapi*.go          the OpenAPI document
//	auth.go, hosts.go, addresses.go   who may call, and from where
//	limit.go, limits.go, quota.go     how much each key, and each tenant, may ask for
//	decode.go, body.go, form.go       JSON bodies, streamed bodies and forms
//	arraylines.go, spool.go           arrays as lines; results stored until a body has been read
//	write.go, send.go, live.go        answers: JSON, large ones, those written during the work
//	errors.go, dialect.go             problem documents, and the errors of other protocols
//	exchange.go, observe.go, requests.go  a request's log line, traces and metrics
//	gone*.go                          clients that disconnect
//
// The context of every handler has a deadline, and ends with the server, or soon after the client has disconnected.
package endpoint

import (
	"context"
	"log/slog"
	"net/http"
	"reflect"
	"strings"
	"sync/atomic"

	"github.com/gofiber/fiber/v2"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/access/quota"
)

// API registers the endpoints of resources.
type API struct {
	App      *fiber.App
	Document *Document
	Limits   Limits
	Log      *slog.Logger

	keyring  *keyring
	callers  *callers
	quota    *quota.Meter // nil: nothing bounds what tenants store
	sending  sending
	watched  watched
	observer *observer

	changing map[string]bool // by method and path of each route

	Base     context.Context // parent of every request's context
	abort    context.CancelFunc
	Draining atomic.Bool
}

// Handler answers one authorised request.
type Handler func(ctx context.Context, scope access.Scope, c *fiber.Ctx) error

// Register adds a route whose input and output are plain values. The fields of I are tagged
// path:"name" or query:"name", and Body is the JSON body; O is the JSON answer. A nil answer
// is a 204.
//
// It replaces huma.Register, which decodes each body twice, accepts what decodeJSON refuses,
// and makes errors in a function that is global to the process. huma makes the OpenAPI
// document from the same types.
func Register[I, O any](a *API, r Route, handle func(context.Context, access.Scope, *I) (*O, error)) {
	if r.Status == 0 {
		r.Status = http.StatusOK
	}
	in := a.Document.InputOf(reflect.TypeFor[I]())
	in.lenient = r.Dialect != nil
	a.Document.add(&r, in, reflect.TypeFor[O]())
	a.Mount(&r, func(ctx context.Context, scope access.Scope, c *fiber.Ctx) error {
		input := new(I)
		if err := in.Bind(c, input, max(r.BodyBytes, a.Limits.JSONBytes)); err != nil {
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
		return a.sending.send(c, r.Status, output)
	})
}

// RegisterWith is Register for endpoints that need an optional part of the gateway.
func RegisterWith[P, I, O any](
	a *API, part func() (P, error), r Route, handle func(context.Context, P, access.Scope, *I) (*O, error),
) {
	Register(a, r, func(ctx context.Context, scope access.Scope, in *I) (*O, error) {
		of, err := part()
		if err != nil {
			return nil, err
		}
		return handle(ctx, of, scope, in)
	})
}

// Need gives an optional part of the gateway, or the error of its absence.
func Need[P any](part P, missing error) func() (P, error) {
	return func() (P, error) {
		if any(part) == nil {
			return part, missing
		}
		return part, nil
	}
}

// Mount puts an endpoint behind authorisation and a deadline.
func (a *API) Mount(r *Route, serve Handler) {
	a.changing[r.Method+" "+r.Path] = r.changes()
	timeout := r.Timeout
	if timeout == 0 {
		timeout = a.Limits.Request
	}
	handle := func(c *fiber.Ctx) (err error) {
		defer func() { err = r.named(err) }()
		x := ExchangeOf(c)
		x.Route, x.dialect = r.Path, r.Dialect
		scope, err := a.keyring.authorise(c, x, r)
		if err != nil {
			return err
		}
		if r.Access != public {
			release, err := a.callers.admit(c, x.Key)
			if err != nil {
				return err
			}
			defer release()
		}
		ctx, cancel := context.WithTimeout(context.WithValue(x.span.In(a.Base), exchangeKey{}, x), timeout)
		defer cancel()
		defer a.watched.add(x.Body.conn, x.Start, func() { x.left.Store(true); cancel() })()
		return serve(ctx, scope, c)
	}
	path := strings.NewReplacer("{", ":", "}", "").Replace(r.Path)
	if r.Method == http.MethodGet {
		a.App.Get(path, handle) // HEAD too
		return
	}
	a.App.Add(r.Method, path, handle)
}

// MountStream mounts an endpoint whose body, of one of these types, is read as it comes in
// and may have any length. serve must not read it after it has returned.
func MountStream[I any](a *API, r *Route, in *Input, types []string,
	serve func(context.Context, access.Scope, *fiber.Ctx, *I, *RequestBody) error,
) {
	a.Mount(r, func(ctx context.Context, scope access.Scope, c *fiber.Ctx) error {
		value := new(I)
		if err := in.Bind(c, value, 0); err != nil {
			return err
		}
		if err := CheckContentType(c, types); err != nil {
			return err
		}
		body := &ExchangeOf(c).Body
		if a.quota != nil {
			if err := meterBody(ctx, a.quota, c, scope, body); err != nil {
				return err
			}
		}
		stop := body.allowLong(ctx, a.Limits.Idle)
		defer stop()
		return serve(ctx, scope, c, value, body)
	})
}

// Changes reports whether requests for a route change something, and whether there is such a route.
func (a *API) Changes(method, path string) (changes, known bool) {
	changes, known = a.changing[method+" "+path]
	return changes, known
}

// Owe counts further requests of the key whose request ctx is of: those after it wait for them.
func (a *API) Owe(ctx context.Context, n int) {
	if x := ExchangeIn(ctx); x != nil && n > 0 {
		a.callers.owe(x.Key, n)
	}
}
