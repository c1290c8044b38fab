package engine

import (
	"strings"
	"unicode"
)

// ChangesDirection reports whether a text has a character that changes the direction of writing: such a name
// can look like another one.
func ChangesDirection(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.Bidi_Control, r) })
}
