package gateway

import (
	"context"
	"crypto/sha256"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/gateway/endpoint"
)

// clock is moved by tests alone.
type clock struct{ at time.Time }

func newClock() *clock { return &clock{time.Date(2026, 11, 29, 23, 0, 0, 0, time.UTC)} }

func (c *clock) now() time.Time { return c.at }

func (c *clock) move(d time.Duration) { c.at = c.at.Add(d) }

// limited is a server of two keys with few requests each.
func limited(l endpoint.Limits, c *clock, back *fakes) *Server {
	return New(Options{Options: endpoint.Options{Keys: []endpoint.Key{
		{Name: "one", Tenant: "t", Hash: sha256.Sum256([]byte("one"))},
		{Name: "two", Tenant: "t", Hash: sha256.Sum256([]byte("two"))},
	}, Limits: l, Now: c.now, TrustedProxies: []netip.Prefix{netip.MustParsePrefix("0.0.0.0/8")}}, Searcher: back, Catalog: back, Ingester: back})
}

func statusOf(t *testing.T, s *Server, key, from string) (int, http.Header) {
	t.Helper()
	return statusFrom(t, s, key, "9.9.9.9, "+from) // the first is a claim of the client
}

func statusFrom(t *testing.T, s *Server, key, forwarded string) (int, http.Header) {
	t.Helper()
	request := httptest.NewRequest(http.MethodGet, "/v1/presets", nil)
	request.Header.Set("Authorization", "Bearer "+key)
	request.Header.Set("X-Forwarded-For", forwarded)
	response, err := s.App.Test(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	return response.StatusCode, response.Header
}

// Promise: "are never limited" (docs/guide/en/limits.md).
func TestEachKeyHasItsRequests(t *testing.T) {
	c := newClock()
	s := limited(endpoint.Limits{KeyRate: 3}, c, &fakes{})
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
	c.move(333 * time.Millisecond)
	f("one", http.StatusTooManyRequests, "0")
	c.move(time.Millisecond)
	f("one", http.StatusOK, "0")
	f("one", http.StatusTooManyRequests, "0")
	c.move(time.Hour) // no more are saved than those of a second
	f("one", http.StatusOK, "2")
	for range 10 {
		for _, probe := range []string{"/healthz", "/readyz"} {
			request := httptest.NewRequest(http.MethodGet, probe, nil)
			request.Header.Set("Authorization", "Bearer one")
			response, err := s.App.Test(request)
			if err != nil {
				t.Fatal(err)
			}
			if _ = response.Body.Close(); response.StatusCode != http.StatusOK {
				t.Errorf("%s of a key without requests left: %d", probe, response.StatusCode)
			}
		}
	}
}

// TestAllHaveTheirRequests: what is over the rate of all is refused to each key, and says when there is more.
func TestAllHaveTheirRequests(t *testing.T) {
	c := newClock()
	s := limited(endpoint.Limits{Rate: 1}, c, &fakes{})
	f := func(key string, want int, policy, wait string) {
		t.Helper()
		status, header := statusOf(t, s, key, "1.1.1.1")
		if status != want || header.Get("RateLimit-Policy") != policy || header.Get("Retry-After") != wait {
			t.Errorf("%s: %d %v, want %d, %s, Retry-After %q", key, status, header, want, policy, wait)
		}
	}
	const ofKey, ofAll = `"key";q=10000;w=1`, `"gateway";q=1;w=1`
	f("one", http.StatusOK, ofKey, "")
	f("two", http.StatusTooManyRequests, ofAll, "1")
	c.move(time.Second)
	f("two", http.StatusOK, ofKey, "")
}

// TestABatchCountsEachSearch: those after the first are owed, by the key and by all, but no more than a second has.
func TestABatchCountsEachSearch(t *testing.T) {
	f := func(what string, l endpoint.Limits, key string, wait int) {
		t.Helper()
		c := newClock()
		s := limited(l, c, &fakes{})
		request := httptest.NewRequest(http.MethodPost, "/v1/search/batch", strings.NewReader(batchOf("a", "b", "c")))
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Authorization", "Bearer one")
		response, err := s.App.Test(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusOK {
			t.Fatalf("%s: the batch is answered %d; want response.StatusCode StatusOK", what, response.StatusCode)
		}
		status, header := statusOf(t, s, key, "1.1.1.1")
		if wait == 0 && status == http.StatusOK {
			return
		}
		if status != http.StatusTooManyRequests || header.Get("Retry-After") != strconv.Itoa(wait) {
			t.Errorf("%s: %d, Retry-After %q, want to wait %d s", what, status, header.Get("Retry-After"), wait)
		}
		c.move(time.Duration(wait) * time.Second)
		if status, _ := statusOf(t, s, key, "1.1.1.1"); status != http.StatusOK {
			t.Errorf("%s: %d after the wait; want status StatusOK", what, status)
		}
	}
	f("as many as a second has", endpoint.Limits{KeyRate: 3}, "one", 1)
	f("one fewer", endpoint.Limits{KeyRate: 4}, "one", 0)
	f("more than a second has", endpoint.Limits{KeyRate: 1}, "one", 2)
	f("another key", endpoint.Limits{KeyRate: 3}, "two", 0)
	f("of all", endpoint.Limits{Rate: 3}, "two", 1)
	f("more than a second has of all", endpoint.Limits{Rate: 1}, "two", 2)
}

// TestARefusedRequestHasNoPlace: however many requests are refused, as many as may run at a time are still answered.
func TestARefusedRequestHasNoPlace(t *testing.T) {
	f := func(what string, l endpoint.Limits, key string) {
		t.Helper()
		entered, release := make(chan struct{}, 4), make(chan struct{})
		defer close(release)
		s := limited(l, newClock(), &fakes{answer: func(context.Context) error {
			entered <- struct{}{}
			<-release
			return nil
		}})
		ask := func() int {
			request := httptest.NewRequest(http.MethodPost, "/v1/search", strings.NewReader(question))
			request.Header.Set("Content-Type", "application/json")
			request.Header.Set("Authorization", "Bearer one")
			response, err := s.App.Test(request, -1)
			if err != nil {
				t.Error(err)
				return 0
			}
			_ = response.Body.Close()
			return response.StatusCode
		}
		for range 2 { // a place is given back
			answered := make(chan int, 2)
			for range 2 {
				go func() { answered <- ask() }()
				select {
				case <-entered:
				case status := <-answered:
					t.Fatalf("%s: one of two at a time: %d", what, status)
				}
			}
			for range 3 {
				if status, header := statusOf(t, s, key, "1.1.1.1"); status != http.StatusTooManyRequests || header.Get("Retry-After") != "1" {
					t.Errorf(`%s: a third at a time: %d, Retry-After %q; want status StatusTooManyRequests and header.Get("Retry-After") "1"`, what, status, header.Get("Retry-After"))
				}
			}
			release <- struct{}{}
			if first := <-answered; first != http.StatusOK {
				t.Errorf("%s: %d; want first StatusOK", what, first)
			}
			if status, _ := statusOf(t, s, key, "1.1.1.1"); status != http.StatusOK {
				t.Errorf("%s: after an answer: %d; want status StatusOK", what, status)
			}
			release <- struct{}{}
			<-answered
		}
	}
	f("of the key", endpoint.Limits{KeyConcurrent: 2}, "one")
	f("of all", endpoint.Limits{Concurrent: 2}, "two")
}

func TestWrongKeysSlowDownTheirAddress(t *testing.T) {
	c := newClock()
	s := limited(endpoint.Limits{}, c, &fakes{})
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
	c.move(time.Second - time.Millisecond)
	f("too early", "two", "1.1.1.1", http.StatusTooManyRequests)
	c.move(time.Millisecond)
	f("one more each second", "guess", "1.1.1.1", http.StatusUnauthorized)
	f("and no second one", "two", "1.1.1.1", http.StatusTooManyRequests)
	c.move(time.Second)
	f("a right key costs no try", "two", "1.1.1.1", http.StatusOK)
}

// TestAddressesOfProxies: a wrong key counts for the last address that no trusted proxy has, whatever stands before it.
func TestAddressesOfProxies(t *testing.T) {
	const claims, proxy = "0.0.0.0/8", "10.1.0.0/16"
	f := func(trusted []string, forwarded [2]string, same bool) {
		t.Helper()
		o := Options{Options: endpoint.Options{
			Keys:   []endpoint.Key{key("one", "t")},
			Limits: endpoint.Limits{WrongKeys: 1},
			Now:    newClock().now,
		}}
		for _, network := range trusted {
			o.TrustedProxies = append(o.TrustedProxies, netip.MustParsePrefix(network))
		}
		back := &fakes{}
		o.Searcher, o.Catalog, o.Ingester = back, back, back
		s := New(o)
		first, _ := statusFrom(t, s, "guess", forwarded[0])
		second, _ := statusFrom(t, s, "guess", forwarded[1])
		want := http.StatusUnauthorized
		if same {
			want = http.StatusTooManyRequests
		}
		if first != http.StatusUnauthorized || second != want {
			t.Errorf("trusting %v, from %q and %q: %d and %d, the same address: %v", trusted, forwarded[0], forwarded[1], first, second, same)
		}
	}
	f(nil, [2]string{"1.1.1.1", "2.2.2.2"}, true) // nobody may claim an address
	f([]string{claims}, [2]string{"1.1.1.1", "2.2.2.2"}, false)
	f([]string{claims}, [2]string{"9.9.9.9, 1.1.1.1", "8.8.8.8, 1.1.1.1"}, true)
	f([]string{claims, proxy}, [2]string{"1.1.1.1, 10.1.2.3", "2.2.2.2, 10.1.2.3"}, false)
	f([]string{claims, proxy}, [2]string{"1.1.1.1, 10.2.0.1", "2.2.2.2, 10.2.0.1"}, true)
	f([]string{claims}, [2]string{"1.1.1.1, garbage", "2.2.2.2, garbage"}, true) // what stands before it cannot be trusted
	f([]string{claims}, [2]string{"::ffff:1.1.1.1", "1.1.1.1"}, true)
}
