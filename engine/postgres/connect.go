package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	pgxvec "github.com/pgvector/pgvector-go/pgx"
	"github.com/pressly/goose/v3"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/quietconn"
	"github.com/hybridge-search/hybridge/lib/schema"
)

//go:embed migrations/*.sql
var migrations embed.FS

// migrationLock is the advisory lock held while the schema is brought up to date.
const migrationLock = 0x6879627269646765 // "hybridge"

var validSchema = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,62}$`)

// connectTimeout bounds one attempt to connect if the URL does not.
const connectTimeout = 5 * time.Second

func parse(o *Options) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(o.URL)
	if err != nil {
		// The parser's own message may contain the password.
		return nil, &fault.Error{
			Kind: fault.InvalidArgument, Field: "postgres.url",
			Detail: "postgres.url is not understood; it must be like postgres://user:password@host:5432/database",
		}
	}
	if !validSchema.MatchString(o.Schema) {
		return nil, fault.Invalid("postgres.schema", o.Schema, "a name of a-z, 0-9 and _")
	}
	conn := config.ConnConfig
	if conn.ConnectTimeout == 0 || conn.ConnectTimeout > time.Minute {
		conn.ConnectTimeout = connectTimeout
	}
	dial := conn.DialFunc
	conn.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return quietconn.Wrap(c), nil
	}
	conn.RuntimeParams["application_name"] = "hybridge"
	conn.RuntimeParams["search_path"] = o.Schema + ", public"
	// A generic plan cannot know how many rows this filter leaves.
	conn.RuntimeParams["plan_cache_mode"] = "force_custom_plan"
	return config, nil
}

// newPool creates the connection pool; it connects at the first use.
func newPool(ctx context.Context, o *Options) (*pgxpool.Pool, error) {
	config, err := parse(o)
	if err != nil {
		return nil, err
	}
	config.MaxConns = int32(o.PoolSize) //nolint:gosec // checked by the configuration
	config.PingTimeout = connectTimeout
	config.AfterConnect = pgxvec.RegisterTypes
	config.ConnConfig.Tracer = tracer{}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	return pool, faultOf(err, "opening PostgreSQL")
}

// connect opens a connection outside the pool, for long-running work.
func connect(ctx context.Context, o *Options) (*pgx.Conn, error) {
	config, err := parse(o)
	if err != nil {
		return nil, err
	}
	return pgx.ConnectConfig(ctx, config.ConnConfig)
}

// prepare creates and migrates the schema, one gateway at a time.
func prepare(ctx context.Context, o *Options) error {
	conn, err := connect(ctx, o)
	if err != nil {
		return faultOf(err, "connecting to PostgreSQL")
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // releases the lock
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock($1)", int64(migrationLock)); err != nil {
		return faultOf(err, "waiting for another gateway to prepare PostgreSQL")
	}
	if err := makeSchema(ctx, conn, o.Schema); err != nil {
		return err
	}
	return faultOf(migrate(ctx, o), "bringing the PostgreSQL schema %q up to date", o.Schema)
}

// makeSchema creates the schema and the extension unless they exist, as the role may lack the rights.
func makeSchema(ctx context.Context, conn *pgx.Conn, schema string) error {
	var schemaThere, vectorThere bool
	err := conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1),
		EXISTS (SELECT FROM pg_extension WHERE extname = 'vector')`, schema).Scan(&schemaThere, &vectorThere)
	if err != nil {
		return faultOf(err, "reading the catalogue of PostgreSQL")
	}
	if !schemaThere {
		if _, err := conn.Exec(ctx, "CREATE SCHEMA "+pgx.Identifier{schema}.Sanitize()); err != nil {
			return faultOf(err, "making the PostgreSQL schema %q; make it, or let the user create it", schema)
		}
	}
	if !vectorThere {
		if _, err := conn.Exec(ctx, "CREATE EXTENSION vector SCHEMA public"); err != nil {
			return faultOf(err, "making the PostgreSQL extension vector; install pgvector and, as a superuser, "+
				"run CREATE EXTENSION vector")
		}
	}
	return checkVersion(ctx, conn)
}

// oldestVector is the first pgvector with iterative scans.
var oldestVector = []int{0, 8, 0}

func checkVersion(ctx context.Context, conn *pgx.Conn) error {
	var version string
	err := conn.QueryRow(ctx, "SELECT extversion FROM pg_extension WHERE extname = 'vector'").Scan(&version)
	if err != nil {
		return faultOf(err, "reading the version of pgvector")
	}
	var have []int
	for _, part := range regexp.MustCompile(`\d+`).FindAllString(version, -1) {
		n, _ := strconv.Atoi(part) // digits alone
		have = append(have, n)
	}
	if slices.Compare(have, oldestVector) < 0 {
		return fault.New(fault.Unsupported, "pgvector is %s; it must be 0.8.0 or newer", version)
	}
	return nil
}

func migrate(ctx context.Context, o *Options) error {
	config, err := parse(o)
	if err != nil {
		return err
	}
	db := stdlib.OpenDB(*config.ConnConfig)
	defer db.Close() //nolint:errcheck // what it did is committed
	program, err := schema.Latest(migrations)
	if err != nil {
		return err
	}
	stored, err := schema.Of(ctx, db, tables)
	if err != nil {
		return fmt.Errorf("reading the version of the schema: %w", err)
	}
	if err := stored.Readable(fmt.Sprintf("schema %s of the database", o.Schema), program); err != nil {
		return err
	}
	if stored.Schema >= program {
		return nil
	}
	steps, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(goose.DialectPostgres, db, steps)
	if err != nil {
		return err
	}
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("migrating: %w", err)
	}
	return nil
}

// tables tells whether the gateway's schema has the two that schema.Of reads.
const tables = "SELECT to_regclass('store') IS NOT NULL, to_regclass('goose_db_version') IS NOT NULL"

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
