package engine

import "github.com/hybridge-search/hybridge/filter"

// Values gives what a condition or a facet sees in a field: one of the chunk's
// own fields, or a metadata key. Nil when the chunk has no such field.
func (c *Chunk) Values(field string) []filter.Value {
	if text, own := c.ownField(field); own {
		if text == "" {
			return nil
		}
		return []filter.Value{{V: text}}
	}
	switch v := c.Metadata[field].(type) {
	case nil:
		return nil
	case []any:
		values := make([]filter.Value, 0, len(v))
		for _, item := range v {
			if item != nil {
				values = append(values, filter.Value{V: item})
			}
		}
		return values
	default:
		return []filter.Value{{V: v}}
	}
}

func (c *Chunk) ownField(field string) (value string, own bool) {
	switch field {
	case "document_id":
		return c.DocumentID, true
	case "document_name":
		return c.DocumentName, true
	case "owner":
		return c.Owner, true
	case FieldWrittenAt: // metadata that were there before the field was are seen where it has no value
		return c.WrittenAt, c.WrittenAt != ""
	}
	if c.QA == nil {
		return "", false
	}
	switch field {
	case "title":
		return c.Title, true
	case "category":
		return c.Category, true
	case "date":
		return c.Date, true
	case "url":
		return c.URL, true
	case "group":
		return c.Group, true
	default:
		return "", false
	}
}
