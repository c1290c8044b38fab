package devservices

import (
	"context"
	"fmt"
	"net/url"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Database is an empty one on the shared PostgreSQL that goes with the test.
type Database struct {
	URL string

	t    testing.TB
	name string
	// shared is a session of the server's own database: it watches this one without
	// taking part.
	shared *pgx.Conn
}

// NewDatabase makes a database for programs whose sessions are watched.
func NewDatabase(t testing.TB) *Database {
	t.Helper()
	server := Postgres(t)
	at, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	d := &Database{t: t, name: fmt.Sprintf("test_%d", time.Now().UnixNano()), shared: connect(t, server)}
	t.Cleanup(func() { d.run(context.Background(), "DROP DATABASE IF EXISTS "+d.name+" WITH (FORCE)") })
	d.run(t.Context(), "CREATE DATABASE "+d.name)
	at.Path = "/" + d.name
	d.URL = at.String()
	return d
}

func connect(t testing.TB, at string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// Exec runs statements in the database.
func (d *Database) Exec(statements string) {
	d.t.Helper()
	if _, err := connect(d.t, d.URL).Exec(d.t.Context(), statements); err != nil {
		d.t.Fatal(err)
	}
}

func (d *Database) run(ctx context.Context, statement string) {
	d.t.Helper()
	if _, err := d.shared.Exec(ctx, statement); err != nil {
		d.t.Fatal(err)
	}
}

// Sessions counts those that use the database.
func (d *Database) Sessions() int {
	d.t.Helper()
	return d.count("SELECT count(*) FROM pg_stat_activity WHERE datname = $1", d.name)
}

// Waiting counts the sessions whose statement holds a text and waits for a lock.
func (d *Database) Waiting(text string) int {
	d.t.Helper()
	return d.count(`SELECT count(*) FROM pg_stat_activity
		WHERE datname = $1 AND wait_event_type = 'Lock' AND position($2 IN query) > 0`, d.name, text)
}

func (d *Database) count(query string, args ...any) (n int) {
	d.t.Helper()
	if err := d.shared.QueryRow(d.t.Context(), query, args...).Scan(&n); err != nil {
		d.t.Fatal(err)
	}
	return n
}

// Hold keeps writers of a table waiting until release.
func (d *Database) Hold(table string) (release func()) {
	d.t.Helper()
	return d.lock(table + " IN EXCLUSIVE MODE")
}

// HoldAll keeps readers of a table waiting too.
func (d *Database) HoldAll(table string) (release func()) {
	d.t.Helper()
	return d.lock(table)
}

func (d *Database) lock(what string) (release func()) {
	d.t.Helper()
	conn := connect(d.t, d.URL)
	if _, err := conn.Exec(d.t.Context(), "BEGIN; LOCK TABLE "+what); err != nil {
		d.t.Fatal(err)
	}
	return func() { _ = conn.Close(context.Background()) } // its transaction ends with it
}
