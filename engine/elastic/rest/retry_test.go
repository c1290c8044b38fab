package rest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hybridge-search/hybridge/fault"
)

// scripted answers by status and body, one after the other, the last again and again; 0 breaks the connection.
type scripted struct {
	answers []answer
	sent    int
}

type answer struct {
	status int
	body   string
}

func (s *scripted) RoundTrip(req *http.Request) (*http.Response, error) {
	now := s.answers[min(s.sent, len(s.answers)-1)]
	s.sent++
	if now.status == 0 {
		return nil, errors.New("connection reset by peer")
	}
	header := http.Header{"X-Elastic-Product": {"Elasticsearch"}, "Content-Type": {"application/json"}}
	return &http.Response{StatusCode: now.status, Header: header, Body: io.NopCloser(strings.NewReader(now.body)), Request: req}, nil
}

// TestWhatIsSentAgain: a read once, at once where the connection broke and a moment later where the server failed, or
// for a second and a half while no shard is there; never what the server has refused, and never a change: it may have
// been done although its answer was lost.
func TestWhatIsSentAgain(t *testing.T) {
	const shardless = `{"error": {"type": "search_phase_execution_exception", "reason": "all shards failed"}}`
	const failed = `{"error": {"type": "x", "reason": "y", "root_cause": [{"type": "x", "reason": "y"}]}}`
	const onShards = `{"error": {"type": "search_phase_execution_exception", "root_cause": [{"type": "x", "reason": "y"}]}}`
	fine, broken := answer{200, `{}`}, answer{}
	type row struct {
		what    string
		change  bool
		sent    int
		waited  time.Duration
		want    fault.Kind
		answers []answer
	}
	run := func(r row) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			server := &scripted{answers: r.answers}
			c, err := New(&Options{URLs: []string{"http://a:9200"}, Timeout: 10 * time.Second, Transport: server})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = c.Close() }()
			do := c.Read
			if r.change {
				do = c.Change
			}
			begun := time.Now()
			err = do(t.Context(), PostJSON("/kb/_search", map[string]any{}), &map[string]any{})
			if server.sent != r.sent || time.Since(begun) != r.waited {
				t.Errorf("%s: sent %d times in %v, want %d in %v", r.what, server.sent, time.Since(begun), r.sent, r.waited)
			}
			if r.want == "" && err != nil || r.want != "" && !fault.Is(err, r.want) {
				t.Errorf("%s: %v, want %q", r.what, err, r.want)
			}
		})
	}
	const read, change = false, true
	none, lone := answer{503, shardless}, func(status int) []answer { return []answer{{status, failed}} }
	for _, r := range []row{
		{"fine", read, 1, 0, "", []answer{fine}},
		{"a broken connection", read, 2, 0, "", []answer{broken, fine}},
		{"two of them", read, 2, 0, fault.Unavailable, []answer{broken}},
		{"a failure", read, 2, retryDelay, "", []answer{{500, failed}, fine}},
		{"two failures", read, 2, retryDelay, fault.Unavailable, lone(503)},
		{"an answer that breaks off", read, 2, 0, "", []answer{{200, `{"took": `}, fine}},
		{"no shard yet", read, 4, 7 * retryDelay, "", []answer{none, none, none, fine}},
		{"no shard at all", read, attemptsForShard, 31 * retryDelay, fault.Unavailable, []answer{none}},
		{"shards that fail", read, 2, retryDelay, fault.Unavailable, []answer{{503, onShards}}},
		{"a refusal", read, 1, 0, fault.Unavailable, lone(400)},
		{"no such index", read, 1, 0, fault.NotFound, lone(404)},
		{"too much to do", read, 1, 0, fault.Overloaded, lone(429)},
		{"too long", read, 1, 0, fault.Timeout, lone(504)},
		{"a change", change, 1, 0, "", []answer{fine}},
		{"a change whose answer was lost", change, 1, 0, fault.Unavailable, []answer{broken, fine}},
		{"a change that failed", change, 1, 0, fault.Unavailable, []answer{{502, failed}, fine}},
		{"a change without a shard", change, 1, 0, fault.Unavailable, []answer{none, fine}},
		{"a change of too many", change, 1, 0, fault.Overloaded, []answer{{429, failed}, fine}},
	} {
		run(r)
	}
}

// TestARetryEndsInTime: what is still to be waited for ends with the time of the read, and says why it was not answered
// rather than that the time is up; it ends at once with its caller.
func TestARetryEndsInTime(t *testing.T) {
	const shardless = `{"error": {"type": "no_shard_available_action_exception"}}`
	f := func(timeout, given time.Duration, want fault.Kind, waited time.Duration) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			c, err := New(&Options{
				URLs: []string{"http://a:9200"}, Timeout: timeout, Transport: &scripted{answers: []answer{{503, shardless}}},
			})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = c.Close() }()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			time.AfterFunc(given, cancel)
			begun := time.Now()
			if err := c.Read(ctx, Get("/"), nil); !fault.Is(err, want) || time.Since(begun) != waited {
				t.Errorf("%v of %v: %v after %v, want %s after %v", given, timeout, err, time.Since(begun), want, waited)
			}
			synctest.Wait()
		})
	}
	f(200*time.Millisecond, time.Minute, fault.Unavailable, 200*time.Millisecond)
	f(time.Minute, 200*time.Millisecond, fault.Canceled, 200*time.Millisecond)
}
