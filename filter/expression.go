package filter

import (
	"encoding/json"
	"errors"

	"github.com/hybridge-search/hybridge/fault"
)

// Expression maps a field to its condition, as in JSON; any_of, all_of and not join expressions.
type Expression map[string]json.RawMessage

// Is is an expression with one condition on a field.
func Is(field, operator string, value any) Expression {
	return Expression{field: JSON(map[string]any{operator: value})}
}

// Join combines several expressions by any_of or all_of.
func Join(how string, expressions []Expression) Expression {
	if len(expressions) == 1 {
		return expressions[0]
	}
	return Expression{how: JSON(expressions)}
}

// JSON is a value as JSON. All its arguments come from JSON.
func JSON(value any) json.RawMessage {
	encoded, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return encoded
}

// Checked returns an expression on one field if it can be parsed. Errors name the places of the field's name
// and value in the caller's body.
func Checked(expression Expression, name, value string) (Expression, error) {
	_, err := Parse(expression)
	var refused *fault.Error
	if !errors.As(err, &refused) {
		return expression, err
	}
	if refused.Field == "filter" { // it is about the name alone
		return nil, refused.Called(name)
	}
	return nil, refused.Called(value)
}
