package resultcache

import (
	"testing"
	"time"
)

// TestAnAnswerIsAsOldAsItsComputation: one that came from Redis is no younger for
// having been put into memory just now.
func TestAnAnswerIsAsOldAsItsComputation(t *testing.T) {
	m, err := newMemory(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	f := func(text string, age time.Duration, want bool) {
		t.Helper()
		k := key{1}
		m.put(k, kept{since: time.Now().Add(-age), text: []byte(text)})
		if r, ok := m.get(k, time.Minute); ok != want || ok && (r.Preset != "text" || len(r.Hits) != 1) {
			t.Errorf("%s of %v ago: found %v %+v, want %v", text, age, ok, r, want)
		}
	}
	const answer = `{"preset":"text","hits":[{"id":"c1"}]}`
	f(answer, 0, true)
	f(answer, 59*time.Second, true)
	f(answer, 61*time.Second, false)
	f(answer[:20], 0, false)
	f(`{}`, 0, false)
	if _, ok := m.get(key{2}, time.Minute); ok {
		t.Error("an answer is found that was never kept")
	}
}
