package exchange

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/hybridge-search/hybridge/fault"
)

const byteOrderMark = "\ufeff"

// lineReader gives the lines of a file, and says what is odd about them as bytes.
type lineReader struct {
	file *File
	in   *bufio.Reader
	n    int // of the last line
}

func (f *File) lineReader(r io.Reader) *lineReader {
	return &lineReader{file: f, in: bufio.NewReaderSize(r, 64<<10)}
}

// next gives a line without its end; io.EOF after the last one.
func (l *lineReader) next() (string, error) {
	for {
		line, whole, err := l.read()
		if err != nil {
			return "", err
		}
		l.n++
		if !whole {
			l.file.Report.Add(l.file.Name, LongLine, l.n, "")
			continue
		}
		return l.clean(line), nil
	}
}

// read gives the bytes of a line; of one that is too long none, and not whole.
func (l *lineReader) read() (line []byte, whole bool, err error) {
	size := 0
	for {
		part, err := l.in.ReadSlice('\n')
		if size += len(part); size <= maxLine {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err == nil, errors.Is(err, io.EOF) && size > 0:
			return line, size <= maxLine, nil
		case errors.Is(err, io.EOF):
			return nil, false, io.EOF
		default:
			return nil, false, fault.Wrap(fault.InvalidArgument, err, "read %s", l.file.Name)
		}
	}
}

// clean takes off a line what is not its text.
func (l *lineReader) clean(line []byte) string {
	report, name := l.file.Report, l.file.Name
	line = bytes.TrimSuffix(line, []byte{'\n'})
	if bytes.HasSuffix(line, []byte{'\r'}) {
		line = line[:len(line)-1]
		report.Add(name, WindowsLine, l.n, "")
	}
	if l.n == 1 && bytes.HasPrefix(line, []byte(byteOrderMark)) {
		line = line[len(byteOrderMark):]
		report.Add(name, ByteOrderMark, l.n, "")
	}
	if !utf8.Valid(line) {
		line = bytes.ToValidUTF8(line, []byte("\ufffd"))
		report.Add(name, InvalidUTF8, l.n, "%s", short(string(line)))
	}
	return string(line)
}

// Lines gives each line that is not blank to take, by its number.
func (f *File) Lines(r io.Reader, take func(n int, line string) error) error {
	if f.Report == nil {
		f.Report = &Report{}
	}
	lines := f.lineReader(r)
	for {
		line, err := lines.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if strings.TrimSpace(line) == "" {
			f.Report.Add(f.Name, BlankLine, lines.n, "")
			continue
		}
		if err := take(lines.n, line); err != nil {
			return err
		}
	}
}

// cleaned gives the lines again as a stream, for readers of more than lines.
type cleaned struct {
	lines  *lineReader
	left   string
	blank  bool // blank lines are told
	quotes bool // of CSV, in whose fields blank lines are text
	quoted bool
}

// Read implements io.Reader.
func (c *cleaned) Read(p []byte) (int, error) {
	if c.left == "" {
		line, err := c.lines.next()
		if err != nil {
			return 0, err
		}
		if c.blank && !c.quoted && strings.TrimSpace(line) == "" {
			c.lines.file.Report.Add(c.lines.file.Name, BlankLine, c.lines.n, "")
			line = "" // what has spaces alone would be a row
		}
		c.quoted = c.quotes && c.quoted != (strings.Count(line, `"`)%2 == 1)
		c.left = line + "\n"
	}
	n := copy(p, c.left)
	c.left = c.left[n:]
	return n, nil
}
