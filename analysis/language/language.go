// Package language tells in which language a text is written: by its script where that
// decides; for Latin letters by the common words in it, and by a library's letter
// statistics where these say nothing. It is pure and safe for concurrent use.
package language

import (
	"iter"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/abadojack/whatlanggo"
)

// Language is an ISO 639-1 code: en, zh, ja. Empty: it cannot be told.
type Language = string

// latin are the languages that Latin letters are told apart into. With more of them short
// texts are taken for their neighbours: English for Scots, Spanish for Galician.
var latin = map[Language]whatlanggo.Lang{
	"en": whatlanggo.Eng, "de": whatlanggo.Deu, "fr": whatlanggo.Fra, "es": whatlanggo.Spa,
	"it": whatlanggo.Ita, "pt": whatlanggo.Por, "nl": whatlanggo.Nld,
}

// Alike reports whether a text in one of two languages may be taken for one in the other:
// letters do not tell them apart.
func Alike(a, b Language) bool {
	_, one := latin[a]
	_, other := latin[b]
	return one && other
}

// byLetters asks the library which of the languages a text is in; sure is false where the
// text is too short for statistics.
func byLetters(text string, among iter.Seq[Language]) (l Language, sure bool) {
	options := whatlanggo.Options{Whitelist: make(map[whatlanggo.Lang]bool, len(latin))}
	for l := range among {
		options.Whitelist[latin[l]] = true
	}
	found := whatlanggo.DetectWithOptions(text, options)
	return found.Lang.Iso6391(), found.IsReliable()
}

// enough limits the bytes of a text that are looked at: more do not change the answer.
const enough = 1000

// Of tells the language of a text. One of two languages has that of most of its letters;
// a Chinese or Japanese one keeps its own among Latin names, as a character of it is worth
// about two letters, and as names are no English.
func Of(text string) Language {
	if len(text) > enough {
		text = text[:enough]
	}
	n := count(text)
	east := n.han + n.kana + n.hangul
	switch {
	case n.latin+east < n.other:
		return ""
	case east == 0:
		return latinLanguage(text)
	case 2*east < n.latin && len(byWords(text)) > 0:
		return latinLanguage(text)
	case n.hangul > n.han+n.kana:
		return "ko"
	case 10*n.kana > n.han: // Japanese has kana between any few kanji
		return "ja"
	default:
		return "zh"
	}
}

// Code is the language of a tag as BCP 47 has them, en of "en-GB"; empty for what is none.
func Code(tag string) Language {
	tag = strings.ToLower(strings.TrimSpace(tag))
	if i := strings.IndexAny(tag, "-_"); i >= 0 {
		tag = tag[:i]
	}
	if len(tag) != 2 || tag[0] < 'a' || tag[0] > 'z' || tag[1] < 'a' || tag[1] > 'z' {
		return ""
	}
	return tag
}

// shares counts the letters of a text by script.
type shares struct{ han, kana, hangul, latin, other int }

func count(text string) shares {
	var n shares
	for _, r := range text {
		switch {
		case r < unicode.MaxASCII:
			if r|0x20 >= 'a' && r|0x20 <= 'z' {
				n.latin++
			}
		case !unicode.IsLetter(r):
		case unicode.Is(unicode.Latin, r):
			n.latin++
		case unicode.Is(unicode.Han, r):
			n.han++
		case unicode.In(r, unicode.Hiragana, unicode.Katakana):
			n.kana++
		case unicode.Is(unicode.Hangul, r):
			n.hangul++
		default:
			n.other++
		}
	}
	return n
}

// withoutWords is the maximum length in bytes of a text that has no common word of a language
// and yet is in one: longer ones are lists of names and numbers.
const withoutWords = 200

func latinLanguage(text string) Language {
	switch tied := byWords(text); len(tied) {
	case 0:
		if len(text) > withoutWords {
			return ""
		}
		l, sure := byLetters(text, maps.Keys(latin))
		if !sure {
			return ""
		}
		return l
	case 1:
		return tied[0]
	default:
		l, _ := byLetters(text, slices.Values(tied))
		return l
	}
}
