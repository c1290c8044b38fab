package cli

import (
	"strings"
	"unicode"
)

// wrapped breaks a text into lines by how wide a terminal shows them; those after the first begin with the indent.
// Between Chinese characters a line may end anywhere but before a mark that closes.
func wrapped(text, indent string, width int) string {
	var out strings.Builder
	used := len(indent)
	for _, word := range piecesOf(text) {
		space := strings.HasPrefix(word, " ")
		word = strings.TrimPrefix(word, " ")
		wide := terminal.StringWidth(word)
		switch {
		case out.Len() == 0:
		case used+wide > width || space && used+1+wide > width:
			out.WriteString("\n" + indent)
			used = len(indent)
		case space:
			out.WriteString(" ")
			used++
		}
		out.WriteString(word)
		used += wide
	}
	return out.String()
}

// piecesOf cuts a text where lines may end. A piece after a space begins with it.
func piecesOf(text string) (pieces []string) {
	for i, word := range strings.Fields(text) {
		piece := ""
		if i > 0 {
			piece = " "
		}
		var last rune
		for _, r := range word {
			if last != 0 && mayEndBetween(last, r) {
				pieces, piece = append(pieces, piece), ""
			}
			piece += string(r)
			last = r
		}
		pieces = append(pieces, piece)
	}
	return pieces
}

func mayEndBetween(last, next rune) bool {
	if strings.ContainsRune("，。；：、？！）》」”…", next) || strings.ContainsRune("（《「“", last) {
		return false
	}
	return isWide(last) || isWide(next)
}

func isWide(r rune) bool {
	return unicode.Is(unicode.Han, r) || strings.ContainsRune("，。；：、？！（）《》「」", r)
}
