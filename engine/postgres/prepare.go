package postgres

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/parallel"
)

// prepared is a chunk with everything that can be computed before its row is known.
type prepared struct {
	id, documentID string
	available      bool
	present        []bool // by vector field: whether it has a vector
	values         []any  // of the table's columns behind row and generation
	err            error  // why it cannot be stored
}

func (b *base) prepare(chunks []engine.Chunk) []*prepared {
	all := make([]*prepared, len(chunks))
	parallel.Each(len(chunks), func(i int) { all[i] = b.prepareOne(&chunks[i]) })
	return all
}

func (b *base) prepareOne(c *engine.Chunk) *prepared {
	p := &prepared{id: c.ID, documentID: c.DocumentID, available: c.Available}
	if p.err = b.check(c); p.err != nil {
		return p
	}
	metadata, err := engine.EncodeStored(c.Filterable())
	if err != nil {
		p.err = fault.Wrap(fault.InvalidArgument, err, "the metadata of chunk %q", c.ID)
		return p
	}
	if bytes.Contains(metadata, []byte(`\u0000`)) && hasNUL(c.Filterable()) {
		p.err = fault.New(fault.InvalidArgument, "the metadata of chunk %q has the character U+0000; leave it out", c.ID)
		return p
	}
	body, err := engine.EncodeStored(c)
	if err != nil {
		p.err = fault.Wrap(fault.InvalidArgument, err, "chunk %q", c.ID)
		return p
	}
	p.values = []any{c.ID, c.DocumentID, c.DocumentName, c.Ordinal, c.Available, lotOf(c.ID), metadata, body}
	for _, field := range b.table.vectors {
		v := b.table.unit(c.Vectors[field])
		p.present = append(p.present, v != nil)
		if v == nil {
			p.values = append(p.values, nil)
			continue
		}
		p.values = append(p.values, b.table.value(v))
	}
	return p
}

// row gives the values of all columns.
func (p *prepared) row(number, generation int64) []any {
	return append([]any{number, generation}, p.values...)
}

// maxName bounds values in a B-tree index, in bytes.
const maxName = 1024

// check is a safeguard: ingestion checks the same, except limits of PostgreSQL.
func (b *base) check(c *engine.Chunk) error {
	if c.ID == "" {
		return fault.Invalid("id", c.ID, "a name of the chunk, not empty")
	}
	for field, text := range map[string]string{
		"id": c.ID, "document_id": c.DocumentID, "document_name": c.DocumentName, "owner": c.Owner,
	} {
		if !storable(text) || len(text) > maxName {
			return fault.Invalid(field, text, fmt.Sprintf("at most %d bytes of UTF-8 without the character U+0000", maxName))
		}
	}
	for field, v := range c.Vectors {
		if v == nil {
			continue
		}
		if !slices.Contains(b.table.vectors, field) {
			return fault.Invalid("vector", field, engine.OneOf("a vector field", b.table.vectors))
		}
		if err := engine.CheckVector(field, v, b.kb.Dimensions); err != nil {
			return err
		}
	}
	return nil
}

// storable reports whether PostgreSQL accepts a text.
func storable(text string) bool { return utf8.ValidString(text) && !strings.ContainsRune(text, 0) }

// hasNUL looks for the one character that JSONB does not take.
func hasNUL(fields map[string][]any) bool {
	for name, values := range fields {
		if strings.ContainsRune(name, 0) {
			return true
		}
		for _, v := range values {
			if text, ok := v.(string); ok && strings.ContainsRune(text, 0) {
				return true
			}
		}
	}
	return false
}
