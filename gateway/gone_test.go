package gateway

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/deadline"
)

const slowSearch = `{"query": "x", "knowledge_bases": ["` + base + `"]}`

// The work of a client that has left ends within about half a second; a busy machine gets five tries.
//
// Promise: "within about half a second" (docs/guide/en/limits.md).
func TestWorkEndsWhenItsClientLeaves(t *testing.T) {
	deadline.Set(t, time.Minute)
	g := start(t, Options{})
	var took time.Duration
	for range 5 {
		if took = noticed(t, g); took < 600*time.Millisecond {
			return
		}
	}
	t.Errorf("a search goes on for %v for a client that has left", took)
}

// noticed is how long a search goes on for a client that has left.
func noticed(t *testing.T, g *gatewayUnderTest) time.Duration {
	t.Helper()
	begun, ended := make(chan struct{}), make(chan error, 1)
	g.answer = func(ctx context.Context) error {
		close(begun)
		<-ctx.Done()
		ended <- ctx.Err()
		return fault.Wrap(fault.Canceled, ctx.Err(), "given up")
	}
	conn, err := net.Dial("tcp", strings.TrimPrefix(g.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = fmt.Fprintf(conn, "POST /v1/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"+
		"Content-Length: %d\r\n\r\n%s", len(slowSearch), slowSearch)
	if err != nil {
		t.Fatal(err)
	}
	<-begun
	left := time.Now()
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err == nil {
		t.Error("the search ended by itself")
	}
	return time.Since(left)
}

// A client that waits, or has sent its next request already, has not left.
func TestWhoWaitsHasNotLeft(t *testing.T) {
	deadline.Set(t, time.Minute)
	g := start(t, Options{})
	g.answer = func(ctx context.Context) error {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(900 * time.Millisecond):
			return nil
		}
	}
	conn, err := net.Dial("tcp", strings.TrimPrefix(g.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	one := fmt.Sprintf("POST /v1/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"+
		"Content-Length: %d\r\n\r\n%s", len(slowSearch), slowSearch)
	last := strings.Replace(one, "Host:", "Connection: close\r\nHost:", 1)
	if _, err := io.WriteString(conn, one+last); err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(conn)
	if n := strings.Count(string(text), "HTTP/1.1 200"); err != nil || n != 2 {
		t.Errorf("%d answers, %v: %.300s; want 2 of %d", n, err, text, http.StatusOK)
	}
}
