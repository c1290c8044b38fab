package embedded

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/hybridge-search/hybridge/bm25"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/vector"
)

// prepared is a chunk with everything that can be worked out before it is
// known where it will be stored.
type prepared struct {
	entry

	tokens  [][]string // by text field
	columns []any      // of the table
	err     error      // it cannot be stored
}

// prepare works on all chunks, on several processors when there are many.
func (b *base) prepare(chunks []engine.Chunk) []*prepared {
	all := make([]*prepared, len(chunks))
	inPortions(len(chunks), func(i int) { all[i] = b.prepareOne(&chunks[i]) })
	return all
}

func (b *base) prepareOne(c *engine.Chunk) *prepared {
	p := &prepared{}
	p.record.id = c.ID
	if p.err = b.check(c); p.err != nil {
		return p
	}
	values := filterable(c)
	fields, err := encode(values)
	if err != nil {
		p.err = fault.Wrap(fault.InvalidArgument, err, "the metadata of chunk %q", c.ID)
		return p
	}
	body, err := encode(c)
	if err != nil {
		p.err = fault.Wrap(fault.InvalidArgument, err, "chunk %q", c.ID)
		return p
	}
	p.record = record{
		id: c.ID, documentID: c.DocumentID, documentName: c.DocumentName, owner: c.Owner,
		available: c.Available, fields: fieldsOf(values),
	}
	p.columns = []any{c.ID, c.DocumentID, c.DocumentName, c.Ordinal, c.Available, c.Owner, fields, body}
	size := len(fields) + len(body)
	for _, name := range b.table.vectors {
		data := blob(c.Vectors[name])
		p.columns = append(p.columns, data)
		p.vectors = append(p.vectors, vector.Unit(c.Vectors[name]))
		size += len(data)
	}
	p.record.bytes = uint32(min(size, math.MaxUint32))
	for _, field := range b.texts {
		p.tokens = append(p.tokens, b.engine.options.Tokenizer.Terms(c.FieldText(field)))
	}
	return p
}

// check guards against what ingestion refuses already.
func (b *base) check(c *engine.Chunk) error {
	if c.ID == "" {
		return fault.Invalid("id", c.ID, "a name of the chunk, not empty")
	}
	for name, v := range c.Vectors {
		if v == nil {
			continue
		}
		if !slices.Contains(b.table.vectors, name) {
			return fault.Invalid("vector", name, fmt.Sprintf("one of the vector fields %v", b.table.vectors))
		}
		if err := checkVector(name, v, b.kb.Dimensions); err != nil {
			return err
		}
	}
	return nil
}

func notFinite(x float32) bool { return x-x != 0 }

// qaFields are the fields of a question-answer pair that filters know.
var qaFields = []string{"title", "category", "date", "url", "group"}

// filterable gives what filters and facets see of a chunk beside its document
// and owner, by field.
func filterable(c *engine.Chunk) map[string][]any {
	all := map[string][]any{}
	add := func(field string) {
		for _, v := range c.Values(field) {
			all[field] = append(all[field], v.V)
		}
	}
	for field := range c.Metadata {
		add(field)
	}
	if c.QA != nil {
		for _, field := range qaFields {
			delete(all, field)
			add(field)
		}
	}
	for _, own := range []string{fieldDocumentID, fieldDocumentName, fieldOwner} {
		delete(all, own)
	}
	return all
}

func fieldsOf(values map[string][]any) []fieldValues {
	if len(values) == 0 {
		return nil
	}
	all := make([]fieldValues, 0, len(values))
	for name, list := range values {
		f := fieldValues{name: name, values: make([]engine.Value, len(list))}
		for i, v := range list {
			f.values[i] = engine.Value{V: v}
		}
		all = append(all, f)
	}
	return all
}

// encode is JSON without the escapes meant for HTML.
func encode(value any) (string, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return "", err
	}
	return string(bytes.TrimSuffix(out.Bytes(), []byte("\n"))), nil
}

// numbered is the text of a row.
type numbered struct {
	row  uint32
	text string
}

// tokenise adds texts to an index, on several processors.
func (b *base) tokenise(x *bm25.Index, texts []numbered) error {
	docs := make([]bm25.Doc, len(texts))
	inPortions(len(texts), func(i int) {
		docs[i] = bm25.Doc{Key: texts[i].row, Tokens: b.engine.options.Tokenizer.Terms(texts[i].text)}
	})
	return x.Add(docs)
}

// inPortions calls each for 0..n-1, on several processors when there are many.
func inPortions(n int, each func(i int)) {
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	const portion = 16
	for from := 0; from < n; from += portion {
		group.Go(func() error {
			for i := from; i < min(from+portion, n); i++ {
				each(i)
			}
			return nil
		})
	}
	_ = group.Wait() // nothing in it fails
}
