package engine

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"
)

// Lexicon is an engine that can search the vocabulary of its text fields. Both methods look
// only at chunks that pass the filter: no word, count or id reveals a chunk that the caller
// may not see.
type Lexicon interface {
	// Words returns the matching words of a text field, by descending number of chunks,
	// then by word. An engine may omit rare words if very many match, and may estimate the
	// count of very frequent words from a sample.
	Words(ctx context.Context, req *WordsRequest) ([]Word, error)
	// Openings returns chunks with one of the words among the first tokens of the field, where titles and
	// questions are, nearest to the beginning first.
	Openings(ctx context.Context, req *OpeningsRequest) ([]string, error)
}

// WordsRequest asks for words as they are indexed: folded, and stemmed.
type WordsRequest struct {
	KB     KnowledgeBase
	Field  string
	Filter Filter
	// Prefix is a prefix of all wanted words. With Near it only bounds the search.
	Prefix string
	// Words are wanted regardless of Prefix.
	Words []string
	// Near, if set, requires words within Distance of one of these, see Distance.
	Near     []string
	Distance int
	Limit    int
	Samples  int // number of chunk ids per word, at least 1
}

// Matches reports whether a word is wanted.
func (r *WordsRequest) Matches(word string) bool {
	if slices.Contains(r.Words, word) {
		return true
	}
	if !strings.HasPrefix(word, r.Prefix) {
		return false
	}
	return len(r.Near) == 0 || slices.ContainsFunc(r.Near, func(near string) bool {
		return Distance(near, word, r.Distance) <= r.Distance
	})
}

// Keep returns Matches for words with the prefix; nil if all of them match.
func (r *WordsRequest) Keep() func(word []byte) bool {
	if len(r.Near) == 0 {
		return nil
	}
	return func(word []byte) bool { return r.Matches(string(word)) }
}

// Word is a word of a text field.
type Word struct {
	Text   string
	Chunks int      // with the word, that pass the filter
	In     []string // the ids of some of them, 1 to WordsRequest.Samples
}

// OpeningsRequest asks for chunks by the beginning of a field.
type OpeningsRequest struct {
	KB     KnowledgeBase
	Field  string
	Filter Filter
	Words  []string
	Within int // number of tokens that count as the beginning
	// Limit is the number of chunks returned, PerDocument the maximum per document.
	Limit, PerDocument int
}

// OpeningsExamined is the number of chunks whose documents an engine looks up.
const OpeningsExamined = 512

// Spread keeps the first n elements, at most perDocument of each document.
func Spread[T any](all []T, n, perDocument int, documentOf func(T) string) []T {
	counts := make(map[string]int, len(all))
	var kept []T
	for _, one := range all {
		if len(kept) == n {
			break
		}
		document := documentOf(one)
		if counts[document]++; counts[document] <= perDocument {
			kept = append(kept, one)
		}
	}
	return kept
}

// maxDistanceRunes bounds the words that are compared; longer ones never match.
const maxDistanceRunes = 64

// Distance is the number of letters to insert, remove, replace or swap with a neighbour to
// turn one word into the other; some number > most if it exceeds most.
func Distance(a, b string, most int) int {
	if a == b {
		return 0
	}
	var roomA, roomB [maxDistanceRunes]rune
	x, okA := runesOf(a, &roomA)
	y, okB := runesOf(b, &roomB)
	if gap := len(x) - len(y); !okA || !okB || gap > most || -gap > most {
		return most + 1
	}
	var rows [3][maxDistanceRunes + 1]int
	before, last, row := &rows[0], &rows[1], &rows[2]
	for j := range len(y) + 1 {
		last[j] = j
	}
	for i := 1; i <= len(x); i++ {
		row[0] = i
		least := i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			d := min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				d = min(d, before[j-2]+1)
			}
			row[j] = d
			least = min(least, d)
		}
		if least > most { // a swap looks back two rows, whose values are at least this row's minimum less one
			return most + 1
		}
		before, last, row = last, row, before
	}
	return last[len(y)]
}

func runesOf(s string, room *[maxDistanceRunes]rune) ([]rune, bool) {
	if len(s) > maxDistanceRunes && utf8.RuneCountInString(s) > maxDistanceRunes {
		return nil, false
	}
	n := 0
	for _, r := range s {
		room[n] = r
		n++
	}
	return room[:n], true
}
