package gateway

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/lib/quietconn"
	"github.com/hybridge-search/hybridge/search"
)

// BenchmarkCold is a search whose engine takes no time, with cold caches: what goes
// before it (in) and behind it (out), without the system calls. It gives the first
// quarter and the middle of the times.
func BenchmarkCold(b *testing.B) {
	clock := &coldClock{}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	g := startOn(b, coldListener{listener, clock}, Options{Options: endpoint.Options{Keys: []endpoint.Key{key("k", "acme")}, Logger: slog.New(slog.DiscardHandler)}})
	g.canned = cannedResponse(10)
	g.canned.Documents = manyDocuments(320)
	g.answer = clock.searched
	conn, err := net.Dial("tcp", strings.TrimPrefix(g.url, "http://"))
	if err != nil {
		b.Fatal(err)
	}
	defer shut(b, conn)
	reader := bufio.NewReaderSize(conn, 64<<10)
	request := []byte(vectorSearch())
	for b.Loop() {
		answered(b, conn, reader, request)
	}
	clock.report(b, "in", clock.in)
	clock.report(b, "out", clock.out)
	b.ReportMetric(0, "ns/op")
}

// vectorSearch is a request with a vector of 384 numbers as most clients write them.
func vectorSearch() string {
	var body strings.Builder
	body.WriteString(`{"query": "如何申请退款", "knowledge_bases": ["manuals"], "preset": "rrf", "top_k": 10, "vector": [`)
	for i := range 384 {
		if i > 0 {
			body.WriteString(", ")
		}
		_, _ = fmt.Fprintf(&body, "%.17f", 1/float64(3+i*7919%977))
	}
	body.WriteString("]}")
	return fmt.Sprintf("POST /v1/search HTTP/1.1\r\nHost: localhost\r\nUser-Agent: bench\r\nX-API-Key: k\r\n"+
		"Content-Type: application/json\r\nAccept-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s", body.Len(), body.String())
}

// others is more memory than caches hold.
var others = make([]int, 8<<20)

// coldClock stops what a request takes.
type coldClock struct {
	began, found time.Time
	in, out      []time.Duration
}

func (c *coldClock) begin(request []byte) {
	for i := 0; i < len(others); i += 8 {
		others[i]++
	}
	var sum byte
	for _, b := range request { // the system call has just written it
		sum += b
	}
	others[0] += int(sum)
	c.began = time.Now()
}

func (c *coldClock) searched(context.Context) error {
	c.in = append(c.in, time.Since(c.began))
	c.found = time.Now()
	return nil
}

func (c *coldClock) end() { c.out = append(c.out, time.Since(c.found)) }

func (*coldClock) report(b *testing.B, name string, took []time.Duration) {
	b.Helper()
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/4])/1e3, name+"-µs-p25")
	b.ReportMetric(float64(took[len(took)/2])/1e3, name+"-µs-p50")
}

type coldListener struct {
	net.Listener
	clock *coldClock
}

func (l coldListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return coldConn{quietconn.Wrap(c), l.clock}, nil
}

// coldConn empties the caches when a request has come.
type coldConn struct {
	net.Conn
	clock *coldClock
}

func (c coldConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.clock.begin(p[:n])
	}
	return n, err
}

func (c coldConn) Write(p []byte) (int, error) {
	c.clock.end()
	return c.Conn.Write(p)
}

func manyDocuments(n int) []search.DocumentCount {
	documents := make([]search.DocumentCount, n)
	for i := range documents {
		documents[i] = search.DocumentCount{
			DocumentID: fmt.Sprintf("document-%04d", i), DocumentName: fmt.Sprintf("manual %d.md", i), Count: 1 + i%5,
		}
	}
	return documents
}
