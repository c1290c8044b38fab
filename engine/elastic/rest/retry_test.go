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
	fine, broken := answer{200, `{}`}, answer{}
	f := func(what string, sent int, waited time.Duration, want fault.Kind, change bool, answers ...answer) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			server := &scripted{answers: answers}
			c, err := New(&Options{URLs: []string{"http://a:9200"}, Timeout: 10 * time.Second, Transport: server})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = c.Close() }()
			do := c.Read
			if change {
				do = c.Change
			}
			begun := time.Now()
			err = do(t.Context(), PostJSON("/kb/_search", map[string]any{}), &map[string]any{})
			if server.sent != sent || time.Since(begun) != waited {
				t.Errorf("%s: sent %d times in %v, want %d in %v", what, server.sent, time.Since(begun), sent, waited)
			}
			if want == "" && err != nil || want != "" && !fault.Is(err, want) {
				t.Errorf("%s: %v, want %q", what, err, want)
			}
		})
	}
	const read, change = false, true
	f("fine", 1, 0, "", read, fine)
	f("a broken connection", 2, 0, "", read, broken, fine)
	f("two of them", 2, 0, fault.Unavailable, read, broken)
	f("a failure", 2, retryDelay, "", read, answer{500, failed}, fine)
	f("two of them", 2, retryDelay, fault.Unavailable, read, answer{503, failed})
	f("an answer that breaks off", 2, 0, "", read, answer{200, `{"took": `}, fine)
	f("no shard yet", 4, 7*retryDelay, "", read, answer{503, shardless}, answer{503, shardless}, answer{503, shardless}, fine)
	f("no shard at all", attemptsForShard, 31*retryDelay, fault.Unavailable, read, answer{503, shardless})
	f("a refusal", 1, 0, fault.Unavailable, read, answer{400, failed})
	f("no such index", 1, 0, fault.NotFound, read, answer{404, failed})
	f("too much to do", 1, 0, fault.Overloaded, read, answer{429, failed})
	f("too long", 1, 0, fault.Timeout, read, answer{504, failed})
	f("a change", 1, 0, "", change, fine)
	f("a change whose answer was lost", 1, 0, fault.Unavailable, change, broken, fine)
	f("a change that failed", 1, 0, fault.Unavailable, change, answer{502, failed}, fine)
	f("a change without a shard", 1, 0, fault.Unavailable, change, answer{503, shardless}, fine)
	f("a change of too many", 1, 0, fault.Overloaded, change, answer{429, failed}, fine)
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
