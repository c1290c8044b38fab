package elastic

import (
	"strconv"

	"github.com/hybridge-search/hybridge/engine"
)

// readSource reads the chunk in what a search gives of an own document.
func readSource(r *jsonReader, text string, c *engine.Chunk) error {
	r.begin(text)
	readOwn(r, c)
	return r.end()
}

func readOwn(r reader, c *engine.Chunk) {
	for r.object(); r.more(); {
		if r.name() == "chunk" {
			*c = engine.Chunk{}
			readChunk(r, c)
		} else {
			r.skip()
		}
	}
}

// ownChunks are those of an answer, read while it is: nothing passes over a source
// before it is read.
type ownChunks struct {
	all     []engine.Chunk
	copied  []byte // the texts, which stay where the answer's do not
	passing bool   // they need not stay
}

// take reads a source, where somebody wants it.
func (o *ownChunks) take(r reader) (taken bool) {
	if o == nil {
		return false
	}
	o.all = append(o.all, engine.Chunk{})
	chunk := &o.all[len(o.all)-1]
	if o.passing {
		readOwn(r, chunk)
		return true
	}
	if o.copied == nil {
		o.copied = make([]byte, 0, r.left()) // at most that
	}
	r.copyTo(o.copied)
	readOwn(r, chunk)
	o.copied = r.copyTo(nil)
	return true
}

// empty keeps the memory, but for the texts.
func (o *ownChunks) empty() {
	clear(o.all)
	o.all, o.copied = o.all[:0], nil
}

// readChunk reads a chunk as encoding/json wrote it. A page is read in a fifth of the
// time that reflection takes.
func readChunk(r reader, c *engine.Chunk) {
	for r.object(); r.more(); {
		switch name := r.name(); name {
		case "ordinal":
			readInt(r, &c.Ordinal)
		case "available":
			c.Available = r.value() == "true"
		case "positions":
			decodeValue(r, &c.Positions)
		case "metadata":
			c.Metadata = r.members()
		default:
			if text := textMember(c, name); text != nil {
				*text = r.string()
			} else {
				r.skip()
			}
		}
	}
}

// textMember finds a text of a chunk by its name in JSON; nil: there is none.
func textMember(c *engine.Chunk, name string) *string {
	switch name {
	case "id":
		return &c.ID
	case "document_id":
		return &c.DocumentID
	case "document_name":
		return &c.DocumentName
	case "title":
		return &c.Title
	case "content":
		return &c.Content
	case "owner":
		return &c.Owner
	}
	qa := c.QA
	if qa == nil {
		qa = new(engine.QA)
	}
	text := pairMember(qa, name)
	if text != nil {
		c.QA = qa
	}
	return text
}

// pairMember is textMember for what only a question-answer pair has.
func pairMember(qa *engine.QA, name string) *string {
	switch name {
	case "question":
		return &qa.Question
	case "answer":
		return &qa.Answer
	case "full_answer":
		return &qa.FullAnswer
	case "summary":
		return &qa.Summary
	case "url":
		return &qa.URL
	case "category":
		return &qa.Category
	case "date":
		return &qa.Date
	case "group":
		return &qa.Group
	default:
		return nil
	}
}

func readInt(r reader, into *int) {
	n, err := strconv.Atoi(r.raw())
	if err != nil {
		r.fail(err.Error())
	}
	*into = n
}
