package migrate

import (
	"encoding/json"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/internal/brief"
)

// TestHowACopyEnds: errors of a task that has ended, after which the migration may start
// another one.
func TestHowACopyEnds(t *testing.T) {
	f := func(answer string, done int, fails bool) {
		t.Helper()
		var ended task
		if err := json.Unmarshal([]byte(answer), &ended); err != nil {
			t.Fatal(err)
		}
		m := &engine.Migration{Task: "node:1"}
		if err := ended.err(m); (err != nil) != fails || (m.Task == "") != fails {
			t.Errorf("%s: %v, and the task is %q", brief.Of(answer), err, m.Task)
		}
		if got := ended.done(); got != done {
			t.Errorf("%s: %d documents are done, want %d", brief.Of(answer), got, done)
		}
	}
	f(`{"completed":true,"response":{"created":3,"updated":2,"version_conflicts":1}}`, 6, false)
	f(`{"completed":true,"response":{"canceled":"by user request"}}`, 0, true)
	f(`{"completed":true,"error":{"type":"x","reason":"y"}}`, 0, true)
	f(`{"completed":true,"response":{"created":1,"failures":[{"status":400,"cause":{"type":"x"}}]}}`, 1, true)
	f(`{"completed":true,"response":{"failures":[{"status":500,"reason":{"type":"x"}}]}}`, 0, true)
	f(`{"completed":false,"task":{"status":{"created":4}}}`, 4, false)
}
