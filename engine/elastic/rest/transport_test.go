package rest

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"testing"
	"testing/synctest"
	"time"
)

// BenchmarkRequest sends a body of 8 kB and reads an empty response, over a connection
// that goes nowhere: what it measures is the client. Cold is as in esquery's
// BenchmarkSmile.
func BenchmarkRequest(b *testing.B) {
	c := deadEnded(b, func() net.Conn { return &deadEnd{} })
	r := Request{
		Method: "POST", Path: "/hybridge-kb-acme-manuals-v1/_search?search_type=dfs_query_then_fetch",
		Lines: bytes.Repeat([]byte("x"), 8000), Compact: true,
	}
	others := make([]byte, 64<<20)
	for _, cold := range []bool{false, true} {
		b.Run(fmt.Sprintf("cold=%t", cold), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if cold {
					b.StopTimer()
					for i := 0; i < len(others); i += 64 {
						others[i]++
					}
					b.StartTimer()
				}
				if _, err := c.Search(b.Context(), r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// deadEnd is a connection with the same response to every request.
type deadEnd struct {
	net.Conn
	unread []byte
}

const emptyAnswer = "HTTP/1.1 200 OK\r\nX-elastic-product: Elasticsearch\r\n" +
	"content-type: application/json\r\ncontent-length: 22\r\n\r\n" + `{"hits": {"hits": []}}`

func (c *deadEnd) Write(p []byte) (int, error) {
	c.unread = []byte(emptyAnswer)
	return len(p), nil
}

func (c *deadEnd) Read(p []byte) (int, error) {
	n := copy(p, c.unread)
	c.unread = c.unread[n:]
	return n, nil
}

// deadEnded is a client with such connections.
func deadEnded(tb testing.TB, dial func() net.Conn) *Client {
	tb.Helper()
	c, err := New(&Options{URLs: []string{"http://es:9200"}, APIKey: "a2V5", Timeout: time.Second})
	if err != nil {
		tb.Fatal(err)
	}
	for _, node := range c.transport {
		node.(direct).DialTimeout = func(string, time.Duration) (net.Conn, error) { return dial(), nil }
	}
	return c
}

func (c *deadEnd) Close() error                     { return nil }
func (c *deadEnd) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (c *deadEnd) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (c *deadEnd) SetDeadline(time.Time) error      { return nil }
func (c *deadEnd) SetReadDeadline(time.Time) error  { return nil }
func (c *deadEnd) SetWriteDeadline(time.Time) error { return nil }

// TestAConnectionThatWasIdleForLongIsNotUsed, nor are those that were idle for longer.
func TestAConnectionThatWasIdleForLongIsNotUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opened := 0
		c := deadEnded(t, func() net.Conn {
			opened++
			return &deadEnd{}
		})
		f := func(idle time.Duration, want int) {
			t.Helper()
			time.Sleep(idle)
			if err := c.Read(t.Context(), Get("/"), nil); err != nil || opened != want {
				t.Errorf("idle for %v: %d connections, want %d, %v", idle, opened, want, err)
			}
		}
		f(0, 1)
		f(idleLife-time.Second, 1)
		f(idleLife+time.Second, 2)
		f(0, 2)
	})
}

// tricky is a connection that calls read before each read of a response.
type tricky struct {
	deadEnd
	answer string
	read   func()
}

func (c *tricky) Write(p []byte) (int, error) {
	c.unread = []byte(c.answer)
	return len(p), nil
}

func (c *tricky) Read(p []byte) (int, error) {
	c.read()
	return c.deadEnd.Read(p)
}

// TestAConnectionIsNotUsedAgain after a surplus response, or after a request that was
// cancelled when its response was there.
func TestAConnectionIsNotUsedAgain(t *testing.T) {
	for name, want := range map[string]int{emptyAnswer: 1, emptyAnswer + emptyAnswer: 2, "given up": 2} {
		ctx, cancel := context.WithCancel(t.Context())
		opened, answer := 0, name
		read := func() {}
		if name == "given up" {
			answer, read = emptyAnswer, cancel
		}
		c := deadEnded(t, func() net.Conn {
			opened++
			return &tricky{answer: answer, read: read}
		})
		_ = c.Read(ctx, Get("/"), nil) // one that is given up may have been answered
		read = func() {}
		if err := c.Read(t.Context(), Get("/"), nil); err != nil || opened != want {
			t.Errorf("%q: %d connections, want %d, %v", name, opened, want, err)
		}
		cancel()
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}
