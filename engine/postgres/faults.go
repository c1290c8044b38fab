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

// SQLSTATE codes that mean something to us.
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

// faultOf gives an error its kind and says what was being done; nil for nil.
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

// lasting is the cause of what waiting does not mend, see fault.IsLasting.
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
		return fault.NotFound // a knowledge base's table, dropped a moment ago
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

// refusedCode: a wrong password, no rights, no such database. Waiting mends none of
// them.
func refusedCode(code string) bool {
	return strings.HasPrefix(code, "28") || code == privilege || code == undefinedDatabase
}

// stateClasses begin further codes of stateCode; 55P03, a lock that is not to be had, passes.
var stateClasses = []string{"23", "55000", "P0", "3F"}

// stateCode: what somebody changed of the schema behind the gateway: a column, a type or a function that is gone, a
// constraint or a trigger that refuses rows, an object that is in no state to be used.
func stateCode(code string) bool {
	return code == undefinedColumn || code == undefinedFunction || code == undefinedObject || code == privilege ||
		slices.ContainsFunc(stateClasses, func(class string) bool { return strings.HasPrefix(code, class) })
}

// passes reports whether a server that cannot be used at the start may be a little later: it is away, is starting,
// hangs or has as many connections as it takes.
func passes(err error) bool {
	kind := fault.KindOf(err)
	return !isRefused(err) && (kind == fault.Unavailable || kind == fault.Overloaded || kind == fault.Timeout)
}

// isRefused reports whether the server is there and refuses us.
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

// wrapUnlessReplaced is faultOf, but for errors that withBase deals with.
func wrapUnlessReplaced(err error, format string, args ...any) error {
	if errors.Is(err, errReplaced) {
		return err
	}
	return faultOf(err, format, args...)
}

// reading repeats what only reads when its connection turns out to be lost: after
// a restart of the server every connection of the pool is, and the next one is new. All
// reads of one search (engine.OneSearch) have Options.Timeout together, and KeywordWait.
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

// isStale reports whether a connection was lost, so that the next one may do. An end of
// the time to wait is a net.Error too, and is none.
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
