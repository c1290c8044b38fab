package parse

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/wlynxg/chardet"
	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"
)

// ofText makes a format of one that reads UTF-8.
func ofText(read format) format {
	return func(f *file) ([]section, error) {
		if err := f.decode(); err != nil {
			return nil, err
		}
		return read(f)
	}
}

// ofPage is ofText for HTML, which may declare its encoding.
func ofPage(read format) format {
	return func(f *file) ([]section, error) {
		if !utf8.Valid(f.source) {
			if declared, name, _ := charset.DetermineEncoding(f.source, "text/html"); name != undeclared {
				return f.by(declared, name, read)
			}
		}
		return ofText(read)(f)
	}
}

// undeclared is the encoding assumed for a page that declares none.
const undeclared = "windows-1252"

func (f *file) by(from encoding.Encoding, name string, read format) ([]section, error) {
	if err := f.decodeBy(from, name); err != nil {
		return nil, err
	}
	return read(f)
}

const (
	byteOrderMark = "\xef\xbb\xbf"
	// sampled is the number of bytes used to detect an encoding.
	sampled = 256 << 10
)

// decode makes the source UTF-8 with newlines for line ends, and refuses what is not text.
func (f *file) decode() error {
	switch {
	case bytes.HasPrefix(f.source, []byte("\xff\xfe")):
		return f.decodeBy(unicode.UTF16(unicode.LittleEndian, unicode.UseBOM), "utf-16le")
	case bytes.HasPrefix(f.source, []byte("\xfe\xff")):
		return f.decodeBy(unicode.UTF16(unicode.BigEndian, unicode.UseBOM), "utf-16be")
	case utf8.Valid(f.source):
		return f.clean()
	case bytes.IndexByte(f.source, 0) >= 0:
		return refused("binary: it holds NUL bytes")
	}
	told := chardet.Detect(f.source[:min(len(f.source), sampled)])
	name := strings.ToLower(told.Charset)
	from, err := htmlindex.Get(name)
	if err != nil || told.Confidence < least {
		return refused("not valid UTF-8, and its encoding cannot be told")
	}
	return f.decodeBy(from, name)
}

// least is how sure an encoding must be, in [0, 1].
const least = 0.5

func (f *file) decodeBy(from encoding.Encoding, name string) error {
	if name == "gb2312" || name == "gbk" {
		from, name = simplifiedchinese.GB18030, "gb18030" // which has all of both
	}
	decoded, err := from.NewDecoder().Bytes(f.source)
	if err != nil {
		return refused("not valid %s", name)
	}
	if lost := bytes.Count(decoded, []byte("\uFFFD")); lost > len(decoded)/1000+1 {
		return refused("not valid UTF-8, nor %s", name)
	}
	f.source, f.Encoding = decoded, name
	return f.clean()
}

// clean refuses what is not text, and turns all line endings into newlines.
func (f *file) clean() error {
	f.source = bytes.TrimPrefix(f.source, []byte(byteOrderMark))
	if bytes.IndexByte(f.source, 0) >= 0 {
		return refused("binary: it holds NUL bytes")
	}
	f.source = bytes.ReplaceAll(f.source, []byte("\r\n"), []byte("\n"))
	f.source = bytes.ReplaceAll(f.source, []byte("\r"), []byte("\n"))
	return nil
}
