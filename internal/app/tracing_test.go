package app

import (
	"testing"

	"github.com/hybridge-search/hybridge/config"
)

func TestTracesAreOffByDefault(t *testing.T) {
	t.Parallel()
	provider, err := newTracing(t.Context(), &config.Default().Tracing, "", nil)
	if provider != nil || err != nil {
		t.Errorf("%v, %v; want no provider and no error", provider, err)
	}
	f := func(base, want string) {
		t.Helper()
		if got := tracesURL(base); got != want {
			t.Errorf("%s: %s, want %s", base, got, want)
		}
	}
	f("http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/traces")
	f("https://collector.example/", "https://collector.example/v1/traces")
	f("https://collector.example/otlp/v1/traces", "https://collector.example/otlp/v1/traces")
}
