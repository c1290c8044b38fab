package ingest

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/hybridge-search/hybridge/fault"
)

// line is a line of the input that is not blank, without its end. text is valid until the
// next call. It is nil if err is set, which says why just this line is bad.
type line struct {
	number int // from 1, blank lines counted
	text   []byte
	err    error
}

// lineReader splits the input into lines. It holds at most one line, of at most max bytes,
// and nothing of a longer one.
type lineReader struct {
	input  *bufio.Reader
	max    int
	number int
	bytes  int64
	buffer []byte
}

func newLineReader(r io.Reader, maxLine int) *lineReader {
	return &lineReader{input: bufio.NewReaderSize(r, 64<<10), max: maxLine}
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// next returns the next line that is not blank, or io.EOF. Any other error is one of the
// input; an unfinished line is dropped then, because it may look like a whole one.
func (r *lineReader) next() (line, error) {
	for {
		text, tooLong, err := r.read()
		if err != nil && !errors.Is(err, io.EOF) {
			return line{}, err
		}
		if err != nil && len(text) == 0 && !tooLong {
			return line{}, io.EOF
		}
		r.number++
		if tooLong {
			return line{number: r.number, err: fault.New(fault.TooLarge,
				"the line is longer than %d bytes; split the chunk", r.max)}, nil
		}
		if r.number == 1 {
			text = bytes.TrimPrefix(text, byteOrderMark)
		}
		if text = bytes.TrimSpace(text); len(text) > 0 {
			return line{number: r.number, text: text}, nil
		}
	}
}

// read returns the bytes up to the next newline, or reports that there are too many.
func (r *lineReader) read() (text []byte, tooLong bool, err error) {
	r.buffer = r.buffer[:0]
	for {
		part, err := r.input.ReadSlice('\n')
		r.bytes += int64(len(part))
		// The newline, and a carriage return before it, do not count.
		if len(r.buffer)+len(part) > r.max+2 {
			tooLong = true
		}
		if !tooLong {
			r.buffer = append(r.buffer, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return r.buffer, tooLong || len(bytes.TrimRight(r.buffer, "\r\n")) > r.max, err
		}
	}
}
