// Package segment cuts stretches of folded Chinese into words, as gojieba's search
// mode does: the most probable sequence of words by their frequencies, what is left of
// single runes by a hidden Markov model, the parts of a long word in front of it.
//
// A Segmenter is whatever does so; package jieba has gojieba as one. Lexicon is one in
// Go, which cuts word for word the same and can cut only what is around wanted words:
// it has the questions, which are waited for, and the texts that are highlighted.
package segment

import (
	"crypto/sha256"
	"encoding/hex"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Segmenter cuts folded text by a dictionary. It is safe for concurrent use.
type Segmenter interface {
	// Segment appends the words of a text to others: the parts of a long word, then
	// the word. The text has no NUL and is UTF-8.
	Segment(text string, words []Word) []Word
	// Lexicon cuts the same by the same dictionary, wherever it is told to; nil if the
	// dictionary is too large for one.
	Lexicon() *Lexicon
	// Fingerprint is that of its dictionary.
	Fingerprint() string
}

// rules is raised whenever the same text may give other tokens than before: a change
// of folding, segmenting or stemming, or a new version of gojieba, Snowball or OpenCC.
const rules = "1"

// Fingerprint changes whenever texts may give other tokens by dictionaries that have
// these checksums.
func Fingerprint(dictionaries ...[sha256.Size]byte) string {
	h := sha256.New()
	h.Write([]byte("rules " + rules + "\nunicode " + norm.Version + "\n"))
	for _, sum := range dictionaries {
		h.Write(sum[:])
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// Word is a word in bytes of the text that was cut.
type Word struct {
	Start, End int
	Part       bool // of the longer word behind it
}

// Lexicon is a dictionary as a tree of runes in flat tables. It never changes.
// https://github.com/yanyiwu/cppjieba (MPSegment, MixSegment, QuerySegment)
type Lexicon struct {
	fingerprint string

	tree  wordTree
	alone map[rune]bool       // words of one rune that a user added
	edgy  [utf8.RuneSelf]bool // the ASCII that a word begins with, or has beside other runes
	model *wordModel
}

// Lexicon implements Segmenter.
func (l *Lexicon) Lexicon() *Lexicon { return l }

// Fingerprint implements Segmenter.
func (l *Lexicon) Fingerprint() string { return l.fingerprint }

// Edgy reports whether the dictionary has words with ideographs that begin with this
// byte of ASCII, or have it next to another rune: such ASCII may be joined or cut.
func (l *Lexicon) Edgy(b byte) bool { return l.edgy[b] }
