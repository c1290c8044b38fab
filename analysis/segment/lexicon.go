// Package segment cuts folded Chinese into words as gojieba's search mode does: into the
// most probable sequence of words by their frequencies, with a hidden Markov model for the
// single runes left over, and with the parts of a long word before it.
//
// Package jieba implements Segmenter by gojieba. Lexicon implements it in Go; it finds the
// same words and can cut just the surroundings of wanted words. It cuts questions, because
// somebody waits for them, and texts to highlight.
package segment

import (
	"crypto/sha256"
	"encoding/hex"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Segmenter cuts folded text by a dictionary. It is safe for concurrent use.
type Segmenter interface {
	// Segment appends the words of a text, the parts of a long word before the word. The
	// text must be UTF-8 without NUL.
	Segment(text string, words []Word) []Word
	// Lexicon is the same dictionary as a Lexicon, or nil if it is too large for one. The first
	// call may take a quarter of a second.
	Lexicon() *Lexicon
	// Fingerprint identifies the dictionary.
	Fingerprint() string
}

// rules must be raised whenever the same text may give other tokens than before: after a
// change of folding, segmenting or stemming, or with a new gojieba, Snowball or OpenCC.
const rules = "1"

// Fingerprint identifies dictionaries by their checksums, SHA-256 in hexadecimal digits. It
// changes whenever the same text may give other tokens.
func Fingerprint(dictionaries ...string) string {
	h := sha256.New()
	h.Write([]byte("rules " + rules + "\nunicode " + norm.Version + "\n"))
	for _, sum := range dictionaries {
		raw, err := hex.DecodeString(sum)
		if err != nil {
			panic("segment: the checksum " + sum + " has other than hexadecimal digits")
		}
		h.Write(raw)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// Word is a word in bytes of the text that was cut.
type Word struct {
	Start, End int
	Part       bool // of the longer word after it
}

// Lexicon is a dictionary as a tree of runes in flat tables. It never changes.
// https://github.com/yanyiwu/cppjieba (MPSegment, MixSegment, QuerySegment)
type Lexicon struct {
	fingerprint string

	tree  wordTree
	alone map[rune]bool       // words of one rune that a user added
	joins [utf8.RuneSelf]bool // see JoinsASCII
	model *wordModel
}

// Lexicon implements Segmenter.
func (l *Lexicon) Lexicon() *Lexicon { return l }

// Fingerprint implements Segmenter.
func (l *Lexicon) Fingerprint() string { return l.fingerprint }

// JoinsASCII reports whether a word of the dictionary begins with this byte of ASCII or
// has it next to an ideograph, so that a cut may join it to one.
func (l *Lexicon) JoinsASCII(b byte) bool { return l.joins[b] }
