package engines

import (
	"context"
	"slices"
	"time"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/search/answer"
	"github.com/hybridge-search/hybridge/search/plan"
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

// Renewer is a Catalog that can look again at once. Another gateway may have moved a
// knowledge base to other storage, and dropped the storage known here.
type Renewer interface {
	// Renew reads anew where known knowledge bases live, and reports whether one of them
	// has moved. Those that are not known cost nothing.
	Renew(ctx context.Context, scope access.Scope, ids []string) (moved bool, err error)
}

// Settled runs a search, and once more after renewing the catalog if the storage
// of a knowledge base was missing.
func Settled[T any](
	ctx context.Context, catalog Catalog, scope access.Scope, req *plan.Request,
	run func() (given *T, degraded []answer.Degraded, err error),
) (*T, error) {
	given, degraded, err := run()
	if kind := fault.KindOf(err); ctx.Err() != nil && (kind == fault.Timeout || kind == fault.Canceled) {
		return nil, ContextFault(ctx) // whichever step noticed it first
	}
	missing := fault.Is(err, fault.NotFound) ||
		slices.ContainsFunc(degraded, func(d answer.Degraded) bool { return d.Code == fault.NotFound })
	renewer, can := catalog.(Renewer)
	if !missing || !can {
		return given, err
	}
	if moved, failed := renewer.Renew(ctx, scope, req.KnowledgeBases); failed != nil || !moved {
		return given, err // which says more than why the catalog cannot be read
	}
	given, _, err = run()
	return given, err
}
