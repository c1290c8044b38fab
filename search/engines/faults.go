package engines

import (
	"context"
	"time"

	"github.com/hybridge-search/hybridge/fault"
)

// ContextFault is the error of a search whose context has ended.
func ContextFault(ctx context.Context) error {
	if ctx.Err() == context.DeadlineExceeded {
		return fault.Wrap(fault.Timeout, ctx.Err(), "the search took longer than its time limit")
	}
	return fault.Wrap(fault.Canceled, ctx.Err(), "the search was given up by its caller")
}

// IsUnavailable reports whether an error may be gone at the next attempt.
func IsUnavailable(err error) bool {
	if err == nil {
		return false
	}
	kind := fault.KindOf(err)
	return kind == fault.Unavailable || kind == fault.Timeout || kind == fault.Overloaded
}

// HalfTheTime gives a step that the search can do without half of the time that is left, so
// that an answer without it is still in time.
func HalfTheTime(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, limited := ctx.Deadline()
	if !limited {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, time.Until(deadline)/2)
}
