package ingest

import (
	"bytes"
	"path"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"

	"github.com/hybridge-search/hybridge/fault"
)

// format turns a file into sections.
type format func(source []byte) ([]section, error)

// formatOf returns the format by the extension of a name; nil if it is not supported.
func formatOf(name string) format {
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".markdown":
		return utf8Only(readMarkdown)
	case ".txt", ".text":
		return utf8Only(readText)
	case ".html", ".htm":
		return readPage
	default:
		return nil
	}
}

// CheckFormat refuses a file whose extension is not supported.
func CheckFormat(name string) error {
	if formatOf(name) != nil {
		return nil
	}
	return unsplit(fault.Unsupported, fieldName,
		"not Markdown (.md, .markdown), plain text (.txt, .text) or HTML (.html, .htm)")
}

func utf8Only(read func([]byte) []section) format {
	return func(source []byte) ([]section, error) {
		source, err := clean(source)
		if err != nil {
			return nil, err
		}
		return read(source), nil
	}
}

// readPage decodes a page that is not UTF-8 by the encoding that it declares, such as
// GB 18030.
func readPage(source []byte) ([]section, error) {
	if !utf8.Valid(source) {
		encoding, _, _ := charset.DetermineEncoding(source, "text/html")
		decoded, err := encoding.NewDecoder().Bytes(source)
		if err != nil {
			return nil, unsplit(fault.InvalidArgument, fieldFile, "neither UTF-8 nor the encoding that it declares")
		}
		source = decoded
	}
	source, err := clean(source)
	if err != nil {
		return nil, err
	}
	return readHTML(source)
}

// clean refuses what is not text, and turns all line endings into newlines.
func clean(source []byte) ([]byte, error) {
	source = bytes.TrimPrefix(source, byteOrderMark)
	if bytes.IndexByte(source, 0) >= 0 {
		return nil, unsplit(fault.InvalidArgument, fieldFile, "binary: it holds NUL bytes")
	}
	if !utf8.Valid(source) {
		return nil, unsplit(fault.InvalidArgument, fieldFile, "not valid UTF-8")
	}
	source = bytes.ReplaceAll(source, []byte("\r\n"), []byte("\n"))
	return bytes.ReplaceAll(source, []byte("\r"), []byte("\n")), nil
}
