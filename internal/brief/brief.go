// Package brief shortens what a failing test shows, so that what was done, got and wanted is seen at once.
package brief

import "fmt"

// shown is how many bytes are shown of what is long.
const shown = 600

// Of is the text, without its middle where it is long.
func Of[T ~string | ~[]byte](text T) string {
	if len(text) <= shown {
		return string(text)
	}
	const half = shown / 2
	return fmt.Sprintf("%s … %d of %d bytes are left out … %s",
		text[:half], len(text)-2*half, len(text), text[len(text)-half:])
}
