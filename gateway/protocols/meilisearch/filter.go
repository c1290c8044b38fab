package meilisearch

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/filter"
)

// maxExpression bounds a filter expression in bytes, so also how deep its parser goes.
const maxExpression = 8 << 10

// meiliOr is a filter expression of Meilisearch's.
// https://www.meilisearch.com/docs/learn/filtering_and_sorting/filter_expression_reference
type meiliOr struct {
	Any []*meiliAnd `parser:"@@ ( 'OR' @@ )*"`
}

type meiliAnd struct {
	All []*meiliTerm `parser:"@@ ( 'AND' @@ )*"`
}

type meiliTerm struct {
	Not   *meiliTerm       `parser:"  'NOT' @@"`
	Group *meiliOr         `parser:"| '(' @@ ')'"`
	Is    *meiliComparison `parser:"| @@"`
}

// meiliComparison is a field and one condition on it.
type meiliComparison struct {
	Field    string      `parser:"@( Text | Word )"`
	Operator string      `parser:"( @Operator"`
	Value    string      `parser:"  @( Text | Word )"`
	In       []string    `parser:"| 'IN' '[' ( @( Text | Word ) ( ',' @( Text | Word ) )* ','? )? @']'"`
	Exists   bool        `parser:"| @'EXISTS'"`
	Is       *meiliBeing `parser:"| 'IS' @@"`
	Contains *string     `parser:"| 'CONTAINS' @( Text | Word )"`
	Starts   *string     `parser:"| 'STARTS' 'WITH' @( Text | Word )"`
	Negated  *meiliNot   `parser:"| 'NOT' @@"`
	From     string      `parser:"| @( Text | Word )"`
	To       string      `parser:"  'TO' @( Text | Word ) )"`
}

// meiliNot is the part of a condition after NOT, between a field and a value.
type meiliNot struct {
	In       []string `parser:"  'IN' '[' ( @( Text | Word ) ( ',' @( Text | Word ) )* ','? )? @']'"`
	Exists   bool     `parser:"| @'EXISTS'"`
	Contains *string  `parser:"| 'CONTAINS' @( Text | Word )"`
	Starts   *string  `parser:"| 'STARTS' 'WITH' @( Text | Word )"`
}

type meiliBeing struct {
	Not  bool   `parser:"@'NOT'?"`
	What string `parser:"@( 'NULL' | 'EMPTY' )"`
}

var meiliExpression = participle.MustBuild[meiliOr](
	participle.Lexer(lexer.MustSimple([]lexer.SimpleRule{
		{Name: "Text", Pattern: `"(\\.|[^"\\])*"|'(\\.|[^'\\])*'`},
		{Name: "Operator", Pattern: `!=|>=|<=|=|>|<`},
		{Name: "Bracket", Pattern: `[()\[\],]`},
		{Name: "Word", Pattern: `[^\s()\[\],"'=<>!]+`},
		{Name: "space", Pattern: `\s+`},
	})),
	participle.CaseInsensitive("Word"),
	participle.UseLookahead(3),
	participle.Map(unquoted, "Text"),
)

// unquoted takes the quotes off, and the backslashes before quotes and backslashes.
func unquoted(token lexer.Token) (lexer.Token, error) {
	var text strings.Builder
	for rest := token.Value[1 : len(token.Value)-1]; rest != ""; rest = rest[1:] {
		if rest[0] == '\\' && len(rest) > 1 {
			rest = rest[1:]
		}
		text.WriteByte(rest[0])
	}
	token.Value = text.String()
	return token, nil
}

// meiliFilter is a filter: an expression, or a list of expressions and of lists of them, which all
// hold, and of each inner list one.
type meiliFilter struct {
	expression string
	list       []meiliFilter
}

func (meiliFilter) Accepts() (accepted string) {
	return "an expression, or a list of expressions and of lists of them"
}

// UnmarshalJSON reads any of these.
func (f *meiliFilter) UnmarshalJSON(text []byte) error {
	if json.Unmarshal(text, &f.expression) == nil {
		return nil
	}
	var all []json.RawMessage
	err := json.Unmarshal(text, &all)
	f.list = make([]meiliFilter, len(all))
	for i := 0; err == nil && i < len(all); i++ {
		one := &f.list[i]
		if json.Unmarshal(all[i], &one.expression) == nil {
			continue
		}
		var either []string
		if err = json.Unmarshal(all[i], &either); err == nil {
			for _, expression := range either {
				one.list = append(one.list, meiliFilter{expression: expression})
			}
		}
	}
	return err
}

// filter is the search's; nil: there is none.
func (f *meiliFilter) filter() (filter.Expression, error) { return f.joined("all_of", "any_of") }

// joined joins its list by how, and lists within it by the other operator.
func (f *meiliFilter) joined(how, within string) (filter.Expression, error) {
	if f.list == nil {
		return parseExpression(f.expression)
	}
	var filters []filter.Expression
	for i := range f.list {
		one, err := f.list[i].joined(within, how)
		if err != nil {
			return nil, err
		}
		if one != nil {
			filters = append(filters, one)
		}
	}
	return either(how, filters), nil
}

