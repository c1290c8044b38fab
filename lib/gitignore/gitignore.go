// Package gitignore tells which files of a folder git would not track, as its .gitignore files say.
package gitignore

import (
	"bytes"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Rule is one line of a .gitignore file.
type Rule struct {
	folder  string // of the file, with a slash behind it unless it is the root
	glob    string // of paths below the folder
	keeps   bool   // "!": what earlier rules ignore is kept
	folders bool   // it holds for folders only
}

// Parse reads a .gitignore file of a folder, "" for the root. Lines that are no pattern are
// left out, as git does.
func Parse(folder string, text []byte) []Rule {
	if folder != "" {
		folder += "/"
	}
	var rules []Rule
	for line := range bytes.Lines(text) {
		if r, ok := parse(strings.TrimRight(string(line), "\r\n")); ok {
			r.folder = folder
			rules = append(rules, r)
		}
	}
	return rules
}

func parse(line string) (r Rule, ok bool) {
	line = trimSpaces(line)
	if line == "" || line[0] == '#' {
		return r, false
	}
	line, r.keeps = strings.CutPrefix(line, "!")
	line, r.folders = strings.CutSuffix(line, "/")
	anchored := strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	if line == "" {
		return r, false
	}
	if !anchored {
		line = "**/" + line
	}
	if strings.HasSuffix(line, "/**") { // what is in a folder, not the folder itself
		line += "/*"
	}
	r.glob = withoutBraces(line)
	return r, doublestar.ValidatePattern(r.glob)
}

// trimSpaces takes spaces off the end, unless a backslash keeps them.
func trimSpaces(line string) string {
	trimmed := strings.TrimRight(line, " ")
	if len(trimmed) < len(line) && escapes(trimmed) {
		trimmed += " "
	}
	return trimmed
}

// escapes reports whether a text ends with a backslash that is not escaped itself.
func escapes(text string) bool {
	return (len(text)-len(strings.TrimRight(text, `\`)))%2 == 1
}

// withoutBraces escapes the braces, which mean nothing to git.
func withoutBraces(pattern string) string {
	var b strings.Builder
	for _, r := range pattern {
		if (r == '{' || r == '}') && !escapes(b.String()) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Ignored reports whether the last rule that matches a path, with slashes and below the root,
// ignores it. Of a folder that is ignored nothing can be kept: who walks does not enter it.
func Ignored(rules []Rule, path string, isFolder bool) bool {
	for i := len(rules) - 1; i >= 0; i-- {
		if rules[i].matches(path, isFolder) {
			return !rules[i].keeps
		}
	}
	return false
}

func (r *Rule) matches(path string, isFolder bool) bool {
	below, ok := strings.CutPrefix(path, r.folder)
	return ok && (isFolder || !r.folders) && doublestar.MatchUnvalidated(r.glob, below)
}
