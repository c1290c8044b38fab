package postgres_test

import (
	"context"
	"crypto/rand"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/embedded"
	"github.com/hybridge-search/hybridge/engine/enginetest"
	"github.com/hybridge-search/hybridge/engine/postgres"
	"github.com/hybridge-search/hybridge/internal/devservices"
	"github.com/hybridge-search/hybridge/internal/skips"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// optionsOf gives an engine a schema of its own, which goes when the test ends.
func optionsOf(t testing.TB) postgres.Options {
	t.Helper()
	server := devservices.Postgres(t)
	schema := "test_" + strings.ToLower(rand.Text()[:12])
	t.Cleanup(func() { execute(t, server, "DROP SCHEMA IF EXISTS "+schema+" CASCADE") })
	return postgres.Options{
		Settings: postgres.Settings{Schema: schema, KeywordWait: 10 * time.Second, Timeout: time.Minute}, // other tests keep the machine busy
		URL:      server, Tokenizer: enginetest.Words{},
	}
}

func execute(t testing.TB, server, statement string, args ...any) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	if _, err := conn.Exec(ctx, statement, args...); err != nil {
		t.Error(err)
	}
}

func open(t testing.TB, options postgres.Options) *postgres.Engine {
	t.Helper()
	e, err := postgres.Open(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// TestTheServerSortsAsPeoplesDo: what relies on the order of bytes passes unseen where the server sorts by bytes.
func TestTheServerSortsAsPeoplesDo(t *testing.T) {
	conn, err := pgx.Connect(t.Context(), devservices.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	var byLanguage bool
	if err := conn.QueryRow(t.Context(), "SELECT 'a' < 'B'").Scan(&byLanguage); err != nil {
		t.Fatal(err)
	}
	if !byLanguage {
		skips.Missing(t, "PostgreSQL sorts by bytes; scripts/postgres makes a database of en_US where it has the sources of locales")
	}
}

func TestConformance(t *testing.T) {
	enginetest.Run(t, enginetest.Harness{New: func(t *testing.T) engine.Engine { return open(t, optionsOf(t)) }})
}

// TestVersusEmbedded: random documents and searches have the same answers on
// PostgreSQL and on the engine that does everything itself.
func TestVersusEmbedded(t *testing.T) {
	enginetest.Versus(t,
		enginetest.Harness{New: func(t *testing.T) engine.Engine { return open(t, optionsOf(t)) }},
		enginetest.Harness{New: func(t *testing.T) engine.Engine {
			e, err := embedded.Open(t.Context(), embedded.Options{Path: t.TempDir(), Tokenizer: enginetest.Words{}})
			if err != nil {
				t.Fatal(err)
			}
			return e
		}})
}
