package endpoint

import (
	"errors"
	"reflect"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/hybridge-search/hybridge/fault"
)

// Dialect describes how another program's protocol differs from this API: unknown fields of a body and
// query parameters are ignored, and errors have a form and names of their own.
type Dialect struct {
	// refusal tells an error, whose detail is in the caller's language.
	Refusal  func(*fiber.Ctx, Problem) (status int, body any)
	Problems reflect.Type // of such bodies
	// members are the places in the caller's body that stand for members of a search, by those.
	Members map[string]string
}

// Named renames the field of a search's error to its name in the caller's body. A name for
// filter.year.gt may be that of filter.year, or else of filter.
func (d *Dialect) Named(err error) error {
	var refused *fault.Error
	if d == nil || !errors.As(err, &refused) {
		return err
	}
	for member := refused.Field; member != ""; {
		if theirs, known := d.Members[member]; known {
			return refused.Called(theirs)
		}
		member = member[:max(strings.LastIndexAny(member, ".["), 0)]
	}
	return err
}
