package embedded

import (
	"bytes"
	"encoding/json"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

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

// qaFields are the fields of a question-answer pair that filters know.
var qaFields = []string{"title", "category", "date", "url", "group"}

// decode reads a chunk as the table keeps it.
func (b *base) decode(body string) (c engine.Chunk, err error) {
	if err := json.Unmarshal([]byte(body), &c); err != nil {
		return c, fault.Wrap(fault.Corrupt, err, "a stored chunk of knowledge base %q", b.kb.ID)
	}
	if b.kb.Kind == engine.KindQA && c.QA == nil {
		c.QA = &engine.QA{}
	}
	return c, nil
}
