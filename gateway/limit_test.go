package gateway

import (
	"crypto/sha256"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
)

// limited is a server of two keys with few requests each.
func limited() *Server {
	back := &fakes{}
	return New(Options{
		Keys: []Key{
			{Name: "one", Tenant: "t", Hash: sha256.Sum256([]byte("one"))},
			{Name: "two", Tenant: "t", Hash: sha256.Sum256([]byte("two"))},
		},
		Searcher: back, Catalog: back, Ingester: back,
		Limits: Limits{KeyRate: 3}, TrustedProxies: []netip.Prefix{netip.MustParsePrefix("0.0.0.0/8")},
	})
}

func statusOf(t *testing.T, s *Server, key, from string) (int, http.Header) {
	t.Helper()
	request := httptest.NewRequest(http.MethodGet, "/v1/presets", nil)
	request.Header.Set("Authorization", "Bearer "+key)
	request.Header.Set("X-Forwarded-For", "9.9.9.9, "+from) // the first is a claim of the client
	response, err := s.app.Test(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	return response.StatusCode, response.Header
}

// Promise: "are never limited" (docs/guide/en/limits.md).
func TestEachKeyHasItsRequests(t *testing.T) {
	s := limited()
	f := func(key string, want int, remaining string) {
		t.Helper()
		status, header := statusOf(t, s, key, "1.1.1.1")
		if status != want || header.Get("RateLimit-Policy") != `"key";q=3;w=1` ||
			!strings.HasPrefix(header.Get("RateLimit"), `"key";r=`+remaining) ||
			(header.Get("Retry-After") == "1") != (want == http.StatusTooManyRequests) {
			t.Errorf("%s: %d %v, want %d with %s left", key, status, header, want, remaining)
		}
	}
	f("one", http.StatusOK, "2")
	f("one", http.StatusOK, "1")
	f("one", http.StatusOK, "0")
	f("one", http.StatusTooManyRequests, "0")
	f("two", http.StatusOK, "2")
	for range 10 {
		for _, probe := range []string{"/healthz", "/readyz"} {
			request := httptest.NewRequest(http.MethodGet, probe, nil)
			request.Header.Set("Authorization", "Bearer one")
			response, err := s.app.Test(request)
			if err != nil {
				t.Fatal(err)
			}
			if _ = response.Body.Close(); response.StatusCode != http.StatusOK {
				t.Errorf("%s of a key without requests left: %d", probe, response.StatusCode)
			}
		}
	}
}

func TestWrongKeysSlowDownTheirAddress(t *testing.T) {
	s := limited()
	f := func(what, key, from string, want int) {
		t.Helper()
		if status, _ := statusOf(t, s, key, from); status != want {
			t.Errorf("%s: %d, want %d", what, status, want)
		}
	}
	f("a right key", "one", "1.1.1.1", http.StatusOK)
	for range 10 {
		f("a wrong key", "guess", "1.1.1.1", http.StatusUnauthorized)
	}
	f("one too many", "guess", "1.1.1.1", http.StatusTooManyRequests)
	f("a guess that is right", "two", "1.1.1.1", http.StatusTooManyRequests)
	f("a key that was used before", "one", "1.1.1.1", http.StatusOK)
	f("another address", "two", "2.2.2.2", http.StatusOK)
}
