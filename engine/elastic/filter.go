package elastic

import (
	"math"
	"slices"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/esquery"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/filter"
	"github.com/hybridge-search/hybridge/mappings"
	"github.com/hybridge-search/hybridge/textquery"
)

// filters renders the filters of every leg: the knowledge base's own
// filters, available chunks only, and the request's filter.
func (t *target) filters(f *engine.Filter) ([]esquery.Query, error) {
	all := slices.Clip(t.visible)
	if f.IDs != nil {
		all = append(all, t.IDFilter(f.IDs))
	}
	if len(f.Except) > 0 {
		all = append(all, not(t.IDFilter(f.Except)))
	}
	if f.Owner != "" {
		all = append(all, t.ownerFilter(f.Owner))
	}
	for i := range f.Conditions {
		clause, err := t.condition(&f.Conditions[i])
		if err != nil {
			return nil, err
		}
		all = append(all, clause)
	}
	phrases, err := t.phraseFilters(f)
	return append(all, phrases...), err
}

func (t *target) ownerFilter(owner string) esquery.Query {
	if t.Names.Owner == "" {
		return esquery.MatchNone{} // nobody's chunks are in this index
	}
	return esquery.Term{Field: t.Names.Owner, Value: mappings.ClipValue(owner)}
}

func (t *target) phraseFilters(f *engine.Filter) ([]esquery.Query, error) {
	if len(f.Required) == 0 && len(f.Excluded) == 0 {
		return nil, nil
	}
	var fields []mappings.TextField
	for _, name := range f.Fields {
		field, ok := t.Names.Text[name]
		if !ok {
			return nil, t.NoField("filter.fields", name)
		}
		fields = append(fields, field)
	}
	var all []esquery.Query
	for i := range f.Required {
		all = append(all, inAny(fields, &f.Required[i]))
	}
	for i := range f.Excluded {
		all = append(all, not(inAny(fields, &f.Excluded[i])))
	}
	return all, nil
}

// inAny matches a phrase, without slop, in any of the fields.
func inAny(fields []mappings.TextField, p *textquery.Phrase) esquery.Query {
	exact := &textquery.Phrase{Terms: p.Terms}
	if len(fields) == 1 {
		return newClauseBuilder(&fields[0], 1).phrase(exact, false)
	}
	either := esquery.Bool{MinimumShouldMatch: 1}
	for i := range fields {
		either.Should = append(either.Should, newClauseBuilder(&fields[i], 1).phrase(exact, false))
	}
	return either
}

func not(q esquery.Query) esquery.Query { return esquery.Bool{MustNot: []esquery.Query{q}} }

// column is where the field of a condition or a facet is stored.
type column struct {
	field string
	kind  columnKind
	of    string // the type of a native one
}

type columnKind int

const (
	absent   columnKind = iota // no chunk has it
	keywords                   // plain strings
	encoded                    // metadata, as package mappings encodes it
	native                     // a field of an attached index, of any type
)

func (t *target) column(name string) column {
	if t.Names.Metadata == "" {
		return t.attachedColumn(name)
	}
	if slices.Contains(mappings.Columns(t.KB.Kind), name) {
		return column{field: name, kind: keywords}
	}
	return column{field: t.Names.Metadata + "." + mappings.EncodeKey(name), kind: encoded}
}

func (t *target) attachedColumn(name string) column {
	switch name {
	case mappings.FieldDocumentID:
		name = t.Names.DocumentID
	case mappings.FieldDocumentName:
		name = t.Names.DocumentName
	}
	p, found := mappings.Lookup(t.Names.Live, name)
	searchable := []string{
		"keyword", "boolean", "byte", "short", "integer", "long", "unsigned_long", "half_float", "float", "double", "date",
	}
	if !found || !slices.Contains(searchable, p.Type) {
		return column{}
	}
	return column{field: name, kind: native, of: p.Type}
}

func (t *target) condition(c *filter.Condition) (esquery.Query, error) {
	if c.AnyOf != nil {
		return t.anyOf(c)
	}
	where := t.column(c.Field)
	var clause esquery.Query
	var err error
	switch {
	case where.kind == absent:
		clause = esquery.MatchNone{}
		if c.Exists != nil && !*c.Exists {
			clause = esquery.MatchAll{}
		}
	case c.Exists != nil:
		clause = esquery.Exists{Field: where.field}
		if !*c.Exists {
			clause = not(clause)
		}
	case c.Range != nil:
		clause, err = t.rangeClause(where, c)
	case c.Part != nil:
		clause = where.partClause(c.Part)
	default:
		clause, err = inClause(where, c)
	}
	if c.Not && err == nil {
		clause = not(clause)
	}
	return clause, err
}

