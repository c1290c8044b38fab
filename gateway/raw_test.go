package gateway

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/gateway/endpoint"
)

// raw sends bytes as they are and gives the answers to all requests in them.
func (g *gatewayUnderTest) raw(requests string) []reply {
	g.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(g.url, "http://"))
	if err != nil {
		g.t.Fatal(err)
	}
	defer shut(g.t, conn)
	if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		g.t.Fatal(err)
	}
	if _, err := io.WriteString(conn, requests); err != nil {
		g.t.Fatal(err)
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		g.t.Fatal(err)
	}
	var replies []reply
	reader := bufio.NewReader(conn)
	for {
		response, err := http.ReadResponse(reader, nil)
		if err != nil {
			return replies
		}
		body, err := io.ReadAll(response.Body)
		if err := errors.Join(err, response.Body.Close()); err != nil {
			g.t.Fatal(err)
		}
		replies = append(replies, reply{status: response.StatusCode, header: response.Header, body: string(body)})
	}
}

func TestRawRequests(t *testing.T) {
	g := start(t, Options{Options: endpoint.Options{Keys: []endpoint.Key{key("k", "acme")}}})
	f := func(requests string, statuses ...int) {
		t.Helper()
		var got []int
		for _, r := range g.raw(requests) {
			got = append(got, r.status)
			if r.status >= 400 {
				r.problem(t)
			}
		}
		if !slices.Equal(got, statuses) {
			t.Errorf("%.80q: answers %v, want %v", requests, got, statuses)
		}
	}
	const (
		head     = "Host: localhost\r\nX-API-Key: k\r\n"
		next     = "GET /healthz HTTP/1.1\r\n" + head + "\r\n"
		smuggled = "GET /v1/knowledge-bases HTTP/1.1\r\n" + head + "\r\n"
		post     = "POST /v1/search HTTP/1.1\r\n"
		js       = "Content-Type: application/json\r\n"
	)
	sized := func(body string) string {
		return "Content-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body
	}
	chunked := func(body string) string {
		return "Transfer-Encoding: chunked\r\n\r\n" + strconv.FormatInt(int64(len(body)), 16) + "\r\n" + body + "\r\n0\r\n\r\n"
	}
	// A body that no handler reads is not taken for the next request.
	f("GET /healthz HTTP/1.1\r\n"+head+sized(smuggled)+next, 200, 200)
	f("GET /nowhere HTTP/1.1\r\n"+head+chunked(smuggled)+next, 404, 200)
	f(post+"Host: localhost\r\n"+chunked(smuggled)+next, 401, 200)
	f(post+"Host: localhost\r\n"+sized(strings.Repeat("a", 100_000)+smuggled)+next, 401, 200)
	f(post+head+js+chunked(question)+next, 200, 200)
	f(post+head+js+sized(question)+next, 200, 200)
	f(post+head+js+sized(question)+post+head+js+sized(question), 200, 200)
	f(post+"Host: localhost\r\nContent-Length: 100000000\r\n\r\n"+strings.Repeat("a", 10_000)+smuggled, 401)
	// A body that ends too early, or is not what it says.
	f(post+head+js+"Content-Length: 20000\r\n\r\n"+`{"query": "`+strings.Repeat("a", 9000), 400)
	f("PUT /v1/knowledge-bases/manuals/documents/d HTTP/1.1\r\n"+head+"Content-Type: application/x-ndjson\r\n"+
		"Content-Length: 20000\r\n\r\n"+strings.Repeat("a", 9000), 400)
	f(post+head+js+"Transfer-Encoding: chunked\r\n\r\nzz\r\n", 400)
	// What a proxy in front may have read otherwise.
	f(post+head+js+"Content-Length: 4\r\n"+chunked(question)+next, 400)
	f(post+head+js+"transfer-encoding: chunked\r\ncontent-length: 0\r\n\r\n0\r\n\r\n"+next, 400)
	f("GET /healthz HTTP/1.1\r\nHost: localhost\r\nhost: evil.example\r\n\r\n"+next, 400)
	f(post+head+js+"Content-Length: 0\r\n"+sized(question), 400)
	// No HTTP at all.
	f("hello\r\n\r\n", 400)
	f("GET http://[::1 HTTP/1.1\r\n"+head+"\r\n", 400)
	// Old, but HTTP.
	f("GET /healthz HTTP/1.1\r\nX-Request-Id: a\r\n b\r\nHost: localhost\r\n\r\n", 200)
	f("GET /healthz HTTP/1.0\r\n\r\n", 200)
}
