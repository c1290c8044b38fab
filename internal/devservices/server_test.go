package devservices

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

func TestAServerRestartsOnItsPort(t *testing.T) {
	for name, start := range map[string]func() *Server{
		"postgres": func() *Server { return StartPostgres(t) },
		"redis":    func() *Server { return StartRedis(t, "--maxmemory", "2mb") },
	} {
		s := start()
		s.Restart()
		if !s.listens() {
			t.Error(name, "does not listen after a restart")
		}
		answers(t, s.URL)
		s.Pause()
		s.Resume()
		answers(t, s.URL)
		throughTroubles(t, s.URL)
		s.Kill()
		if s.listens() {
			t.Error(name, "listens after its end")
		}
		s.Start()
	}
}

// throughTroubles has a relay make each trouble, which proves itself, and get over it.
func throughTroubles(t *testing.T, url string) {
	t.Helper()
	r := NewRelay(t, url)
	for _, trouble := range []Trouble{Refused, Held, Silent, Slow, Wrong} {
		r.Set(trouble)
		r.Set(Fine)
		answers(t, r.Instead(url))
	}
}

func answers(t *testing.T, url string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for Probe(ctx, url) != nil {
		if ctx.Err() != nil {
			t.Fatalf("the server of %s never answers; want no error", url)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// TestAFaultThatIsNoneIsFound: what answers as ever, is not late or is not there is no trouble.
func TestAFaultThatIsNoneIsFound(t *testing.T) {
	healthy := httptest.NewServer(http.NotFoundHandler())
	defer healthy.Close()
	for name, fault := range map[string]func(testing.TB){
		"paused":            func(r testing.TB) { MustNotAnswer(r, "paused", healthy.URL) },
		"late":              func(r testing.TB) { MustAnswerLate(r, healthy.URL, time.Hour) },
		"full, of no index": func(r testing.TB) { FullDisk(r, Elasticsearch(t), "test-none-*", true) },
	} {
		r := &recorder{TB: t}
		if fault(r); r.errors == 0 {
			t.Errorf("%s: a fault that is none proves itself; want r.errors other than 0", name)
		}
	}
}
