package embedded

import (
	"unsafe"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/hybridge-search/hybridge/filter"
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
