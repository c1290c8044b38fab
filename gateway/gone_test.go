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
)

const slowSearch = `{"query": "x", "knowledge_bases": ["` + base + `"]}`

func TestWorkEndsWhenItsClientLeaves(t *testing.T) {
	g := start(t, Options{})
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
	select {
	case err := <-ended:
		if err == nil {
			t.Error("the search ended by itself")
		}
		t.Logf("noticed after %v", time.Since(left))
	case <-time.After(10 * time.Second): // of 30 s that the request may take
		t.Error("nobody noticed that the client left")
	}
}

// A client that waits, or has sent its next request already, has not left.
func TestWhoWaitsHasNotLeft(t *testing.T) {
	g := start(t, Options{})
	g.answer = func(ctx context.Context) error {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(2*lookAfter + 2*lookEvery):
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
