package endpoint

import (
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hybridge-search/hybridge/fault"
)

// arrayItem bounds an item of an array in bytes, which is in memory as a whole.
const arrayItem = 16 << 20

// arrayLines gives the items of a JSON array as lines, while it is read. What is wrong within an item
// is for the reader of its line to tell.
type arrayLines struct {
	items  *jsontext.Decoder
	source itemSource
	line   jsontext.Value
	rest   []byte // of the line
	opened bool
}

// itemSource counts the bytes read since the last item.
type itemSource struct {
	io.Reader
	read int
}

// Read implements io.Reader.
func (s *itemSource) Read(into []byte) (n int, err error) {
	if s.read > arrayItem {
		return 0, fault.New(fault.TooLarge, "an item of the array has more than %d bytes", arrayItem)
	}
	n, err = s.Reader.Read(into)
	s.read += n
	return n, err
}

// NewArrayLines reads the items of the array that body is.
func NewArrayLines(body io.Reader) *arrayLines {
	a := &arrayLines{source: itemSource{Reader: body}}
	a.items = jsontext.NewDecoder(&a.source, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	return a
}

// Read implements io.Reader.
func (a *arrayLines) Read(into []byte) (int, error) {
	if len(a.rest) == 0 {
		if err := a.next(); err != nil {
			return 0, err
		}
	}
	n := copy(into, a.rest)
	a.rest = a.rest[n:]
	return n, nil
}

// next reads an item; io.EOF behind the last.
func (a *arrayLines) next() error {
	if !a.opened {
		if a.items.PeekKind() != '[' {
			if _, err := a.items.ReadToken(); err != nil {
				return a.told(err)
			}
			return fault.Invalid("body", "another value", "a JSON array of chunks")
		}
		if _, err := a.items.ReadToken(); err != nil {
			return a.told(err)
		}
		a.opened = true
	}
	if a.items.PeekKind() == ']' {
		return a.end()
	}
	item, err := a.items.ReadValue()
	if err != nil {
		return a.told(err)
	}
	a.source.read = 0
	a.line = append(a.line[:0], item...)
	if err := a.line.Compact(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)); err != nil {
		return a.told(err)
	}
	a.line = append(a.line, '\n')
	a.rest = a.line
	return nil
}

// end reads the end of the array, after which there must be nothing.
func (a *arrayLines) end() error {
	if _, err := a.items.ReadToken(); err != nil {
		return a.told(err)
	}
	if _, err := a.items.ReadToken(); !errors.Is(err, io.EOF) {
		return fault.Invalid("body", "more than one value", "a JSON array of chunks")
	}
	return io.EOF
}

// told turns errors in the JSON into the caller's.
func (*arrayLines) told(err error) error {
	var wrong *jsontext.SyntacticError
	if errors.As(err, &wrong) || errors.Is(err, io.EOF) {
		return fault.Invalid("body", fmt.Sprint(err), "a JSON array of chunks")
	}
	return err
}
