package storage

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/vector"
	"github.com/hybridge-search/hybridge/mappings"
	"github.com/hybridge-search/hybridge/scoring"
)

// document is a chunk as it stands in an index of the gateway: what is
// searched, filtered and sorted by, and the chunk itself under "chunk".
type document struct {
	ID           string              `json:"id"`
	Tenant       string              `json:"tenant"`
	KB           string              `json:"kb"`
	DocumentID   string              `json:"document_id"`
	DocumentName string              `json:"document_name,omitempty"`
	Owner        string              `json:"owner,omitempty"`
	Available    bool                `json:"available"`
	Ordinal      int                 `json:"ordinal"`
	Metadata     map[string][]string `json:"meta,omitempty"`
	Chunk        json.RawMessage     `json:"chunk"` // engine.Chunk
	qaColumns
	fields map[string]any // texts, their lengths and vectors by the index's field
}

type qaColumns struct {
	Category string `json:"category,omitempty"`
	Date     string `json:"date,omitempty"`
	Title    string `json:"title,omitempty"`
	URL      string `json:"url,omitempty"`
	Group    string `json:"group,omitempty"`
}

// MarshalJSON implements json.Marshaler: the fields stand beside the others.
func (d *document) MarshalJSON() ([]byte, error) {
	type plain document
	fixed, err := json.Marshal((*plain)(d))
	if err != nil || len(d.fields) == 0 {
		return fixed, err
	}
	fields, err := json.Marshal(d.fields)
	if err != nil {
		return nil, err
	}
	fixed[len(fixed)-1] = ','
	return append(fixed, fields[1:]...), nil
}

// ForgetSize takes the size out of a document: one of before sizes were kept has none, and that of a chunk is another
// when it is written again by another version.
func ForgetSize(document map[string]any) {
	forget(document, func(key string) bool { return key == mappings.KeyBytes })
}

// ForgetMoments takes the moments out of a document: one of before they were kept has none.
func ForgetMoments(document map[string]any) { forget(document, mappings.IsMoments) }

// forget takes keys of the metadata out of a document.
func forget(document map[string]any, which func(key string) bool) {
	all, ok := document[mappings.FieldMetadata].(map[string]any)
	if !ok {
		return
	}
	maps.DeleteFunc(all, func(key string, _ any) bool { return which(key) })
	if len(all) == 0 {
		delete(document, mappings.FieldMetadata)
	}
}

// maxKeyword bounds the bytes of an id, which is never cut because chunks are sorted by it.
const maxKeyword = 8192

// Document makes the document of a chunk, to be written as JSON.
func (s *Store) Document(loc *Location, c *engine.Chunk) (*document, error) {
	for field, id := range map[string]string{"id": c.ID, "document_id": c.DocumentID} {
		if id == "" || len(id) > maxKeyword {
			return nil, fault.Invalid(field, id, "1 to 8192 bytes long")
		}
	}
	body, err := engine.EncodeStored(c)
	if err != nil {
		return nil, err
	}
	d := &document{
		ID: c.ID, Tenant: loc.KB.Tenant, KB: loc.KB.ID, DocumentID: c.DocumentID,
		DocumentName: mappings.ClipValue(c.DocumentName), Owner: mappings.ClipValue(c.Owner),
		Available: c.Available, Ordinal: c.Ordinal, Metadata: filterable(c, len(body)),
		Chunk: body, fields: map[string]any{},
	}
	if loc.KB.Kind == engine.KindQA && c.QA != nil {
		d.qaColumns = qaColumns{
			Category: mappings.ClipValue(c.Category), Date: mappings.ClipValue(c.Date),
			Title: mappings.ClipValue(c.Title), URL: mappings.ClipValue(c.URL), Group: mappings.ClipValue(c.Group),
		}
	}
	for _, f := range loc.KB.StoredFields() {
		if f.Kind == scoring.Text {
			s.addText(d, loc.Names.Text[f.Name], c.FieldText(f.Name))
		}
	}
	return d, loc.addVectors(d, c)
}

// filterable are the metadata of a chunk and, among them, when it was written, how large it is and the moments of its
// times: so indexes of before these were kept take them too.
func filterable(c *engine.Chunk, size int) map[string][]string {
	all := mappings.EncodeMetadata(c.Metadata)
	all[mappings.KeyBytes] = []string{strconv.Itoa(size)}
	if c.WrittenAt != "" {
		all[mappings.EncodeKey(engine.FieldWrittenAt)] = []string{mappings.TagString + c.WrittenAt}
		all[mappings.KeyWritten] = []string{c.WrittenAt}
	}
	for field, values := range c.Filterable() {
		if moments := mappings.EncodeMoments(values); moments != nil {
			all[mappings.KeyMoments(field)] = moments
		}
	}
	return all
}

// addText adds the tokens of a text or, where Elasticsearch analyses it, the text. A text
// without a token is omitted: it must not count as a document of the field.
func (s *Store) addText(d *document, field mappings.TextField, text string) {
	tokens := s.tokenizer.Terms(text)
	if len(tokens) == 0 && (field.Tokens || strings.TrimSpace(text) == "") {
		return
	}
	if field.Tokens {
		text = strings.Join(tokens, " ")
	} else {
		text = s.tokenizer.Fold(text) // as the words of a query are
	}
	d.fields[field.Name] = text
	d.fields[field.Length] = len(tokens)
}

// addVectors adds the vectors, scaled to length 1. One of length 0 is omitted: it has no
// cosine, and Elasticsearch refuses it.
func (loc *Location) addVectors(d *document, c *engine.Chunk) error {
	for name, v := range c.Vectors {
		field, ok := loc.Names.Vectors[name]
		if !ok {
			return loc.NoField("vector", name)
		}
		scaled, err := UnitVector(v, field.Dims)
		if err != nil {
			return err
		}
		if scaled != nil {
			d.fields[field.Name] = scaled
		}
	}
	return nil
}

// UnitVector checks a vector and gives it length 1, so that no square under- or
// overflows in float32; nil for a vector of length 0, which has no cosine.
func UnitVector(v []float32, dims int) ([]float32, error) {
	if len(v) != dims {
		return nil, fault.Invalid("vector", strconv.Itoa(len(v))+" numbers", strconv.Itoa(dims)+" numbers")
	}
	if slices.ContainsFunc(v, func(x float32) bool { return x-x != 0 }) {
		return nil, fault.Invalid("vector", "with NaN or an infinite number in it", "finite numbers")
	}
	return vector.Unit(v), nil
}

// Refit gives chunks the vectors that another schema needs, see engine.Embed.
func (s *Store) Refit(
	ctx context.Context, from, to *engine.KnowledgeBase, chunks []*engine.Chunk,
) ([]*engine.Chunk, error) {
	return s.embed.Refit(ctx, from, to, chunks)
}
