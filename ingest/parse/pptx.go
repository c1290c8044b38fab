package parse

import (
	"encoding/xml"
)

func init() { formats[".pptx"], formats[".pptm"] = readPPTX, readPPTX }

// readPPTX reads slides (PresentationML), in their order: each is a section, whose title is the slide's.
func readPPTX(f *file) ([]section, error) {
	a, err := openArchive(f.source)
	if err != nil {
		return nil, err
	}
	const name = "ppt/presentation.xml"
	if a.parts[name] == nil {
		return nil, refused("damaged, or no presentation: %s is missing", name)
	}
	targets, err := a.relations(name)
	if err != nil {
		return nil, err
	}
	var slides []string
	err = a.events(name, func(_ *xml.Decoder, token xml.Token) error {
		if e, is := token.(xml.StartElement); is && e.Name.Local == "sldId" {
			for _, at := range e.Attr {
				if at.Name.Local == "id" && at.Name.Space != "" { // r:id, and not id
					slides = append(slides, targets[at.Value])
				}
			}
		}
		return nil
	})
	r := slideReader{}
	r.put = func(b block) { r.said = append(r.said, b) }
	for i, slide := range slides {
		if err == nil {
			r.page, r.title, r.said = i+1, "", nil
			err = a.events(slide, r.token)
			r.endSlide()
		}
	}
	return r.sections, err
}

type slideReader struct {
	office
	isTitle bool // the shape is the slide's title
	title   string
	said    []block // of the slide
}

func (r *slideReader) token(d *xml.Decoder, token xml.Token) error {
	switch e := token.(type) {
	case xml.StartElement:
		switch e.Name.Local {
		case "sp":
			r.isTitle = false
		case "ph":
			kind := attribute(&e, "type")
			r.isTitle = kind == "title" || kind == "ctrTitle"
		case "sld":
			if attribute(&e, "show") == "0" {
				return d.Skip() // nobody sees it
			}
		}
	case xml.EndElement:
		if e.Name.Local == "p" {
			r.end(r.endParagraph())
		}
	}
	return r.office.token(d, token)
}

func (r *slideReader) end(text string) {
	switch {
	case text == "":
	case r.isTitle && r.title == "":
		r.title = text
	default:
		r.put(block{text: text, tight: true, page: r.page})
	}
}

// endSlide makes a section of the slide, whose title may stand anywhere in it.
func (r *slideReader) endSlide() {
	r.enter(1, r.title)
	if len(r.said) == 0 && r.title != "" {
		r.said = []block{{text: r.title, page: r.page}}
	}
	for _, b := range r.said {
		r.add(b)
	}
}
