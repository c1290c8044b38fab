package embedded

import (
	"math"
	"slices"
	"unsafe"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/filter"
	"github.com/hybridge-search/hybridge/lib/parallel"
	"github.com/hybridge-search/hybridge/lib/vector"
)

// entry is a chunk as kept in memory.
type entry struct {
	row     uint32
	record  record
	vectors [][]float32 // unit vectors by vector field, nil where there is none
}

// Fields of every chunk that filters and facets know.
const (
	fieldDocumentID   = "document_id"
	fieldDocumentName = "document_name"
	fieldOwner        = "owner"
)

// record is the in-memory part of a chunk besides its tokens and vectors.
type record struct {
	id, documentID, documentName, owner string
	available                           bool
	bytes                               uint32 // in the file
	fields                              []fieldValues
}

type fieldValues struct {
	name   string
	values []filter.Value
}

func fieldsOf(values map[string][]any) []fieldValues {
	if len(values) == 0 {
		return nil
	}
	all := make([]fieldValues, 0, len(values))
	for name, list := range values {
		f := fieldValues{name: name, values: make([]filter.Value, len(list))}
		for i, v := range list {
			f.values[i] = filter.Value{V: v}
		}
		all = append(all, f)
	}
	return all
}

// each visits every field that has a value.
func (r *record) each(visit func(field string, values []filter.Value)) {
	own := func(field, value string) {
		if value != "" {
			visit(field, []filter.Value{{V: value}})
		}
	}
	own(fieldDocumentID, r.documentID)
	own(fieldDocumentName, r.documentName)
	own(fieldOwner, r.owner)
	for _, f := range r.fields {
		visit(f.name, f.values)
	}
}

// facet gives a field's values as text, in the order they were given.
func (r *record) facet(field string) []string {
	var out []string
	r.each(func(name string, values []filter.Value) {
		if name != field {
			return
		}
		for _, v := range values {
			if text, ok := v.Text(); ok {
				out = append(out, text)
			}
		}
	})
	return out
}

// A page of records has 1 << recordShift rows.
const recordShift = 8

// records are the chunks' records in pages addressed by row.
type records struct{ pages []*[1 << recordShift]record }

// at gives the record of a live row.
func (r *records) at(row uint32) *record {
	return &r.pages[row>>recordShift][row&(1<<recordShift-1)]
}

// with appends records; a page of older rows may get new ones at its end.
func (r records) with(add []entry) records {
	for i := range add {
		page := int(add[i].row >> recordShift)
		for len(r.pages) <= page {
			r.pages = append(r.pages, nil)
		}
		if r.pages[page] == nil {
			r.pages[page] = new([1 << recordShift]record)
		}
		*r.at(add[i].row) = add[i].record
	}
	return r
}

// without drops pages that hold no live row.
func (r records) without(removed []uint32, live *roaring.Bitmap) records {
	r.pages = dropDead(r.pages, recordShift, removed, live)
	return r
}

// strings is the size of the memory that a record points to.
func (r *record) strings() int64 {
	total := len(r.id) + len(r.documentID) + len(r.documentName) + len(r.owner)
	for _, f := range r.fields {
		total += int(unsafe.Sizeof(f)) + len(f.name) + len(f.values)*int(unsafe.Sizeof(filter.Value{}))
	}
	return int64(total)
}

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
