package postgres

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/schema"
)

// Examination describes a PostgreSQL server before an engine is opened on it.
type Examination struct {
	Server    string // its version
	Vector    string // the extension's version in the database; empty: not there
	Available string // the version that can be created; empty: not installed
	MayMake   bool   // the user may create schemas in the database
	Schema    bool   // the gateway's schema is there
	ReadOnly  bool   // the server takes no writes
	Clock     time.Time
}

// invalidAuthorization is the class of codes for an unknown user or a wrong password.
const invalidAuthorization = "28"

// Examine inspects a database without changing it. fault.Unsupported if its data are of a
// newer version, or pgvector is too old.
func Examine(ctx context.Context, o Options) (found *Examination, err error) {
	conn, err := connect(ctx, &o)
	if server, ok := errors.AsType[*pgconn.PgError](err); ok && strings.HasPrefix(server.Code, invalidAuthorization) {
		return nil, fault.Wrap(fault.Unauthenticated, err, "connecting to PostgreSQL")
	}
	if err != nil {
		return nil, faultOf(err, "connecting to PostgreSQL")
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	e := &Examination{}
	err = conn.QueryRow(ctx, `SELECT current_setting('server_version'), clock_timestamp(), pg_is_in_recovery(),
		has_database_privilege(current_database(), 'CREATE'),
		EXISTS (SELECT FROM pg_namespace WHERE nspname = $1),
		COALESCE((SELECT extversion FROM pg_extension WHERE extname = 'vector'), ''),
		COALESCE((SELECT default_version FROM pg_available_extensions WHERE name = 'vector'), '')`, o.Schema).
		Scan(&e.Server, &e.Clock, &e.ReadOnly, &e.MayMake, &e.Schema, &e.Vector, &e.Available)
	if err != nil {
		return nil, faultOf(err, "reading the catalogue of PostgreSQL")
	}
	if e.Vector != "" {
		if err := checkVersion(ctx, conn); err != nil {
			return e, err
		}
	}
	return e, checkStored(ctx, conn, &o)
}

// checkStored refuses data of a newer version.
func checkStored(ctx context.Context, conn *pgx.Conn, o *Options) (err error) {
	db := stdlib.OpenDB(*conn.Config())
	defer func() { err = errors.Join(err, db.Close()) }()
	program, err := schema.Latest(migrations)
	if err != nil {
		return fault.Wrap(fault.Internal, err, "reading the migrations")
	}
	stored, err := schema.Of(ctx, db, tables)
	if err != nil {
		return faultOf(err, "reading the version of the schema")
	}
	return stored.Readable("schema "+o.Schema+" of the database", program)
}
