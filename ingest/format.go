package ingest

import (
	"bytes"
	"path"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
)

// format turns a file into sections.
type format func(source []byte) ([]section, error)

// formatOf knows the format by the file's name; nil when it is none of ours.
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

func utf8Only(read func([]byte) []section) format {
	return func(source []byte) ([]section, error) {
		source, err := clean(source)
		if err != nil {
			return nil, err
		}
		return read(source), nil
	}
}

// readPage decodes what a page declares, as GB 18030, when it is not UTF-8.
func readPage(source []byte) ([]section, error) {
	if !utf8.Valid(source) {
		encoding, _, _ := charset.DetermineEncoding(source, "text/html")
		decoded, err := encoding.NewDecoder().Bytes(source)
		if err != nil {
			return nil, &skipped{"neither UTF-8 nor the encoding that it declares"}
		}
		source = decoded
	}
	source, err := clean(source)
	if err != nil {
		return nil, err
	}
	return readHTML(source)
}

// clean refuses what is no text and makes every line end a newline.
func clean(source []byte) ([]byte, error) {
	source = bytes.TrimPrefix(source, byteOrderMark)
	if bytes.IndexByte(source, 0) >= 0 {
		return nil, &skipped{"binary: it holds NUL bytes"}
	}
	if !utf8.Valid(source) {
		return nil, &skipped{"not valid UTF-8"}
	}
	source = bytes.ReplaceAll(source, []byte("\r\n"), []byte("\n"))
	return bytes.ReplaceAll(source, []byte("\r"), []byte("\n")), nil
}
