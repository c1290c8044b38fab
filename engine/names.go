package engine

import (
	"strings"
	"unicode"
)

// ChangesDirection reports whether a text has a character that changes the direction in which
// what follows is shown: a name with one can look like another name.
func ChangesDirection(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.Bidi_Control, r) })
}
