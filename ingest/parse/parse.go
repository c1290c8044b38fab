// Package parse splits files into passages: Markdown, plain text, HTML, PDF, tables (CSV, XLSX), and
// documents and slides of office programs (DOCX, PPTX).
//
// Time and memory are linear in the size of a file, whatever its bytes are: what would make
// a parser slower than that has a limit, and a file beyond it is refused with a
// fault.InvalidArgument that names the limit. A further format is one file, which adds
// itself to formats.
package parse

import (
	"context"
	"encoding/json"
	"maps"
	"path"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/hybridge-search/hybridge/fault"
)

// Parser splits a file, whose name tells its format, into passages.
type Parser interface {
	// Formats has the extensions of the files that it splits, as .md, each with what reads
	// it: nothing for this package, or another program.
	Formats() map[string]string
	Parse(ctx context.Context, name string, source []byte, options Options) (*Document, error)
}

// Document is the parsed content of a file.
type Document struct {
	Passages []Passage
	// Encoding is the detected encoding of a text that is not UTF-8, such as gb18030.
	Encoding string
	// Metadata is the file's own metadata, such as the front matter of Markdown.
	Metadata map[string]json.RawMessage
}

// Passage is the text of a chunk.
type Passage struct {
	Title, Content string
	// The first and the last line in the file, from 1; 0: not known.
	First, Last int
	// The first and the last page, or slide, from 1; 0: it has none.
	FirstPage, LastPage int
	// Boxes are where it stands, [n][5]float64: page, left, right, top and bottom in points, where that
	// is known.
	Boxes [][]float64
}

// Here is the Parser that works in this process. It looks at the context only before it
// begins.
type Here struct{}

// Parse implements Parser. The error of a file that cannot be split has the field FieldFile
// or is fault.Unsupported. It may change source.
func (Here) Parse(ctx context.Context, name string, source []byte, options Options) (document *Document, err error) {
	read := formats[extensionOf(name)]
	if read == nil {
		return nil, CheckFormat(Here{}.Formats(), name)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	defer func() {
		if r := recover(); r != nil {
			document = nil
			err = &fault.Error{
				Kind: fault.InvalidArgument, Field: FieldFile, Detail: "its parser failed",
				Err: &panicError{value: r, stack: debug.Stack()},
			}
		}
	}()
	f := &file{source: source}
	sections, err := read(f)
	if err != nil {
		return nil, err
	}
	f.Passages, err = options.WithDefaults().split(sections)
	return &f.Document, err
}

// file is a file being read.
type file struct {
	source []byte // may be changed
	Document
}

// format turns a file into sections.
type format func(*file) ([]section, error)

// formats has the format of each extension. Each file adds its own.
var formats = map[string]format{}

// Formats implements Parser.
func (Here) Formats() map[string]string {
	own := map[string]string{}
	for extension := range formats {
		own[extension] = ""
	}
	return own
}

func extensionOf(name string) string { return strings.ToLower(path.Ext(name)) }

// ReaderOf tells what reads a file of such a name, as Formats of the parser says.
func ReaderOf(p Parser, name string) string { return p.Formats()[extensionOf(name)] }

// CheckFormat refuses a file whose extension is not among those of Formats.
func CheckFormat(known map[string]string, name string) error {
	if _, found := known[extensionOf(name)]; found {
		return nil
	}
	err := fault.New(fault.Unsupported, "not one of the formats %s", strings.Join(slices.Sorted(maps.Keys(known)), " "))
	err.Field = FieldName
	return err
}
