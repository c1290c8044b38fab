package engine

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"
)

// Lexicon is an engine that can look into the vocabulary of its text fields. Both methods
// look at chunks that pass the filter and nothing else: no word, count or id of theirs is
// of a chunk that the caller may not see.
type Lexicon interface {
	// Words gives the words of a text field that the request matches, by the number of
	// chunks with each, then by word. An engine may leave out rare words where very many
	// match, and may count a word of very many chunks by a sample.
	Words(ctx context.Context, req *WordsRequest) ([]Word, error)
	// Openings gives chunks with one of the words among the first tokens of the field, where
	// titles and questions are, those nearest to its beginning first.
	Openings(ctx context.Context, req *OpeningsRequest) ([]string, error)
}

// WordsRequest asks for words as they are indexed: folded, and stemmed.
type WordsRequest struct {
	KB     KnowledgeBase
	Field  string
	Filter Filter
	// Prefix begins all words wanted. With Near it only bounds the search.
	Prefix string
	// Words are wanted too, whatever they begin with.
	Words []string
	// Near, when set, wants words within Distance of one of these, see Distance.
	Near     []string
	Distance int
	Limit    int
	Samples  int // of how many chunks a word tells the ids, at least 1
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

// Keep is Matches for what has the prefix; nil where all of that is wanted.
func (r *WordsRequest) Keep() func(word []byte) bool {
	if len(r.Near) == 0 {
		return nil
	}
	return func(word []byte) bool { return r.Matches(string(word)) }
}

// Word is a word of a text field.
type Word struct {
	Text   string
	Chunks int      // that pass the filter and have it
	In     []string // the ids of some of them, 1 to WordsRequest.Samples
}

// OpeningsRequest asks for chunks by the beginning of a field.
type OpeningsRequest struct {
	KB     KnowledgeBase
	Field  string
	Filter Filter
	Words  []string
	Within int // how many tokens are the beginning
	// Limit is how many chunks are given, of them PerDocument of a document at most.
	Limit, PerDocument int
}

// OpeningsExamined is how many chunks an engine looks at for the documents that they are of.
const OpeningsExamined = 512

// Spread keeps the first n things, but only so many of each document.
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

// maxDistanceRunes bounds the words that are compared; longer ones are never alike.
const maxDistanceRunes = 64

// Distance is how many letters must be inserted, removed, replaced or swapped with their
// neighbour to make one word of the other; more than most where it is more than that.
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
		if least > most { // a swap looks back two rows, at what is no smaller than this row less one
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
