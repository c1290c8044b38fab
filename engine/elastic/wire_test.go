package elastic

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync/atomic"
	"testing"
	"time"
)

// counted is a server that counts its connections, and the wire to it.
func counted(t *testing.T, serve http.HandlerFunc) (w *wire, server *httptest.Server, opened *atomic.Int32) {
	t.Helper()
	opened = new(atomic.Int32)
	server = httptest.NewUnstartedServer(serve)
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	node, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	w = newWire(node)
	t.Cleanup(w.CloseIdleConnections)
	return w, server, opened
}

// ping gives the body of the answer to a request.
func (w *wire) ping(ctx context.Context, within time.Duration) (string, error) {
	x := spareExchanges.Get().(*exchange)
	defer x.release()
	x.text = append(x.text, "GET / HTTP/1.1\r\nHost: es\r\n\r\n"...)
	x.request = len(x.text)
	err := w.do(ctx, time.Now().Add(within), x)
	return string(x.body), err
}

func (w *wire) mustPing(t *testing.T) {
	t.Helper()
	if answer, err := w.ping(t.Context(), time.Minute); err != nil || answer != "pong" {
		t.Fatalf("got %q, %v", answer, err)
	}
}

func pong(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "pong") }

func TestAConnectionIsUsedAgain(t *testing.T) {
	w, server, opened := counted(t, pong)
	for range 3 {
		w.mustPing(t)
	}
	if n := opened.Load(); n != 1 {
		t.Errorf("%d connections for three requests", n)
	}
	server.CloseClientConnections() // as a node that starts anew does
	w.mustPing(t)
	w.idle[0].since = time.Now().Add(-idleLife) // others may have forgotten it
	w.mustPing(t)
	w.mustPing(t)
	if n := opened.Load(); n != 3 || len(w.idle) != 1 {
		t.Errorf("%d connections, %d of them idle, after one was closed and one was old", n, len(w.idle))
	}
}

func TestAConnectionThatEndsIsNotUsedAgain(t *testing.T) {
	w, _, opened := counted(t, func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Connection", "close")
		pong(rw, r)
	})
	w.mustPing(t)
	w.mustPing(t)
	if n := opened.Load(); n != 2 || len(w.idle) != 0 {
		t.Errorf("%d connections, %d of them idle", n, len(w.idle))
	}
}

// TestARequestIsTriedTwice: no more, and not when its time is over.
func TestARequestIsTriedTwice(t *testing.T) {
	ended := make(chan struct{})
	defer close(ended)
	var asked atomic.Int32
	var late atomic.Bool
	w, server, _ := counted(t, func(http.ResponseWriter, *http.Request) {
		asked.Add(1)
		if late.Load() {
			<-ended
		}
		panic(http.ErrAbortHandler)
	})
	if _, err := w.ping(t.Context(), time.Minute); err == nil || asked.Load() != 2 {
		t.Errorf("hung up: asked %d times, %v", asked.Load(), err)
	}
	late.Store(true)
	if _, err := w.ping(t.Context(), 50*time.Millisecond); !isTimeout(err) || asked.Load() > 3 {
		t.Errorf("late: asked %d times, %v", asked.Load(), err)
	}
	_ = server.Listener.Close()
	if _, err := w.ping(t.Context(), time.Minute); err == nil || isTimeout(err) {
		t.Errorf("away: %v", err)
	}
}

func TestAWireIsEncryptedWhereTheNodeSaysSo(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(pong))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	node, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	w := newWire(node)
	defer w.CloseIdleConnections()
	if _, err := w.ping(t.Context(), time.Minute); err == nil {
		t.Error("a certificate of nobody is believed")
	}
	w.tls.RootCAs = server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	w.mustPing(t)
	w.mustPing(t)
}
