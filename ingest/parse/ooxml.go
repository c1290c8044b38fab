package parse

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"path"
	"strings"

	"github.com/hybridge-search/hybridge/fault"
)

// maxUnpacked is how many bytes the parts of an archive may have together.
const maxUnpacked = 128 << 20

// compound begins files of office programs before 2007, and encrypted ones of later programs.
const compound = "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"

// archive is a document of an office program: parts in a zip (ECMA-376, Office Open XML).
type archive struct {
	parts map[string]*zip.File
	left  int64 // bytes that may still be unpacked
}

func openArchive(source []byte) (*archive, error) {
	if bytes.HasPrefix(source, []byte(compound)) {
		return nil, refused("encrypted, or of a format before 2007; save it anew without a password")
	}
	zipped, err := zip.NewReader(bytes.NewReader(source), int64(len(source)))
	if err != nil {
		return nil, damaged(err)
	}
	a := &archive{parts: map[string]*zip.File{}, left: maxUnpacked}
	for _, part := range zipped.File {
		a.parts[strings.TrimPrefix(part.Name, "/")] = part
	}
	return a, nil
}

func damaged(err error) error { return refused("damaged: %v", err) }

// events reads a part; emit gets each element and text in it, and may skip the element that it gets. A
// part that is not there has none.
func (a *archive) events(name string, emit func(d *xml.Decoder, token xml.Token) error) error {
	part := a.parts[name]
	if part == nil {
		return nil
	}
	opened, err := part.Open()
	if err != nil {
		return damaged(err)
	}
	defer func() { _ = opened.Close() }() // it is in memory
	limited := &io.LimitedReader{R: opened, N: a.left}
	d := xml.NewDecoder(limited)
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			a.left = limited.N
			return nil
		}
		if err == nil {
			err = emit(d, token)
		}
		var own *fault.Error
		switch {
		case err == nil:
		case errors.As(err, &own):
			return own
		case limited.N == 0:
			return refused("more than %d bytes when it is unpacked", maxUnpacked)
		default:
			return refused("damaged: %s: %v", name, err)
		}
	}
}

// relations are the parts that a part refers to, by their ids.
func (a *archive) relations(name string) (targets map[string]string, err error) {
	targets = map[string]string{}
	folder, file := path.Split(name)
	err = a.events(folder+"_rels/"+file+".rels", func(_ *xml.Decoder, token xml.Token) error {
		if e, is := token.(xml.StartElement); is && e.Name.Local == "Relationship" {
			target := attribute(&e, "Target")
			if !strings.HasPrefix(target, "/") {
				target = path.Join(folder, target)
			}
			targets[attribute(&e, "Id")] = strings.TrimPrefix(target, "/")
		}
		return nil
	})
	return targets, err
}

func attribute(e *xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// cells collects the rows of a table; tables may be within cells.
type cells struct {
	rows, row []string
	text      strings.Builder
}

func (c *cells) endCell() {
	c.row = append(c.row, oneLine(c.text.String()))
	c.text.Reset()
}

func (c *cells) endRow() {
	if anyText(c.row) {
		c.rows = append(c.rows, strings.Join(c.row, " | "))
	}
	c.row = nil
}

// office reads paragraphs and tables, whose elements have the same names in documents and slides.
type office struct {
	headings
	paragraph strings.Builder
	tables    []*cells // open ones
	count     int      // of cells and paragraphs
	page      int
	put       func(block) // takes what was read
}

// token takes what is in both.
func (o *office) token(d *xml.Decoder, token xml.Token) error {
	switch e := token.(type) {
	case xml.StartElement:
		return o.begin(d, &e)
	case xml.EndElement:
		switch e.Name.Local {
		case "tc":
			if t := o.table(); t != nil {
				t.endCell()
			}
		case "tr":
			if t := o.table(); t != nil {
				t.endRow()
			}
		case "tbl":
			o.endTable()
		}
	}
	return nil
}

func (o *office) begin(d *xml.Decoder, e *xml.StartElement) error {
	switch e.Name.Local {
	case "t": // text
		var text string
		if err := d.DecodeElement(&text, e); err != nil {
			return err
		}
		o.paragraph.WriteString(text)
	case "tab":
		o.paragraph.WriteByte(' ')
	case "br", "cr":
		o.paragraph.WriteByte('\n')
	case "tbl":
		o.tables = append(o.tables, &cells{})
	case "Fallback", "del", "moveFrom", "instrText": // said already, taken out, or no text
		return d.Skip()
	case "p", "tc":
		if o.count++; o.count > maxCells {
			return refused("more than %d paragraphs and cells", maxCells)
		}
	}
	return nil
}

func (o *office) table() *cells {
	if len(o.tables) == 0 {
		return nil
	}
	return o.tables[len(o.tables)-1]
}

func (o *office) endTable() {
	t := o.table()
	if t == nil {
		return
	}
	o.tables = o.tables[:len(o.tables)-1]
	if outer := o.table(); outer != nil {
		outer.text.WriteString(strings.Join(t.rows, "; ") + " ")
		return
	}
	o.put(block{text: strings.Join(t.rows, "\n"), byLines: true, page: o.page})
}

// endParagraph gives the text of a paragraph that is not within a table.
func (o *office) endParagraph() (text string) {
	text = strings.TrimSpace(o.paragraph.String())
	o.paragraph.Reset()
	if t := o.table(); t != nil {
		t.text.WriteString(text + " ")
		return ""
	}
	return text
}