func parseExpression(expression string) (filter.Expression, error) {
	if len(expression) > maxExpression {
		return nil, fault.Invalid("filter", expression, "expressions of at most 8192 bytes")
	}
	if strings.TrimSpace(expression) == "" {
		return nil, nil //nolint:nilnil // an empty expression filters nothing
	}
	parsed, err := meiliExpression.ParseString("", expression)
	if err != nil {
		return nil, fault.Invalid("filter", expression,
			"an expression such as \"genre\" = \"comedy\" AND year > 2000: "+err.Error())
	}
	return parsed.filter()
}

func (o *meiliOr) filter() (filter.Expression, error) {
	var filters []filter.Expression
	for _, and := range o.Any {
		var all []filter.Expression
		for _, term := range and.All {
			one, err := term.filter()
			if err != nil {
				return nil, err
			}
			all = append(all, one)
		}
		filters = append(filters, filter.Join("all_of", all))
	}
	return either("any_of", filters), nil
}

func (t *meiliTerm) filter() (filter.Expression, error) {
	switch {
	case t.Not != nil:
		inner, err := t.Not.filter()
		return negated(inner), err
	case t.Group != nil:
		return t.Group.filter()
	}
	return t.Is.filter()
}

var comparisons = map[string]string{">": "gt", ">=": "gte", "<": "lt", "<=": "lte"}

func (c *meiliComparison) filter() (filter.Expression, error) {
	if strings.HasPrefix(c.Field, "_geo") {
		return nil, fault.Invalid("filter", c.Field, "about fields: places are not known here")
	}
	switch {
	case c.Operator == "=":
		return filter.Expression{c.Field: filter.JSON(alike(c.Value))}, nil
	case c.Operator == "!=":
		return filter.Is(c.Field, "not", alike(c.Value)), nil
	case c.Operator != "":
		return filter.Is(c.Field, comparisons[c.Operator], c.bound(c.Value)), nil
	case c.In != nil:
		return oneOf(c.Field, c.In), nil
	case c.Exists:
		return filter.Is(c.Field, "exists", true), nil
	case c.Is != nil:
		return c.Is.filter(c.Field), nil
	case c.Contains != nil:
		return filter.Is(c.Field, "contains", *c.Contains), nil
	case c.Starts != nil:
		return filter.Is(c.Field, "starts_with", *c.Starts), nil
	case c.Negated != nil:
		return c.Negated.filter(c.Field), nil
	}
	return filter.Expression{c.Field: filter.JSON(map[string]any{"gte": c.bound(c.From), "lte": c.bound(c.To)})}, nil
}

// bound is a number if the value is one. Of written_at, 2026 is a year.
func (c *meiliComparison) bound(value string) any {
	if c.Field == engine.FieldWrittenAt {
		return value
	}
	return number(value)
}

func (n *meiliNot) filter(field string) filter.Expression {
	switch {
	case n.In != nil:
		return negated(oneOf(field, n.In))
	case n.Contains != nil:
		return negated(filter.Is(field, "contains", *n.Contains))
	case n.Starts != nil:
		return negated(filter.Is(field, "starts_with", *n.Starts))
	}
	return filter.Is(field, "exists", false)
}

// filter of NULL and EMPTY: a field without a value is not stored, an empty text is.
func (b *meiliBeing) filter(field string) filter.Expression {
	if strings.EqualFold(b.What, "NULL") {
		return filter.Is(field, "exists", b.Not)
	}
	empty := filter.Join("any_of", []filter.Expression{
		filter.Is(field, "exists", false), {field: filter.JSON("")},
	})
	if b.Not {
		return negated(empty)
	}
	return empty
}

// oneOf builds a condition that a field has one of the values, whose list ends with a bracket.
func oneOf(field string, values []string) filter.Expression {
	var list []any
	for _, value := range values[:len(values)-1] {
		list = append(list, alike(value)...)
	}
	if list == nil { // nothing is one of none
		return filter.Join("all_of", []filter.Expression{
			filter.Is(field, "exists", true), filter.Is(field, "exists", false),
		})
	}
	return filter.Expression{field: filter.JSON(list)}
}

// alike gives the possible values of an untyped value in an expression: the text, and the
// number, true or false that it spells.
func alike(value string) []any {
	values := []any{value}
	switch n := number(value).(type) {
	case float64:
		values = append(values, n)
	default:
		if value == "true" || value == "false" {
			values = append(values, value == "true")
		}
	}
	return values
}

// number parses a value, if it is a number.
func number(value string) any {
	if n, err := strconv.ParseFloat(value, 64); err == nil && json.Valid([]byte(value)) {
		return n
	}
	return value
}

func negated(f filter.Expression) filter.Expression { return filter.Expression{"not": filter.JSON(f)} }

// either joins filters; any of several about the values of one field is one of their values,
// however many they are.
func either(how string, filters []filter.Expression) filter.Expression {
	if len(filters) == 0 {
		return nil
	}
	if how == "any_of" {
		if values := valuesOf(filters); values != nil {
			for field := range filters[0] {
				return filter.Expression{field: filter.JSON(values)}
			}
		}
	}
	return filter.Join(how, filters)
}

// valuesOf collects the values of filters that all list values of the same field; else nil.
func valuesOf(filters []filter.Expression) (all []any) {
	for _, f := range filters {
		for field, raw := range f {
			var values []any
			if _, same := filters[0][field]; !same || len(f) > 1 || json.Unmarshal(raw, &values) != nil || isJoin(field) {
				return nil
			}
			all = append(all, values...)
		}
	}
	return all
}

func isJoin(name string) bool { return name == "any_of" || name == "all_of" || name == "not" }
