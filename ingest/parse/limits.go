package parse

import (
	"fmt"

	"github.com/hybridge-search/hybridge/fault"
)

// Limits of what is parsed. Real files stay far below.
const (
	// maxDepth is how deep lists and quotes of Markdown may be nested, in each other.
	maxDepth = 100
	// maxCells is how many cells, rows × columns, the tables of a Markdown file may have.
	maxCells = 400_000
	// maxBlocks is how many paragraphs, items, quotes and headings a Markdown file may have.
	maxBlocks = 600_000
	// maxMarkWork is the sum, over the marks ([ ] < ! * _ ~ `) of a Markdown file, of the bytes
	// that follow in the same paragraph, among which the other end of the mark is looked for.
	maxMarkWork = 3_000_000_000
	// maxElements is how many elements an HTML page may have. Those that are left open, as
	// <b> and <font>, count again in each block that follows.
	maxElements = 1_000_000
	// maxPassages is how many passages a file may be split into.
	maxPassages = 100_000
	// maxHeading is how many bytes a heading may have; a longer one is text.
	maxHeading = 500
)

// The fields that errors about a file name.
const (
	FieldName = "name"
	FieldFile = "file"
)

// refused is the error of a file that cannot be split.
func refused(format string, args ...any) error {
	err := fault.New(fault.InvalidArgument, format, args...)
	err.Field = FieldFile
	return err
}

// panicError is a panic of a parser, for the log.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v\n%s", e.value, e.stack) }
