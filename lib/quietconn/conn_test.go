package quietconn_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/net/nettest"

	"github.com/hybridge-search/hybridge/lib/quietconn"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pipe is two wrapped ends of one TCP connection.
func pipe() (a, b net.Conn, stop func(), err error) {
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, nil, err
	}
	l := quietconn.Listener(plain)
	defer func() { _ = l.Close() }() // both ends stay
	if a, err = net.Dial("tcp", l.Addr().String()); err != nil {
		return nil, nil, nil, err
	}
	a = quietconn.Wrap(a)
	if b, err = l.Accept(); err != nil {
		return nil, nil, nil, errors.Join(err, a.Close())
	}
	return a, b, func() { _ = errors.Join(a.Close(), b.Close()) }, nil
}

func ends(t testing.TB) (a, b net.Conn) {
	t.Helper()
	a, b, stop, err := pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return a, b
}

// TestIsAConnection is the Go team's own account of what a net.Conn has to do:
// deadlines, closing, many readers and writers at a time.
func TestIsAConnection(t *testing.T) { nettest.TestConn(t, pipe) }

func TestBytesArriveInOrder(t *testing.T) {
	a, b := ends(t)
	random := rand.New(rand.NewPCG(1, 1))
	sent := make([]byte, 8<<20) // more than sockets hold: writers have to wait
	for i := range sent {
		sent[i] = byte(random.Uint32())
	}
	var wrote error
	var writer sync.WaitGroup
	writer.Go(func() {
		for rest := sent; len(rest) > 0 && wrote == nil; {
			n := min(1+random.IntN(1<<20), len(rest))
			_, wrote = a.Write(rest[:n])
			rest = rest[n:]
		}
		wrote = errors.Join(wrote, a.Close())
	})
	got, err := io.ReadAll(b)
	writer.Wait()
	if err != nil || wrote != nil || !bytes.Equal(got, sent) {
		t.Fatalf("%d of %d bytes arrived (%v, %v), or others", len(got), len(sent), err, wrote)
	}
}

func TestErrorsAreThoseOfTheStandardLibrary(t *testing.T) {
	t.Run("deadline", func(t *testing.T) {
		a, _ := ends(t)
		if err := a.SetReadDeadline(time.Now().Add(time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		_, err := a.Read(make([]byte, 1))
		var failure net.Error
		if !errors.Is(err, os.ErrDeadlineExceeded) || !errors.As(err, &failure) || !failure.Timeout() {
			t.Fatalf("a read past its deadline: %v", err)
		}
	})
	t.Run("closed", func(t *testing.T) {
		a, _ := ends(t)
		_ = a.Close()
		if _, err := a.Write([]byte("x")); !errors.Is(err, net.ErrClosed) {
			t.Fatalf("a write behind Close: %v; want net.ErrClosed", err)
		}
	})
	t.Run("reset", func(t *testing.T) {
		a, b := ends(t)
		if err := b.(interface{ SetLinger(int) error }).SetLinger(0); err != nil {
			t.Fatal(err)
		}
		_ = b.Close()
		if _, err := a.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
			t.Fatalf("a read of a connection that was reset: %v; want syscall.ECONNRESET", err)
		}
	})
}

func TestOtherConnectionsStayAsTheyAre(t *testing.T) {
	a, b := net.Pipe()
	defer func() { _ = errors.Join(a.Close(), b.Close()) }()
	if quietconn.Wrap(a) != a {
		t.Error("a pipe has no socket to read from")
	}
}
