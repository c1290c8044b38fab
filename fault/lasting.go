package fault

import "errors"

// IsLasting reports whether a cause says that waiting does not mend it, as a setting that somebody
// changed: a cause says so by a method Lasting.
func IsLasting(err error) bool {
	var cause interface {
		error
		Lasting() bool
	}
	return errors.As(err, &cause) && cause.Lasting()
}
