package esquery

import "github.com/go-json-experiment/json/jsontext"

// Order is the direction of a sort.
type Order string

// The orders.
const (
	Ascending  Order = "asc"
	Descending Order = "desc"
)

// Sort orders hits by a field, or by "_score":
//
//	{"id": {"order": "asc"}}
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/sort-search-results.html
type Sort struct {
	Field string
	Order Order
	// Unmapped is the type to assume in an index without the field, which
	// fails the search otherwise.
	Unmapped string
}

// MarshalJSONTo implements json.MarshalerTo.
func (s Sort) MarshalJSONTo(enc *jsontext.Encoder) error {
	return wrap(enc, s.Field, struct {
		Order    Order  `json:"order"`
		Unmapped string `json:"unmapped_type,omitzero"`
	}{s.Order, s.Unmapped})
}

// ByScore puts the best score first and equal scores in the order of a field.
func ByScore(tieBreak string) []Sort {
	sorts := []Sort{{Field: "_score", Order: Descending}}
	if tieBreak != "" {
		sorts = append(sorts, Sort{Field: tieBreak, Order: Ascending})
	}
	return sorts
}
