package elastic

import (
	"slices"

	"github.com/hybridge-search/hybridge/esquery"
	"github.com/hybridge-search/hybridge/mappings"
)

// pieces are what most requests to a target have in common, made once for all of
// them. Nobody changes them.
type pieces struct {
	plain, scored string          // paths of a search
	available     esquery.Query   // nil: the index does not tell
	filters       []esquery.Query // own and available
	values        []string        // doc values that each hit carries
	sources       []string
	order         []esquery.Sort
	vectors       map[string]vectorPieces // by the engine's field
}

// vectorPieces are those of a vector field.
type vectorPieces struct {
	field  mappings.VectorField
	exists esquery.Query
	cosine string // source of the script
}

func (t *target) pieces() *pieces {
	if t.made != nil {
		return t.made
	}
	p := &pieces{
		plain: t.path("_search"), scored: t.path("_search", scoredParams...),
		available: t.available(), filters: slices.Clone(t.own), sources: t.sources(), order: esquery.ByScore(t.names.ID),
		vectors: make(map[string]vectorPieces, len(t.names.Vectors)),
	}
	if p.available != nil {
		p.filters = append(p.filters, p.available)
	}
	for _, field := range []string{t.names.ID, t.names.DocumentID, t.names.DocumentName} {
		if field != "" {
			p.values = append(p.values, field)
		}
	}
	for name, field := range t.names.Vectors {
		p.vectors[name] = vectorPieces{
			field: field, exists: esquery.Exists{Field: field.Name}, cosine: esquery.CosineScript(field.Name, nil).Source,
		}
	}
	return p
}

// and adds filters, of which there is a list for all requests.
func and(filters []esquery.Query, more ...esquery.Query) []esquery.Query {
	return slices.Concat(filters, more)
}
