package conditions

import (
	"encoding/json"
	"errors"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/search"
)

// Is is a filter with one condition on a field.
func Is(field, operator string, value any) search.Filter {
	return search.Filter{field: JSON(map[string]any{operator: value})}
}

// Join combines several filters by any_of or all_of.
func Join(how string, filters []search.Filter) search.Filter {
	if len(filters) == 1 {
		return filters[0]
	}
	return search.Filter{how: JSON(filters)}
}

// JSON is a value as JSON. All its arguments come from JSON.
func JSON(value any) json.RawMessage {
	encoded, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return encoded
}

// Sound is a filter on one field, whose name and value stand at these places of the caller's body,
// where a search takes it.
func Sound(filter search.Filter, name, value string) (search.Filter, error) {
	_, err := search.ParseFilter(filter)
	var refused *fault.Error
	switch {
	case err == nil:
		return filter, nil
	case !errors.As(err, &refused):
		return nil, err
	case refused.Field == "filter": // it is about the name alone
		return nil, refused.Called(name)
	default:
		return nil, refused.Called(value)
	}
}
