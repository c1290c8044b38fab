package elastic

import (
	"strconv"

	"github.com/hybridge-search/hybridge/engine"
)

// readOwn reads the chunk in what a search gives of a document of the gateway's.
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
