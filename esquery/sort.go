package esquery

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

func (w *writer) optSorts(all []Sort) {
	if len(all) == 0 {
		return
	}
	list(w, "sort", all, func(w *writer, s Sort) {
		w.begin(s.Field)
		w.text("order", string(s.Order))
		w.optText("unmapped_type", s.Unmapped)
		w.end()
	})
}

// ByScore puts the best score first and equal scores in the order of a field.
func ByScore(tieBreak string) []Sort {
	sorts := []Sort{{Field: "_score", Order: Descending}}
	if tieBreak != "" {
		sorts = append(sorts, Sort{Field: tieBreak, Order: Ascending})
	}
	return sorts
}