// anyOf matches where all conditions of one of the lists do.
func (t *target) anyOf(c *filter.Condition) (esquery.Query, error) {
	either := esquery.Bool{MinimumShouldMatch: 1}
	for _, all := range c.AnyOf {
		var both esquery.Bool
		for i := range all {
			clause, err := t.condition(&all[i])
			if err != nil {
				return nil, err
			}
			both.Filter = append(both.Filter, clause)
		}
		either.Should = append(either.Should, both)
	}
	if c.Not {
		return not(either), nil
	}
	return either, nil
}

// inClause matches any of the values; a value of another type than the field's
// matches nothing.
func inClause(where column, c *filter.Condition) (esquery.Query, error) {
	values := make([]any, 0, len(c.In))
	for _, v := range c.In {
		if !finite(v) {
			return nil, fault.Invalid("filter."+c.Field, v.V, "a string, a finite number or a boolean")
		}
		if term, comparable := where.term(v); comparable {
			values = append(values, term)
		}
	}
	if len(values) == 0 {
		return esquery.MatchNone{}, nil
	}
	return esquery.Terms{Field: where.field, Values: values}, nil
}

// term returns a value as the column stores it; comparable is false for a type that it
// cannot store.
func (c column) term(v filter.Value) (term any, comparable bool) {
	switch c.kind {
	case encoded:
		return mappings.EncodeValue(v.V)
	case keywords:
		s, ok := v.V.(string)
		return mappings.ClipValue(s), ok
	case native:
		return v.V, true
	case absent:
	}
	return nil, false
}

func finite(v filter.Value) bool {
	switch x := v.V.(type) {
	case float64:
		return !math.IsNaN(x) && !math.IsInf(x, 0)
	case string, bool, int, int64:
		return true
	default:
		return false
	}
}

// rangeClause compares numbers with numbers and times with times.
func (t *target) rangeClause(where column, c *filter.Condition) (esquery.Query, error) {
	if *c.Range == (filter.Range{}) {
		return esquery.Exists{Field: where.field}, nil
	}
	if between, ok := c.Range.Moments(); ok {
		return t.inTime(where, c.Field, between), nil
	}
	for _, bound := range []*filter.Value{c.Range.GT, c.Range.GTE, c.Range.LT, c.Range.LTE} {
		if bound == nil {
			continue
		}
		if !finite(*bound) {
			return nil, fault.Invalid("filter."+c.Field, bound.V, "a finite number, or a time")
		}
		if _, number := bound.V.(float64); !number { // no order, or of two types
			return esquery.MatchNone{}, nil
		}
	}
	return where.numbers(c.Range), nil
}

// numbers matches a column with a number in a range of finite ones.
func (c column) numbers(r *filter.Range) esquery.Query {
	bound := func(v *filter.Value) any {
		if v == nil {
			return nil
		}
		term, _ := c.term(*v)
		return term
	}
	between := esquery.Range{
		Field: c.field, GT: bound(r.GT), GTE: bound(r.GTE), LT: bound(r.LT), LTE: bound(r.LTE),
	}
	switch {
	case c.kind == keywords, c.of == "keyword", c.of == "boolean":
		return esquery.MatchNone{}
	case c.kind == native:
		return between
	}
	if r.GT == nil && r.GTE == nil { // an open bound ends where the terms of numbers end
		between.GTE = mappings.TagNumber
	}
	if r.LT == nil && r.LTE == nil {
		between.LT = mappings.After(mappings.TagNumber)
	}
	return between
}

// holdingInPainless looks at every value of a column: a flattened field takes no wildcard query.
const holdingInPainless = `for (def v : doc[params.field]) {
  if (!(v instanceof String) || !v.startsWith(params.tag)) { continue; }
  String text = v.substring(params.tag.length());
  if (params.at == 'ends_with' ? text.endsWith(params.part) : text.contains(params.part)) { return true; }
}
return false;`

func (c column) partClause(p *filter.Part) esquery.Query {
	tag := ""
	switch {
	case c.kind == encoded:
		tag = mappings.TagString
	case c.kind == native && c.of != "keyword":
		return esquery.MatchNone{}
	}
	if p.At == filter.AtStart {
		return esquery.Prefix{Field: c.field, Value: tag + p.Text}
	}
	return esquery.Bool{Filter: []esquery.Query{
		esquery.Exists{Field: c.field},
		esquery.ScriptFilter{Script: esquery.Script{Source: holdingInPainless, Params: esquery.Params{Others: []esquery.Param{
			{Name: "field", Value: c.field},
			{Name: "tag", Value: tag},
			{Name: "at", Value: string(p.At)},
			{Name: "part", Value: p.Text},
		}}}},
	}}
}

func (t *target) availableFilter() esquery.Query {
	a := t.Names.Available
	switch {
	case a.Field == "":
		return nil
	case a.Below:
		return not(esquery.Range{Field: a.Field, LT: 1})
	default:
		return esquery.Term{Field: a.Field, Value: true}
	}
}
