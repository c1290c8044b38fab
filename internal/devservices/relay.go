package devservices

import (
	"bytes"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// Trouble is what a Relay makes of what passes through it.
type Trouble string

// What a Relay can do. Connections that lived through Silent or Wrong end with it.
const (
	Fine    Trouble = ""
	Refused Trouble = "refused" // connections are cut, and so is every new one
	Held    Trouble = "held"    // nothing passes until it is over, and then all of it
	Silent  Trouble = "silent"  // what comes is lost
	Slow    Trouble = "slow"    // every piece comes Late
	Wrong   Trouble = "wrong"   // answers are other bytes
)

// Late is the delay of each piece of a slow answer.
const Late = 200 * time.Millisecond

// Relay is a way to a real server on which there may be trouble.
type Relay struct {
	// Address is where it listens, host:port.
	Address string

	t        testing.TB
	way      string // the URL of the target by this relay
	target   string
	listener net.Listener
	mu       sync.Mutex
	changed  *sync.Cond
	trouble  Trouble
	open     map[net.Conn]bool
	work     sync.WaitGroup
}

// NewRelay starts a relay to the server of a URL; it ends with the test.
func NewRelay(t testing.TB, target string) *Relay {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	to, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	r := &Relay{t: t, Address: listener.Addr().String(), target: to.Host, listener: listener, open: map[net.Conn]bool{}}
	r.way = r.Instead(target)
	r.changed = sync.NewCond(&r.mu)
	r.work.Go(r.accept)
	t.Cleanup(func() {
		_ = listener.Close()
		r.begin(Refused)
		r.work.Wait()
	})
	return r
}

// Instead is the URL of the target with the relay's address.
func (r *Relay) Instead(target string) string { return strings.Replace(target, r.target, r.Address, 1) }

// Set begins a trouble, which a direct question proves, or ends it with Fine.
func (r *Relay) Set(to Trouble) {
	r.t.Helper()
	r.begin(to)
	switch to {
	case Fine:
	case Slow:
		MustAnswerLate(r.t, r.way, 2*Late) // a question and its answer
	case Refused, Held, Silent, Wrong:
		MustNotAnswer(r.t, string(to), r.way)
	}
}

func (r *Relay) begin(to Trouble) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if to == Refused || r.trouble == Silent || r.trouble == Wrong {
		for c := range r.open {
			_ = c.Close()
		}
	}
	r.trouble = to
	r.changed.Broadcast()
}

func (r *Relay) accept() {
	for {
		client, err := r.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", r.target)
		if err != nil || !r.keep(client, server) {
			_ = client.Close()
			if err == nil {
				_ = server.Close()
			}
			continue
		}
		r.work.Go(func() { r.pass(server, client, false) })
		r.work.Go(func() { r.pass(client, server, true) })
	}
}

func (r *Relay) keep(pair ...net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.trouble == Refused {
		return false
	}
	for _, c := range pair {
		r.open[c] = true
	}
	return true
}

// pass copies until either side ends.
func (r *Relay) pass(to, from net.Conn, answers bool) {
	defer func() {
		_ = to.Close()
		_ = from.Close()
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.open, to)
		delete(r.open, from)
	}()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		piece := buffer[:n]
		trouble := r.settled()
		switch {
		case trouble == Silent:
			continue
		case trouble == Slow:
			time.Sleep(Late)
		case trouble == Wrong && answers:
			piece = bytes.Repeat([]byte("?"), n)
		}
		if _, err := to.Write(piece); err != nil {
			return
		}
	}
}

// settled waits while everything is held.
func (r *Relay) settled() Trouble {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.trouble == Held {
		r.changed.Wait()
	}
	return r.trouble
}
