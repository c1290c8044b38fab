package typing

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hybridge-search/hybridge/analysis"
)

// edit replaces a piece of the question.
type edit struct {
	start, end int
	text       string
}

// apply makes all edits.
func apply(query string, edits []edit) string {
	slices.SortFunc(edits, func(a, b edit) int { return cmp.Compare(a.start, b.start) })
	var corrected strings.Builder
	at := 0
	for _, e := range edits {
		if e.start < at {
			continue // of the same word
		}
		corrected.WriteString(query[at:e.start])
		corrected.WriteString(e.text)
		at = e.end
	}
	corrected.WriteString(query[at:])
	if corrected.String() == query {
		return ""
	}
	return corrected.String()
}

// isMistyped reports whether one word is likely another, mistyped, and not merely a word that is
// missing in the texts: an inflection, or a word of the same length with another letter in one place.
func isMistyped(typed, form string, distance int) bool {
	x, y := []rune(typed), []rune(form)
	if len(y) < shortestWord || strings.ContainsFunc(form, func(r rune) bool { return !unicode.Is(unicode.Latin, r) }) {
		return false
	}
	if ending, longer := strings.CutPrefix(typed, form); longer && !strings.HasSuffix(form, ending) {
		return false // leaky is no mistyped leak; lleak and leakk are
	}
	from := 0
	for from < min(len(x), len(y)) && x[from] == y[from] {
		from++
	}
	if distance > 1 {
		return max(len(x), len(y))-from > longestEnding || from < shortestWord
	}
	if len(x) != len(y) || len(x) >= longWord || !slices.Equal(x[from+1:], y[from+1:]) {
		return true // a letter more, or less, or two swapped; or long enough
	}
	return len(x) > shortWord && (isVowel(x[from]) && isVowel(y[from]) || areNeighbours(x[from], y[from]))
}

func isVowel(r rune) bool { return strings.ContainsRune("aeiouy", r) }

// areNeighbours reports whether two letters are beside each other on a keyboard.
func areNeighbours(a, b rune) bool {
	for _, row := range []string{"qwertyuiop", "asdfghjkl", "zxcvbnm"} {
		if i, j := strings.IndexRune(row, a), strings.IndexRune(row, b); i >= 0 && j >= 0 {
			return i-j == 1 || j-i == 1
		}
	}
	return false
}

// joined reports whether a word is part of something longer, such as an address.
func joined(query string, token analysis.Token) bool {
	joins := func(r, beyond rune) bool {
		return strings.ContainsRune("-_./@'’:#\\&+=", r) && (unicode.IsLetter(beyond) || unicode.IsDigit(beyond))
	}
	before, size := utf8.DecodeLastRuneInString(query[:token.Start])
	beyond, _ := utf8.DecodeLastRuneInString(query[:token.Start-size])
	after, size := utf8.DecodeRuneInString(query[token.End:])
	behind, _ := utf8.DecodeRuneInString(query[token.End+size:])
	return unicode.IsDigit(before) || unicode.IsDigit(after) || joins(before, beyond) || joins(after, behind)
}

// isAbbreviation reports whether a word has a capital behind its first letter.
func isAbbreviation(word string) bool {
	_, size := utf8.DecodeRuneInString(word)
	return strings.ContainsFunc(word[size:], unicode.IsUpper)
}

// nearForms gives the forms to compare index words with: these are stems, without an ending.
func nearForms(word, stem string) []string {
	forms := []string{word}
	if stem != word {
		forms = append(forms, stem)
	}
	runes := []rune(word)
	for cut := 1; cut <= 4 && len(runes)-cut >= shortestWord; cut++ {
		if short := string(runes[:len(runes)-cut]); !slices.Contains(forms, short) {
			forms = append(forms, short)
		}
	}
	return forms
}

func firstRune(word string) string {
	_, size := utf8.DecodeRuneInString(word)
	return word[:size]
}

// inCaseOf gives a form the initial case of the typed text: a text may have it at the start of a sentence.
func inCaseOf(typed, form string) string {
	first, _ := utf8.DecodeRuneInString(typed)
	begins, size := utf8.DecodeRuneInString(form)
	switch {
	case form == "":
		return ""
	case form == strings.ToUpper(form): // of a heading
		return inCaseOf(typed, strings.ToLower(form))
	case isAbbreviation(form):
		return form
	case unicode.IsUpper(first):
		return string(unicode.ToUpper(begins)) + form[size:]
	default:
		return string(unicode.ToLower(begins)) + form[size:]
	}
}

// differsAt reports whether two words of the same length differ in one place and nowhere else.
func differsAt(form, typed []rune, at int) bool {
	return len(form) == len(typed) && slices.Equal(form[:at], typed[:at]) && slices.Equal(form[at+1:], typed[at+1:])
}

// hanRun is ideographs without anything between them.
type hanRun struct {
	runes  []rune
	starts []int // of each in the question, and the end of the last
}

// hanAround is the run around a character, and its place there.
func hanAround(query string, token analysis.Token) (run hanRun, at int) {
	start := token.Start
	for n := 0; n < chineseWord; n++ {
		r, size := utf8.DecodeLastRuneInString(query[:start])
		if !isHan(r) {
			break
		}
		start -= size
	}
	for i, r := range query[start:] {
		if !isHan(r) || start+i >= token.End && len(run.runes)-at >= chineseWord {
			break
		}
		if start+i == token.Start {
			at = len(run.runes)
		}
		run.runes, run.starts = append(run.runes, r), append(run.starts, start+i)
	}
	if n := len(run.runes); n > 0 {
		run.starts = append(run.starts, run.starts[n-1]+utf8.RuneLen(run.runes[n-1]))
	}
	return run, at
}
