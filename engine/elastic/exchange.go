package elastic

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
)

// exchange is a request over HTTP/1.1 and the answer to it, in one piece of memory
// that is used again: the answer is read behind the request, and its body stays where
// it was read. Of the header it knows what says where the body ends.
type exchange struct {
	text    []byte
	request int // so much of it is the request
	at      int // where the unread part of the answer begins

	meanwhile func() // is called while the answer is awaited

	status  int
	body    []byte // of the answer, within text
	length  int    // of the body, or unknownLength
	chunked bool
	last    bool   // the connection ends with it
	product string // what answers, as it says
}

const (
	unknownLength   = -1
	usualExchange   = 128 << 10 // bytes; a thousand hits are half of it
	largestExchange = 1 << 20   // whose memory is used again
	longestLine     = 64 << 10
	chunkSizeBits   = 31
	lineEnd         = "\r\n"
	httpVersion     = "HTTP/1.1"
	statusLine      = httpVersion + " 200"
)

// Write adds to the request.
func (x *exchange) Write(part []byte) (int, error) {
	x.text = append(x.text, part...)
	x.request = len(x.text)
	return len(part), nil
}

// genuine reports whether the answer passes the check of Elasticsearch's client.
func (x *exchange) genuine() bool {
	return x.status >= http.StatusOK && x.status < http.StatusMultipleChoices && x.product == product
}

var errNoHTTP = errors.New("the answer is not HTTP/1.1")

var spareExchanges = sync.Pool{New: func() any { return &exchange{text: make([]byte, 0, usualExchange)} }}

// release lets the memory be used again: the body is gone then.
func (x *exchange) release() {
	if cap(x.text) <= largestExchange {
		*x = exchange{text: x.text[:0]}
		spareExchanges.Put(x)
	}
}

// over sends the request over a connection and reads the answer.
func (x *exchange) over(conn net.Conn) error {
	if _, err := conn.Write(x.text[:x.request]); err != nil {
		return err
	}
	if x.meanwhile != nil {
		x.meanwhile()
	}
	x.text, x.at, x.status = x.text[:x.request], x.request, 0
	for x.status < http.StatusOK { // other than what only says that there will be one
		if err := x.readHead(conn); err != nil {
			return err
		}
	}
	if err := x.readBody(conn); err != nil {
		return err
	}
	x.last = x.last || x.at < len(x.text) // what is behind it is nobody's
	return nil
}

func (x *exchange) readHead(conn net.Conn) error {
	line, err := x.line(conn)
	if err != nil {
		return err
	}
	if len(line) < len(statusLine) || string(line[:len(httpVersion)-1]) != httpVersion[:len(httpVersion)-1] {
		return errNoHTTP
	}
	x.last = line[len(httpVersion)-1] == '0'
	x.length, x.chunked, x.body, x.product = unknownLength, false, nil, ""
	if x.status, err = strconv.Atoi(string(line[len(httpVersion)+1 : len(statusLine)])); err != nil {
		return errNoHTTP
	}
	for {
		if line, err = x.line(conn); err != nil || len(line) == 0 {
			return err
		}
		if err := x.readHeader(line); err != nil {
			return err
		}
	}
}

var (
	lengthHeader     = []byte("Content-Length")
	encodingHeader   = []byte("Transfer-Encoding")
	connectionHeader = []byte("Connection")
	productsHeader   = []byte(productHeader)
)

func (x *exchange) readHeader(line []byte) (err error) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimSpace(value)
	switch {
	case bytes.EqualFold(name, lengthHeader):
		if x.length, err = strconv.Atoi(string(value)); err != nil || x.length < 0 {
			return errNoHTTP
		}
	case bytes.EqualFold(name, encodingHeader):
		if x.chunked = bytes.EqualFold(value, []byte("chunked")); !x.chunked {
			return errNoHTTP // none other was asked for
		}
	case bytes.EqualFold(name, connectionHeader):
		x.last = bytes.EqualFold(value, []byte("close"))
	case bytes.EqualFold(name, productsHeader):
		if x.product = product; string(value) != product {
			x.product = string(value)
		}
	}
	return nil
}

func (x *exchange) readBody(conn net.Conn) error {
	switch {
	case x.status == http.StatusNoContent || x.status == http.StatusNotModified:
		return nil
	case x.chunked:
		return x.readChunks(conn)
	case x.length != unknownLength:
		err := x.await(conn, x.length)
		if err == nil {
			x.body = x.text[x.at : x.at+x.length]
			x.at += x.length
		}
		return err
	default:
		return x.readRest(conn)
	}
}

// readChunks puts the chunks of a body together. Nearly all answers are one.
func (x *exchange) readChunks(conn net.Conn) error {
	begin, end := x.at, x.at
	for {
		size, err := x.chunkSize(conn)
		if err != nil {
			return err
		}
		if size == 0 {
			break
		}
		if err := x.await(conn, size+len(lineEnd)); err != nil {
			return err
		}
		next := x.at + size
		if begin == end {
			begin, end = x.at, next
		} else {
			end += copy(x.text[end:], x.text[x.at:next])
		}
		if x.at = next + len(lineEnd); string(x.text[next:x.at]) != lineEnd {
			return errNoHTTP
		}
	}
	for {
		if trailer, err := x.line(conn); err != nil {
			return err
		} else if len(trailer) == 0 {
			x.body = x.text[begin:end]
			return nil
		}
	}
}

func (x *exchange) chunkSize(conn net.Conn) (int, error) {
	line, err := x.line(conn)
	if err != nil {
		return 0, err
	}
	digits, _, _ := bytes.Cut(line, []byte(";"))
	size, err := strconv.ParseUint(string(bytes.TrimSpace(digits)), 16, chunkSizeBits)
	if err != nil {
		return 0, errNoHTTP
	}
	return int(size), nil
}

// readRest reads what the end of the connection ends.
func (x *exchange) readRest(conn net.Conn) error {
	x.last = true
	for {
		if err := x.more(conn); errors.Is(err, io.EOF) {
			x.body, x.at = x.text[x.at:], len(x.text)
			return nil
		} else if err != nil {
			return err
		}
	}
}

// line reads a line, and gives it without its end. It is good until more is read.
func (x *exchange) line(conn net.Conn) ([]byte, error) {
	for seen := x.at; ; {
		if n := bytes.IndexByte(x.text[seen:], '\n'); n >= 0 {
			line := x.text[x.at : seen+n]
			x.at = seen + n + 1
			return bytes.TrimSuffix(line, []byte("\r")), nil
		}
		if seen = len(x.text); seen-x.at > longestLine {
			return nil, errNoHTTP
		}
		if err := x.more(conn); err != nil {
			return nil, err
		}
	}
}

// await reads until so many bytes are unread.
func (x *exchange) await(conn net.Conn, n int) error {
	for len(x.text)-x.at < n {
		if err := x.more(conn); err != nil {
			return err
		}
	}
	return nil
}

// more reads what has come, at least one byte.
func (x *exchange) more(conn net.Conn) error {
	if len(x.text) == cap(x.text) {
		x.text = slices.Grow(x.text, len(x.text))
	}
	n, err := conn.Read(x.text[len(x.text):cap(x.text)])
	x.text = x.text[:len(x.text)+n]
	if n > 0 {
		return nil
	}
	return err
}
