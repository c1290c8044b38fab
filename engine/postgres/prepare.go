package postgres

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"
	"golang.org/x/sync/errgroup"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/vector"
)

// prepared is a chunk with everything that can be worked out before its row is known.
type prepared struct {
	id, documentID string
	available      bool
	present        []bool // by vector field: it has a vector
	values         []any  // of the table's columns behind row and generation
	err            error  // it cannot be stored
}

func (b *base) prepare(chunks []engine.Chunk) []*prepared {
	all := make([]*prepared, len(chunks))
	inPortions(len(chunks), func(i int) { all[i] = b.prepareOne(&chunks[i]) })
	return all
}

func (b *base) prepareOne(c *engine.Chunk) *prepared {
	p := &prepared{id: c.ID, documentID: c.DocumentID, available: c.Available}
	if p.err = b.check(c); p.err != nil {
		return p
	}
	metadata, err := encode(filterable(c))
	if err != nil {
		p.err = fault.Wrap(fault.InvalidArgument, err, "the metadata of chunk %q", c.ID)
		return p
	}
	if bytes.Contains(metadata, []byte(`\u0000`)) && hasNUL(filterable(c)) {
		p.err = fault.New(fault.InvalidArgument, "the metadata of chunk %q has the character U+0000; leave it out", c.ID)
		return p
	}
	body, err := encode(c)
	if err != nil {
		p.err = fault.Wrap(fault.InvalidArgument, err, "chunk %q", c.ID)
		return p
	}
	lot := int64(xxhash.Sum64String(c.ID)) //nolint:gosec // any number will do
	p.values = []any{c.ID, c.DocumentID, c.DocumentName, c.Ordinal, c.Available, lot, metadata, body}
	for _, field := range b.table.vectors {
		v := vector.Unit(c.Vectors[field])
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

// maxName bounds what stands in a B-tree index, in bytes.
const maxName = 1024

// check guards against what ingestion refuses already, and what PostgreSQL cannot
// store.
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
			return fault.Invalid("vector", field, oneOf("a vector field", b.table.vectors))
		}
		if err := checkVector(field, v, b.kb.Dimensions); err != nil {
			return err
		}
	}
	return nil
}

// storable says whether PostgreSQL takes a text.
func storable(text string) bool { return utf8.ValidString(text) && !strings.ContainsRune(text, 0) }

// checkVector wants dims finite numbers.
func checkVector(field string, v []float32, dims int) error {
	if len(v) != dims {
		return fault.Invalid(field, fmt.Sprintf("[%d]float32", len(v)), fmt.Sprintf("a vector of %d numbers", dims))
	}
	if i := slices.IndexFunc(v, func(x float32) bool { return x-x != 0 }); i >= 0 {
		return fault.Invalid(fmt.Sprintf("%s[%d]", field, i), v[i], "a finite number")
	}
	return nil
}

func oneOf(what string, names []string) string {
	if len(names) == 0 {
		return what + ", of which this knowledge base has none"
	}
	return what + ": " + strings.Join(names, ", ")
}

// Fields of every chunk, and of a question-answer pair, that filters know.
const fieldOwner = "owner"

var (
	ownFields = []string{"document_id", "document_name", fieldOwner}
	qaFields  = []string{"title", "category", "date", "url", "group"}
)

// filterable gives what filters and facets see of a chunk: a list of values per
// field. A chunk's own fields stand before metadata of the same name.
func filterable(c *engine.Chunk) map[string][]any {
	all := map[string][]any{}
	add := func(field string) {
		if _, there := all[field]; there {
			return
		}
		for _, v := range c.Values(field) {
			all[field] = append(all[field], v.V)
		}
	}
	for _, field := range ownFields {
		add(field)
	}
	if c.QA != nil {
		for _, field := range qaFields {
			add(field)
		}
	}
	for field := range c.Metadata {
		add(field)
	}
	return all
}

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

// encode is JSON without the escapes meant for HTML.
func encode(value any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

// decode reads a chunk as the table keeps it.
func (b *base) decode(body []byte) (engine.Chunk, error) {
	var c engine.Chunk
	if err := json.Unmarshal(body, &c); err != nil {
		return c, fault.Wrap(fault.Corrupt, err, "a stored chunk of knowledge base %q", b.kb.ID)
	}
	if b.kb.Kind == engine.KindQA && c.QA == nil {
		c.QA = &engine.QA{}
	}
	return c, nil
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
