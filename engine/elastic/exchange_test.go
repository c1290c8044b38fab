package elastic

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// trickle is a connection whose answer comes in pieces.
type trickle struct {
	deadEnd
	answer string
	piece  func() int // the most bytes of the next
	sent   []byte
}

func (c *trickle) Write(p []byte) (int, error) {
	c.sent = append(c.sent, p...)
	return len(p), nil
}

func (c *trickle) Read(p []byte) (int, error) {
	if c.answer == "" {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), c.piece())], c.answer)
	c.answer = c.answer[n:]
	return n, nil
}

func exchanged(conn net.Conn) (*exchange, error) {
	x := &exchange{text: []byte("GET / HTTP/1.1\r\n\r\n")}
	x.request = len(x.text)
	return x, x.over(conn)
}

// TestAnswersAreReadAsByTheStandardLibrary: whatever ends the body, and wherever the
// pieces end that it comes in.
func TestAnswersAreReadAsByTheStandardLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var text strings.Builder
		status := rapid.SampledFrom([]int{200, 204, 400, 429, 503}).Draw(t, "status")
		_, _ = fmt.Fprintf(&text, "HTTP/1.1 %d What\r\ncontent-type: application/smile\r\n", status)
		if rapid.Bool().Draw(t, "close") {
			text.WriteString("CONNECTION: Close\r\n")
		}
		chunks := rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 1, 300), 0, 5).Draw(t, "body")
		body := bytes.Join(chunks, nil)
		switch kind := rapid.SampledFrom([]string{"chunks", "length", "rest"}).Draw(t, "kind"); {
		case status == http.StatusNoContent:
			text.WriteString("\r\n")
		case kind == "chunks":
			text.WriteString("Transfer-Encoding:  chunked\r\n\r\n")
			for _, chunk := range chunks {
				_, _ = fmt.Fprintf(&text, rapid.SampledFrom([]string{"%x\r\n%s\r\n", "%X; a=b\r\n%s\r\n"}).Draw(t, "size"), len(chunk), chunk)
			}
			text.WriteString(rapid.SampledFrom([]string{"0\r\n\r\n", "0\r\nx: y\r\n\r\n"}).Draw(t, "end"))
		case kind == "length":
			_, _ = fmt.Fprintf(&text, "content-length: %d\r\n\r\n%s", len(body), body)
		default:
			text.WriteString("\r\n" + string(body))
		}
		want, err := http.ReadResponse(bufio.NewReader(strings.NewReader(text.String())), nil)
		if err != nil {
			t.Fatal(err)
		}
		all, err := io.ReadAll(want.Body)
		if err = errors.Join(err, want.Body.Close()); err != nil {
			t.Fatal(err)
		}
		most := rapid.IntRange(1, 200).Draw(t, "piece")
		announced := rapid.SampledFrom([]string{"", "HTTP/1.1 100 Continue\r\n\r\n"}).Draw(t, "announced")
		x, err := exchanged(&trickle{answer: announced + text.String(), piece: func() int { return most }})
		if err != nil || x.status != want.StatusCode || !bytes.Equal(x.body, all) || x.last != want.Close {
			t.Errorf("got %d %q, last %t, %v; want %d %q, last %t", x.status, x.body, x.last, err, want.StatusCode, all, want.Close)
		}
	})
}

// TestAnswersThatAreNone: what is cut short or no HTTP is an error, nothing to wait for.
func TestAnswersThatAreNone(t *testing.T) {
	whole := "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
	f := func(answer string, want error) {
		t.Helper()
		x, err := exchanged(&trickle{answer: answer, piece: func() int { return 1 << 20 }})
		if !errors.Is(err, want) {
			t.Errorf("%q: got %q, %v; want %v", answer, x.body, err, want)
		}
	}
	f(whole, nil)
	for n := range whole {
		f(whole[:n], io.EOF)
	}
	f("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello", io.EOF)
	f("HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello", errNoHTTP)
	f("HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\nhello", errNoHTTP)
	f("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", errNoHTTP)
	f("HTTP/1.1 OK and more\r\n\r\nhello", errNoHTTP)
	f("SSH-2.0-OpenSSH_9.2p1\r\n", errNoHTTP)
	f("\x15\x03\x01\x00\x02\x02\n", errNoHTTP)
	f(strings.Replace(whole, "5", "five", 1), errNoHTTP)
	f(strings.Replace(whole, "5", "ffffffffffffffff", 1), errNoHTTP)
	f(strings.Replace(whole, "5", "4", 1), errNoHTTP)
	f("HTTP/1.1 200 "+strings.Repeat("OK", longestLine), errNoHTTP)
	x, err := exchanged(&trickle{answer: whole + whole, piece: func() int { return 1 << 20 }})
	if err != nil || !x.last {
		t.Errorf("an answer that nobody has asked for: last is %t, %v", x.last, err)
	}
}

// TestAnAnswerLargerThanItsMemory: it grows, and the request is left as it was.
func TestAnAnswerLargerThanItsMemory(t *testing.T) {
	body := bytes.Repeat([]byte("0123456789abcdef"), usualExchange/8)
	conn := &trickle{answer: string(chunked(body)), piece: func() int { return 10_000 }}
	x, err := exchanged(conn)
	if err != nil || !bytes.Equal(x.body, body) || !bytes.Equal(conn.sent, x.text[:x.request]) {
		t.Errorf("read %d of %d bytes, sent %q, %v", len(x.body), len(body), conn.sent, err)
	}
}
