package search

import (
	"context"
	"math"
	"sync/atomic"

	"github.com/dustin/go-humanize"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/scoring"
)

// allowance is how many bytes the texts of an answer may take, and how many they do. It is
// safe for concurrent use.
type allowance struct {
	limit int64 // 0: any number
	taken atomic.Int64

	all        *atomic.Int64 // taken by all answers that are being made; nil: not counted
	limitOfAll int64         // 0: any number
}

// take fails when the answer has become too large. It is asked while the answer grows, so
// that one that is refused never was in memory.
func (a *allowance) take(bytes int) error {
	if a.all != nil {
		if all := a.all.Add(int64(bytes)); a.limitOfAll > 0 && all > a.limitOfAll {
			a.taken.Add(int64(bytes))
			return fault.New(fault.Overloaded, "answers of %s are being made, the most at a time (limits.sending_bytes)",
				humanize.IBytes(uint64(a.limitOfAll))) //nolint:gosec // > 0
		}
	}
	if taken := a.taken.Add(int64(bytes)); a.limit > 0 && taken > a.limit {
		return TooLarge(a.limit)
	}
	return nil
}

// done gives back what the answer has taken of that of all.
func (a *allowance) done() {
	if a.all != nil {
		a.all.Add(-a.taken.Load())
	}
}

// TooLarge is the error of an answer over so many bytes.
func TooLarge(limit int64) error {
	return fault.New(fault.TooLarge, "the answer is over %s (limits.answer_bytes); ask for less: fewer hits by top_k "+
		"or by offset and limit, fewer or shorter fragments by highlight, fewer neighbours",
		humanize.IBytes(uint64(max(limit, 0))))
}

// Chunks of a page are read in portions: the first tells how large chunks are.
const (
	firstPortion = 128
	leastPortion = 16
	mostPortion  = 2048
)

// portion is how many of the chunks to read next, of which so many were read.
func (a *allowance) portion(read int) int {
	switch {
	case a.limit == 0:
		return math.MaxInt
	case read == 0:
		return firstPortion
	}
	average := max(1, a.taken.Load()/int64(read))
	return int(min(max((a.limit-a.taken.Load())/average, leastPortion), mostPortion))
}

// fetchAllowed reads the chunks of entries for the answer, as fetch does, in portions of
// what the answer may still take.
func (set *answerSet) fetchAllowed(
	ctx context.Context, entries []scoring.Fused, read reader,
) ([]*engine.Chunk, error) {
	all := make([]*engine.Chunk, 0, len(entries))
	for len(all) < len(entries) {
		rest := entries[len(all):]
		chunks, err := set.fetch(ctx, rest[:min(set.bytes.portion(len(all)), len(rest))], read)
		if err != nil && (len(all) == 0 || ctx.Err() != nil) {
			return nil, err // later ones are missing, which degrades the answer
		}
		all = append(all, chunks...)
		for _, chunk := range chunks {
			if chunk == nil {
				continue
			}
			if err := set.bytes.take(sizeOf(chunk)); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// sizeOf is about what a chunk takes in an answer, in bytes.
func sizeOf(c *engine.Chunk) int {
	size := len(c.ID) + len(c.DocumentID) + len(c.DocumentName) + len(c.Title) + len(c.Content) +
		len(c.FieldText(engine.PartKeywords)) + len(c.FieldText(engine.PartQuestions))
	if qa := c.QA; qa != nil {
		size += len(qa.Question) + len(qa.Answer) + len(qa.FullAnswer) + len(qa.Summary)
	}
	for _, p := range c.Positions {
		size += 8 * len(p)
	}
	return size + sizeOfValue(c.Metadata)
}

func sizeOfValue(value any) (size int) {
	switch v := value.(type) {
	case string:
		return len(v)
	case []any:
		for _, of := range v {
			size += sizeOfValue(of)
		}
	case map[string]any:
		for name, of := range v {
			size += len(name) + sizeOfValue(of)
		}
	}
	return size + 8
}
