// Package parse splits files into passages: Markdown, plain text and HTML.
//
// Time and memory are linear in the size of a file, whatever its bytes are: what would make
// a parser slower than that has a limit, and a file beyond it is refused with a
// fault.InvalidArgument that names the limit. A further format is one file, which adds
// itself to formats.
package parse

import (
	"bytes"
	"context"
	"path"
	"runtime/debug"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"

	"github.com/hybridge-search/hybridge/fault"
)

// Parser splits a file, whose name tells its format, into passages.
type Parser interface {
	Parse(ctx context.Context, name string, source []byte, options Options) ([]Passage, error)
}

// Passage is the text of a chunk.
type Passage struct {
	Title, Content string
	// The first and the last line in the file, from 1; 0: not known.
	First, Last int
}

// Here is the Parser that works in this process. It looks at the context only before it
// begins.
type Here struct{}

// Parse implements Parser. The error of a file that cannot be split has the field FieldFile
// or is fault.Unsupported. It may change source.
func (Here) Parse(ctx context.Context, name string, source []byte, options Options) (passages []Passage, err error) {
	read := formatOf(name)
	if read == nil {
		return nil, CheckFormat(name)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	defer func() {
		if r := recover(); r != nil {
			passages = nil
			err = &fault.Error{
				Kind: fault.InvalidArgument, Field: FieldFile, Detail: "its parser failed",
				Err: &panicError{value: r, stack: debug.Stack()},
			}
		}
	}()
	sections, err := read(source)
	if err != nil {
		return nil, err
	}
	return options.WithDefaults().split(sections)
}

// format turns a file into sections.
type format func(source []byte) ([]section, error)

// formats has the format of each extension. Each file adds its own.
var formats = map[string]format{}

// formatOf returns the format by the extension of a name; nil if it is not supported.
func formatOf(name string) format { return formats[strings.ToLower(path.Ext(name))] }

// CheckFormat refuses a file whose extension is not supported.
func CheckFormat(name string) error {
	if formatOf(name) != nil {
		return nil
	}
	err := fault.New(fault.Unsupported,
		"not Markdown (.md, .markdown), plain text (.txt, .text) or HTML (.html, .htm)")
	err.Field = FieldName
	return err
}

func utf8Only(read func([]byte) ([]section, error)) format {
	return func(source []byte) ([]section, error) {
		source, err := clean(source)
		if err != nil {
			return nil, err
		}
		return read(source)
	}
}

// readPage decodes a page that is not UTF-8 by the encoding that it declares, such as
// GB 18030.
func readPage(source []byte) ([]section, error) {
	if !utf8.Valid(source) {
		encoding, _, _ := charset.DetermineEncoding(source, "text/html")
		decoded, err := encoding.NewDecoder().Bytes(source)
		if err != nil {
			return nil, refused("neither UTF-8 nor the encoding that it declares")
		}
		source = decoded
	}
	source, err := clean(source)
	if err != nil {
		return nil, err
	}
	return readHTML(source)
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// clean refuses what is not text, and turns all line endings into newlines.
func clean(source []byte) ([]byte, error) {
	source = bytes.TrimPrefix(source, byteOrderMark)
	if bytes.IndexByte(source, 0) >= 0 {
		return nil, refused("binary: it holds NUL bytes")
	}
	if !utf8.Valid(source) {
		return nil, refused("not valid UTF-8")
	}
	source = bytes.ReplaceAll(source, []byte("\r\n"), []byte("\n"))
	return bytes.ReplaceAll(source, []byte("\r"), []byte("\n")), nil
}
