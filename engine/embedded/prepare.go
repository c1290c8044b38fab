package embedded

import (
	"math"
	"slices"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/parallel"
	"github.com/hybridge-search/hybridge/lib/vector"
)

// prepared is a chunk with everything that can be computed before its row is known.
type prepared struct {
	entry

	tokens [][]string // by text field
	stored columns    // without the row
	err    error      // why it cannot be stored
}

// prepare works on all chunks, on several processors when there are many.
func (b *base) prepare(chunks []*engine.Chunk) []*prepared {
	all := make([]*prepared, len(chunks))
	parallel.Each(len(chunks), func(i int) { all[i] = b.prepareOne(chunks[i]) })
	return all
}

func (b *base) prepareOne(c *engine.Chunk) *prepared {
	p := &prepared{}
	p.record.id = c.ID
	if p.err = b.check(c); p.err != nil {
		return p
	}
	values := c.Filterable()
	for _, own := range []string{fieldDocumentID, fieldDocumentName, fieldOwner} { // in columns of their own
		delete(values, own)
	}
	fields, err := engine.EncodeStored(values)
	if err != nil {
		p.err = fault.Wrap(fault.InvalidArgument, err, "the metadata of chunk %q", c.ID)
		return p
	}
	body, err := engine.EncodeStored(c)
	if err != nil {
		p.err = fault.Wrap(fault.InvalidArgument, err, "chunk %q", c.ID)
		return p
	}
	p.record = record{
		id: c.ID, documentID: c.DocumentID, documentName: c.DocumentName, owner: c.Owner,
		available: c.Available, fields: fieldsOf(values),
	}
	p.stored = columns{record: p.record, ordinal: int64(c.Ordinal), fields: fields, body: body}
	size := len(fields) + len(body)
	for _, name := range b.table.vectors {
		data := blob(c.Vectors[name])
		p.stored.blobs = append(p.stored.blobs, data)
		p.vectors = append(p.vectors, vector.Unit(c.Vectors[name]))
		size += len(data)
	}
	p.record.bytes = uint32(min(size, math.MaxUint32))
	for _, field := range b.texts {
		p.tokens = append(p.tokens, b.engine.options.Tokenizer.Terms(c.FieldText(field)))
	}
	return p
}

// check is a safeguard: ingestion checks the same.
func (b *base) check(c *engine.Chunk) error {
	if c.ID == "" {
		return fault.Invalid("id", c.ID, "a name of the chunk, not empty")
	}
	for name, v := range c.Vectors {
		if v == nil {
			continue
		}
		if !slices.Contains(b.table.vectors, name) {
			return fault.Invalid("vector", name, engine.OneOf("a vector field", b.table.vectors))
		}
		if err := engine.CheckVector(name, v, b.kb.Dimensions); err != nil {
			return err
		}
	}
	return nil
}
