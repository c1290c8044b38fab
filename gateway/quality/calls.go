package quality

import (
	"context"

	"github.com/hybridge-search/hybridge/access"
)

// answering serves an endpoint with a part of the gateway.
type answering[P, I, O any] = func(ctx context.Context, part P, scope access.Scope, in *I) (*O, error)

// identified is an input that names a stored thing.
type identified interface{ id() string }

// body is an input with nothing but a body.
type body[B any] struct{ Body B }

// byID passes the id of the input to a call.
func byID[I identified, P, O any](call func(P, context.Context, access.Scope, string) (*O, error)) answering[P, I, O] {
	return func(ctx context.Context, part P, scope access.Scope, in *I) (*O, error) {
		return call(part, ctx, scope, (*in).id())
	}
}

// deleting is byID for calls without an answer.
func deleting[I identified, P any](
	call func(P, context.Context, access.Scope, string) error,
) answering[P, I, struct{}] {
	return func(ctx context.Context, part P, scope access.Scope, in *I) (*struct{}, error) {
		return nil, call(part, ctx, scope, (*in).id())
	}
}

// withBody passes the body of the input to a call.
func withBody[P, B, O any](call func(P, context.Context, access.Scope, B) (*O, error)) answering[P, body[B], O] {
	return func(ctx context.Context, part P, scope access.Scope, in *body[B]) (*O, error) {
		return call(part, ctx, scope, in.Body)
	}
}

// listing answers with all things of a kind that the caller sees.
func listing[P, E, O any](
	call func(P, context.Context, access.Scope) ([]E, error), answer func([]E) *O,
) answering[P, struct{}, O] {
	return func(ctx context.Context, part P, scope access.Scope, _ *struct{}) (*O, error) {
		all, err := call(part, ctx, scope)
		return answer(all), err
	}
}
