package gateway

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/hybridge-search/hybridge/gateway/endpoint"
)

// BenchmarkSearch is what the gateway adds to a search of 10 hits, over a real
// socket, with a log and metrics; cpu-µs/op includes the client.
func BenchmarkSearch(b *testing.B) {
	vector := strings.Repeat("0.0123456,", 383) + "0.1"
	for name, body := range map[string]string{
		"question": `{"query": "如何申请退款", "knowledge_bases": ["manuals"], "preset": "balanced", "top_k": 10}`,
		"vector":   `{"query": "如何申请退款", "knowledge_bases": ["manuals"], "vector": [` + vector + `]}`,
	} {
		b.Run(name, func(b *testing.B) { benchmarkSearch(b, body) })
	}
}

func benchmarkSearch(b *testing.B, body string) {
	g := start(b, Options{Options: endpoint.Options{
		Keys:   []endpoint.Key{key("k", "acme")},
		Logger: slog.New(slog.NewJSONHandler(formatted{}, nil)),
	}})
	g.canned = cannedResponse(10)
	if strings.Contains(body, `"vector"`) {
		g.canned.Documents = manyDocuments(320)
	}
	conn, err := net.Dial("tcp", strings.TrimPrefix(g.url, "http://"))
	if err != nil {
		b.Fatal(err)
	}
	defer shut(b, conn)
	request := []byte(fmt.Sprintf("POST /v1/search HTTP/1.1\r\nHost: localhost\r\nX-API-Key: k\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body))
	reader := bufio.NewReaderSize(conn, 64<<10)
	b.ReportAllocs()
	before := cpu(b)
	for b.Loop() {
		answered(b, conn, reader, request)
	}
	b.ReportMetric(float64(cpu(b)-before)/float64(b.N), "cpu-µs/op")
}

// answered sends a request and reads the whole answer.
func answered(b *testing.B, conn net.Conn, reader *bufio.Reader, request []byte) {
	b.Helper()
	if _, err := conn.Write(request); err != nil {
		b.Fatal(err)
	}
	response, err := http.ReadResponse(reader, nil)
	if err != nil || response.StatusCode != http.StatusOK {
		b.Fatal(err, response)
	}
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		b.Fatal(err)
	}
	if err := response.Body.Close(); err != nil {
		b.Fatal(err)
	}
}

// formatted drops what slog has formatted.
type formatted struct{}

func (formatted) Write(p []byte) (int, error) { return len(p), nil }

func cpu(b *testing.B) int64 {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return (usage.Utime.Nano() + usage.Stime.Nano()) / 1000
}
