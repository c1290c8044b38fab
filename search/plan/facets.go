package plan

import (
	"fmt"
	"slices"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/filter"
)

// The values of Request.FacetMode.
const (
	FacetConjunctive = "conjunctive" // all counts are of the answer set
	FacetDisjunctive = "disjunctive" // those of a field as if the filter said nothing of it
)

// FieldDocumentID is the field that Response.Documents counts.
const FieldDocumentID = "document_id"

// DisjunctiveFields are the fields counted without their own filter: of the
// facets, and the document, which is always counted.
func (r *Request) DisjunctiveFields() []string {
	if r.FacetMode != FacetDisjunctive {
		return nil
	}
	conditions, _ := filter.Parse(r.Filter) // its errors are reported where it is used
	var fields []string
	for i := range conditions {
		c := &conditions[i]
		if OnOneField(c) && (c.Field == FieldDocumentID || slices.Contains(r.Facets, c.Field)) {
			fields = append(fields, c.Field)
		}
	}
	slices.Sort(fields)
	return slices.Compact(fields)
}

// OnOneField tells conditions on a field from joined filters.
func OnOneField(c *filter.Condition) bool {
	return c.AnyOf == nil || c.Field == engine.FieldWrittenAt // several days, see writtenThen
}

func (r *Request) validateFacetMode() error {
	if m := r.FacetMode; m != "" && m != FacetConjunctive && m != FacetDisjunctive {
		return fault.Invalid("facet_mode", m, "conjunctive or disjunctive")
	}
	if n := len(r.DisjunctiveFields()); n > MaxDisjunctive {
		return &fault.Error{Kind: fault.InvalidArgument, Field: "facet_mode", Detail: fmt.Sprintf(
			"facet_mode disjunctive counts %d fields without the filter on them; at most %d are accepted", n, MaxDisjunctive)}
	}
	return nil
}
