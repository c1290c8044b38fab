package local

import (
	"context"
	"net/http"
	"time"

	"github.com/hybridge-search/hybridge/fault"
)

// waitUntilReady asks until the model answers. The process must still run then: the
// answer may be that of another program on the same port.
func (s *Server) waitUntilReady(ctx context.Context, p *process) error {
	ctx, cancel := context.WithTimeout(ctx, s.command.StartTimeout)
	defer cancel()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for {
		ready := isUp(ctx, client, "http://"+s.address()+"/health")
		select {
		case <-p.done:
			return fault.Wrap(fault.Unavailable, p.err, "the embedding model %s ended at its start: %s",
				s.command.Path, p.output.tail())
		case <-ctx.Done():
			return fault.Wrap(fault.Unavailable, ctx.Err(), "the embedding model %s is not ready within %s: %s",
				s.command.Path, s.command.StartTimeout, p.output.tail())
		case <-time.After(askAgainAfter):
			if ready {
				return nil
			}
		}
	}
}

const askAgainAfter = 20 * time.Millisecond

// isUp reports whether the server is up. One that has no such page is up, one that
// answers 503 is still loading.
func isUp(ctx context.Context, client *http.Client, url string) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	response, err := client.Do(request)
	if err != nil {
		return false
	}
	_ = response.Body.Close()
	return response.StatusCode < http.StatusInternalServerError
}
