package devservices

import "testing"

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
		s.Kill()
		if s.listens() {
			t.Error(name, "listens after its end")
		}
		s.Start()
	}
}
