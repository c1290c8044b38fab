package devservices

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

// unanswered is how long a probe waits for a server that should not answer.
const unanswered = 300 * time.Millisecond

// Probe asks the server of a URL something in its own protocol, on a connection of its own: a fault that a
// test brings about is there only where this fails.
func Probe(ctx context.Context, at string) error {
	to, err := url.Parse(at)
	if err != nil {
		return err
	}
	if to.Scheme == "http" || to.Scheme == "https" {
		return probeHTTP(ctx, to)
	}
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", to.Host)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	if deadline, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(deadline)
	}
	switch to.Scheme {
	case "redis":
		return probeRedis(conn)
	case "postgres":
		return probePostgres(conn, to)
	}
	return fmt.Errorf("nobody knows how to ask a server of %q", to.Scheme)
}

func probeHTTP(ctx context.Context, to *url.URL) error {
	status, _, err := exchange(ctx, http.MethodGet, to.String(), "")
	if err == nil && status >= http.StatusInternalServerError {
		err = fmt.Errorf("%s answers %d", to.Host, status)
	}
	return err
}

// exchange asks a server by HTTP on a connection of its own, as the user that StartElasticsearch makes.
func exchange(ctx context.Context, method, at, body string) (status int, answer []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, method, at, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.SetBasicAuth(ElasticsearchUser, ElasticsearchPassword)
	client := http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // a server of a test
	}}
	res, err := client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = res.Body.Close() }()
	answer, err = io.ReadAll(res.Body)
	return res.StatusCode, answer, err
}

func probeRedis(conn net.Conn) error {
	if _, err := io.WriteString(conn, "PING\r\n"); err != nil {
		return err
	}
	pong := make([]byte, len("+PONG"))
	if _, err := io.ReadFull(conn, pong); err != nil {
		return err
	}
	if string(pong) != "+PONG" {
		return fmt.Errorf("redis answers %q", pong)
	}
	return nil
}

// probePostgres has a session begin, which takes the postmaster and a process of its own.
func probePostgres(conn net.Conn, to *url.URL) error {
	front := pgproto3.NewFrontend(conn, conn)
	front.Send(&pgproto3.StartupMessage{ProtocolVersion: pgproto3.ProtocolVersion30, Parameters: map[string]string{
		"user": to.User.Username(), "database": strings.TrimPrefix(to.Path, "/"),
	}})
	if err := front.Flush(); err != nil {
		return err
	}
	for {
		message, err := front.Receive()
		if err != nil {
			return err
		}
		switch m := message.(type) {
		case *pgproto3.ErrorResponse:
			return fmt.Errorf("postgres: %s", m.Message)
		case *pgproto3.ReadyForQuery:
			return nil
		}
	}
}

// MustNotAnswer fails the test where the server of a URL still answers: the fault that was brought about is
// none, and what is measured from here on says nothing.
func MustNotAnswer(t testing.TB, fault, at string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), unanswered)
	defer cancel()
	if Probe(ctx, at) == nil {
		t.Errorf("%s: the server of %s answers as ever", fault, at)
	}
}

// MustAnswerLate fails the test where a server does not answer, or not late.
func MustAnswerLate(t testing.TB, at string, late time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	asked := time.Now()
	if err := Probe(ctx, at); err != nil || time.Since(asked) < late {
		t.Errorf("slow: the server of %s answers after %v, not %v: %v", at, time.Since(asked), late, err)
	}
}

// FullDisk sets or lifts the block that Elasticsearch gives indices when a disk is full, and proves it by a write.
func FullDisk(t testing.TB, server, indices string, full bool) {
	t.Helper()
	block := "null"
	if full {
		block = "true"
	}
	settings := `{"index.blocks.read_only_allow_delete": ` + block + `}`
	ctx := context.WithoutCancel(t.Context()) // it may be lifted when the test ends
	status, answer, err := exchange(ctx, http.MethodPut, server+"/"+indices+"/_settings", settings)
	if err != nil || status != http.StatusOK {
		t.Errorf("the block of a full disk: %v, %d %s", err, status, answer)
		return
	}
	if !full {
		return
	}
	_, found, err := exchange(ctx, http.MethodGet, server+"/_cat/indices/"+indices+"?h=index&expand_wildcards=all", "")
	names := strings.Fields(string(found))
	if err != nil || len(names) == 0 {
		t.Errorf("full disk: no index is called %s: %v", indices, err)
	}
	for _, index := range names {
		_, answer, err := exchange(ctx, http.MethodPut, server+"/"+index+"/_create/probe", "{}")
		if err != nil || !strings.Contains(string(answer), "cluster_block_exception") {
			t.Errorf("full disk: %s takes writes as ever: %v, %s", index, err, answer)
		}
	}
}
