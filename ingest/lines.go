package ingest

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/hybridge-search/hybridge/fault"
)

// line is one non-blank line of the input, without its end. Text is valid
// until the next call; it is nil when err says why the line alone is bad.
type line struct {
	number int // from 1, blank lines counted
	text   []byte
	err    error
}

// lineReader cuts the input into lines and never holds more than one, of at
// most max bytes; of a longer one it keeps nothing.
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

// next gives the next line that is not blank; io.EOF ends. Any other error is
// the reader's own: what was read of an unfinished line is dropped then, as
// half a line may look like a whole one.
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

// read gives the bytes up to the next newline, or that there were too many.
func (r *lineReader) read() (text []byte, tooLong bool, err error) {
	r.buffer = r.buffer[:0]
	for {
		part, err := r.input.ReadSlice('\n')
		r.bytes += int64(len(part))
		// The newline, and a carriage return before it, are not of the line.
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
