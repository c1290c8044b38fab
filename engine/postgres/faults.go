package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/reason"
)

// SQLSTATE codes that are handled.
// https://www.postgresql.org/docs/current/errcodes-appendix.html
const (
	undefinedTable     = "42P01"
	queryCanceled      = "57014"
	tooManyConnections = "53300"
	diskFull           = "53100"
	undefinedDatabase  = "3D000"
	privilege          = "42501"
	undefinedColumn    = "42703"
	undefinedFunction  = "42883"
	undefinedObject    = "42704"
	dataCorrupted      = "XX001"
	indexCorrupted     = "XX002"
)

// faultOf wraps an error in a fault of its kind with the failed operation; nil for nil.
func faultOf(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	var known *fault.Error
	if errors.As(err, &known) {
		return err
	}
	kind := kindOf(err)
	if kind == fault.DiskFull {
		return fault.Wrap(kind, fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), err),
			"PostgreSQL's disk is full: nothing was changed; make room and try again")
	}
	var server *pgconn.PgError
	if !errors.As(err, &server) {
		return fault.Wrap(kind, err, format, args...)
	}
	if stateCode(server.Code) {
		err = lasting{err}
	}
	return fault.Wrap(kind, err, "%s: PostgreSQL says %s (%s)", fmt.Sprintf(format, args...),
		reason.Shown(server.Message), server.Code)
}

// lasting marks a permanent error, see fault.IsLasting.
type lasting struct{ error }

func (l lasting) Unwrap() error { return l.error }

func (lasting) Lasting() bool { return true }

func kindOf(err error) fault.Kind {
	var server *pgconn.PgError
	switch {
	case errors.Is(err, context.Canceled):
		return fault.Canceled
	case errors.Is(err, context.DeadlineExceeded):
		return fault.Timeout
	case errors.As(err, &server):
		return kindOfCode(server.Code)
	case isLost(err):
		return fault.Unavailable
	default:
		return fault.Internal
	}
}

func kindOfCode(code string) fault.Kind {
	switch {
	case code == undefinedTable:
		return fault.NotFound // a knowledge base's table that was just dropped
	case code == queryCanceled:
		return fault.Timeout
	case code == diskFull:
		return fault.DiskFull
	case code == tooManyConnections:
		return fault.Overloaded
	case code == dataCorrupted, code == indexCorrupted:
		return fault.Corrupt
	case refusedCode(code), unavailableCode(code), stateCode(code):
		return fault.Unavailable
	default:
		return fault.Internal
	}
}

// refusedCode: a wrong password, missing rights or database, all permanent.
func refusedCode(code string) bool {
	return strings.HasPrefix(code, "28") || code == privilege || code == undefinedDatabase
}

// stateClasses lists further classes of stateCode; 55P03, a lock not available, is temporary.
var stateClasses = []string{"23", "55000", "P0", "3F"}

// stateCode: a schema changed by others: a missing column, type or function, a constraint or trigger that refuses
// rows, an unusable object.
func stateCode(code string) bool {
	return code == undefinedColumn || code == undefinedFunction || code == undefinedObject || code == privilege ||
		slices.ContainsFunc(stateClasses, func(class string) bool { return strings.HasPrefix(code, class) })
}

// isTemporary reports whether a server that is unusable at the start may recover: it is unreachable, starting,
// hanging or out of connections.
func isTemporary(err error) bool {
	kind := fault.KindOf(err)
	return !isRefused(err) && (kind == fault.Unavailable || kind == fault.Overloaded || kind == fault.Timeout)
}

// isRefused reports whether the server responded with a refusal.
func isRefused(err error) bool {
	var server *pgconn.PgError
	return errors.As(err, &server) && refusedCode(server.Code)
}

// unavailableCode: lost connections, a server that stops or starts, no disk or
// memory, and transactions that must be repeated.
func unavailableCode(code string) bool {
	for _, class := range []string{"08", "53", "57", "58", "40", "25"} {
		if strings.HasPrefix(code, class) {
			return true
		}
	}
	return false
}

// isLost reports whether the connection is gone, or was never made.
func isLost(err error) bool {
	var connecting *pgconn.ConnectError
	var network net.Error
	return errors.As(err, &connecting) || errors.As(err, &network) || errors.Is(err, io.EOF) ||
		errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) || pgconn.SafeToRetry(err) ||
		strings.Contains(err.Error(), "conn closed")
}

func isCode(err error, code string) bool {
	var server *pgconn.PgError
	return errors.As(err, &server) && server.Code == code
}

// wrapUnlessReplaced is faultOf, except for errors that withBase handles.
func wrapUnlessReplaced(err error, format string, args ...any) error {
	if errors.Is(err, errReplaced) {
		return err
	}
	return faultOf(err, format, args...)
}

// reading retries reads on a lost connection: after a restart of the server every
// connection of the pool is lost, and the next one is new. All reads of one search
// (engine.OneSearch) share Options.Timeout and KeywordWait.
func (e *Engine) reading(ctx context.Context, do func(ctx context.Context) error) error {
	began, done := engine.Asking(ctx, e)
	defer done()
	ctx, cancel := context.WithDeadline(ctx, began.Add(e.options.Timeout+e.options.KeywordWait))
	defer cancel()
	err := do(ctx)
	for range e.options.PoolSize {
		if err == nil || ctx.Err() != nil || !isStale(err) {
			return err
		}
		err = do(ctx)
	}
	return err
}

// isStale reports whether a connection was lost, so that a retry may succeed. A timeout is
// a net.Error too, but excluded.
func isStale(err error) bool {
	return (isLost(err) || isShutdown(err)) && !isConnecting(err) && !errors.Is(err, context.DeadlineExceeded)
}

// isShutdown reports whether the server ended the connection.
func isShutdown(err error) bool {
	var server *pgconn.PgError
	return errors.As(err, &server) && strings.HasPrefix(server.Code, "57P")
}

// isConnecting reports whether there was no connection to lose.
func isConnecting(err error) bool {
	var connecting *pgconn.ConnectError
	return errors.As(err, &connecting)
}
