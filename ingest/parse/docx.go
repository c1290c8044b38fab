package parse

import (
	"encoding/xml"
	"strconv"
	"strings"
)

func init() { formats[".docx"], formats[".docm"] = readDOCX, readDOCX }

// readDOCX reads a document of a word processor (WordprocessingML): headings by their styles, paragraphs,
// lists and tables.
func readDOCX(f *file) ([]section, error) {
	a, err := openArchive(f.source)
	if err != nil {
		return nil, err
	}
	name := "word/document.xml"
	if a.parts[name] == nil {
		return nil, refused("damaged, or no document of a word processor: %s is missing", name)
	}
	r := docxReader{}
	r.put = r.add
	if r.styles, err = a.paragraphStyles(); err != nil {
		return nil, err
	}
	err = a.events(name, r.token)
	return r.sections, err
}

// styles holds the paragraph styles with a meaning, by id.
type styles struct {
	titles, lists map[string]bool
	levels        map[string]int // of headings, from 1
}

func (a *archive) paragraphStyles() (known styles, err error) {
	known = styles{map[string]bool{}, map[string]bool{}, map[string]int{}}
	var style string
	err = a.events("word/styles.xml", func(_ *xml.Decoder, token xml.Token) error {
		e, is := token.(xml.StartElement)
		if !is {
			return nil
		}
		switch e.Name.Local {
		case "style":
			style = attribute(&e, "styleId")
		case "name":
			switch name := strings.ToLower(attribute(&e, "val")); {
			case name == "title":
				known.titles[style] = true
			case strings.HasPrefix(name, "heading "):
				known.levels[style] = levelOf(strings.TrimPrefix(name, "heading "), 0)
			}
		case "outlineLvl":
			if known.levels[style] == 0 {
				known.levels[style] = levelOf(attribute(&e, "val"), 1)
			}
		case "numPr":
			known.lists[style] = true
		}
		return nil
	})
	return known, err
}

// maxLevel is the deepest heading.
const maxLevel = 9

// levelOf is the level that a number says, counted from 1 where it is counted from another; 0: none.
func levelOf(number string, more int) int {
	n, err := strconv.Atoi(number)
	if n += more; err != nil || n < 1 || n > maxLevel {
		return 0
	}
	return n
}

type docxReader struct {
	office
	styles
	below  int // how many levels the titles take
	style  string
	level  int  // of the paragraph, as a heading; 0: it is none
	listed bool // it is an item of a list
}

func (r *docxReader) token(d *xml.Decoder, token xml.Token) error {
	switch e := token.(type) {
	case xml.StartElement:
		switch e.Name.Local {
		case "p":
			r.style, r.level, r.listed = "", 0, false
		case "pStyle":
			r.style = attribute(&e, "val")
			r.level, r.listed = r.levels[r.style], r.lists[r.style]
		case "outlineLvl":
			r.level = levelOf(attribute(&e, "val"), 1)
		case "numPr":
			r.listed = true
		case "sectPr", "pPrChange", "rPrChange": // what was, or how it looks
			return d.Skip()
		}
	case xml.EndElement:
		if e.Name.Local == "p" {
			r.end(r.endParagraph())
		}
	}
	return r.office.token(d, token)
}

func (r *docxReader) end(text string) {
	switch {
	case text == "":
	case r.titles[r.style]:
		r.enter(1, text)
		r.below = 1
	case r.level > 0:
		r.enter(r.below+r.level, text)
	case r.listed:
		r.put(block{text: "- " + text, tight: true})
	default:
		r.put(block{text: text})
	}
}
