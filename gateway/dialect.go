package gateway

import (
	"reflect"

	"github.com/gofiber/fiber/v2"
)

// dialect is how another program's protocol differs from this API: members of a body and query
// parameters that are not known are ignored, and errors have a form of their own.
type dialect struct {
	// refusal tells an error, whose detail is in the caller's language.
	refusal  func(*fiber.Ctx, Problem) (status int, body any)
	problems reflect.Type // of such bodies
}
