package gateway

import (
	"errors"
	"reflect"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/search"
)

// dialect is how another program's protocol differs from this API: members of a body and query
// parameters that are not known are ignored, and errors have a form and names of their own.
type dialect struct {
	// refusal tells an error, whose detail is in the caller's language.
	refusal  func(*fiber.Ctx, Problem) (status int, body any)
	problems reflect.Type // of such bodies
	// members are the places in the caller's body that stand for members of a search, by those.
	members map[string]string
}

// named says of an error of a search what the caller calls the member at fault. That of
// filter.year.gt is known by filter.year, or else by filter.
func (d *dialect) named(err error) error {
	var refused *fault.Error
	if d == nil || !errors.As(err, &refused) {
		return err
	}
	for member := refused.Field; member != ""; {
		if theirs, known := d.members[member]; known {
			return refused.Called(theirs)
		}
		member = member[:max(strings.LastIndexAny(member, ".["), 0)]
	}
	return err
}

// sound is a filter on one field, whose name and value stand at these places of the caller's body,
// where a search takes it.
func sound(filter search.Filter, name, value string) (search.Filter, error) {
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
