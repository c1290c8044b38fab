package rank

import (
	"slices"
	"unicode"

	"github.com/hybridge-search/hybridge/engine"
)

const (
	shingle      = 5  // characters of each
	mostMissing  = 10 // one in so many of the shorter text's may be missing in a near-duplicate
	tooShort     = 20 // characters of a text below which only an equal one is a near-duplicate
	mostLonger   = 2  // maximum length of a near-duplicate over that of a shorter text before it
	mostShingles = 2048
)

// shingles are all runs of five characters of a text, of its letters and digits alone and
// without regard to case, as sorted hashes. Of a long text they are the smallest hashes,
// which are a sample, and the same one of the same run in any text.
type shingles struct {
	hashes []uint32
	upTo   uint32 // hashes above are unknown
	length int    // characters
	short  string // the text, when it is too short to have enough of them
}

// NewShingles takes them out of a text.
func NewShingles(text string) shingles {
	runes := make([]rune, 0, len(text))
	for _, r := range text {
		if unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) {
			runes = append(runes, unicode.ToLower(r))
		}
	}
	s := shingles{length: len(runes), upTo: ^uint32(0)}
	if s.length < tooShort {
		s.short = string(runes)
		return s
	}
	s.hashes = make([]uint32, 0, len(runes)-shingle+1)
	for i := range len(runes) - shingle + 1 {
		s.hashes = append(s.hashes, hashRunes(runes[i:i+shingle]))
	}
	slices.Sort(s.hashes)
	s.hashes = slices.Compact(s.hashes)
	if len(s.hashes) > mostShingles {
		s.hashes = s.hashes[:mostShingles:mostShingles]
		s.upTo = s.hashes[mostShingles-1]
	}
	return s
}

// hashRunes spreads its hashes evenly: the smallest are no choice of characters.
func hashRunes(runes []rune) uint32 {
	h := uint64(len(runes))
	for _, r := range runes {
		h = (h ^ uint64(r)) * 0x9E3779B97F4A7C15 //nolint:gosec // runes are positive
		h ^= h >> 32
	}
	return uint32(h) //nolint:gosec // the lower half
}

// StandsFor reports whether another text, which ranks lower, is a near-duplicate. A much longer one
// is not, even if it contains all of this one: its content would be lost.
func (s *shingles) StandsFor(lower *shingles) bool {
	if s.length < tooShort || lower.length < tooShort {
		return s.length > 0 && s.length == lower.length && s.short == lower.short
	}
	if lower.length > mostLonger*s.length {
		return false
	}
	known := min(s.upTo, lower.upTo)
	a, b := s.until(known), lower.until(known)
	if len(a) > len(b) {
		a, b = b, a
	}
	missing := len(a) / mostMissing
	for _, hash := range a {
		for len(b) > 0 && b[0] < hash {
			b = b[1:]
		}
		if len(b) > 0 && b[0] == hash {
			continue
		}
		if missing--; missing < 0 {
			return false
		}
	}
	return true
}

// until gives the hashes up to one.
func (s *shingles) until(last uint32) []uint32 {
	if last >= s.upTo {
		return s.hashes
	}
	n, found := slices.BinarySearch(s.hashes, last)
	if found {
		n++
	}
	return s.hashes[:n]
}

// Original is a chunk that near-duplicates may be folded into.
type Original struct {
	Key
	Text shingles
}

// ChunkText is the text by which chunks are compared: content, or question and answer.
func ChunkText(chunk *engine.Chunk) string {
	if chunk.QA != nil {
		return chunk.Question + "\n" + chunk.Answer
	}
	return chunk.Content
}
