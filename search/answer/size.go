package answer

import (
	"math"
	"sync/atomic"

	"github.com/dustin/go-humanize"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

// Allowance is the byte budget for the texts of an answer, and its current use. It is
// safe for concurrent use.
type Allowance struct {
	Limit int64 // 0: any number
	taken atomic.Int64

	Making      *atomic.Int64 // taken by all answers in progress; nil: not counted
	MakingLimit int64         // 0: any number
}

// Take fails if the answer has become too large. It is called while the answer grows, so
// that a refused one is never in memory as a whole.
func (a *Allowance) Take(bytes int) error {
	if a.Making != nil {
		if all := a.Making.Add(int64(bytes)); a.MakingLimit > 0 && all > a.MakingLimit {
			a.taken.Add(int64(bytes))
			return fault.New(fault.Overloaded, "answers of %s are being made, the most at a time (limits.sending_bytes)",
				humanize.IBytes(uint64(a.MakingLimit))) //nolint:gosec // > 0
		}
	}
	if taken := a.taken.Add(int64(bytes)); a.Limit > 0 && taken > a.Limit {
		return TooLarge(a.Limit)
	}
	return nil
}

// Done releases the bytes of the answer.
func (a *Allowance) Done() {
	if a.Making != nil {
		a.Making.Add(-a.taken.Load())
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

// Portion is how many chunks to read next, given the number of those read.
func (a *Allowance) Portion(read int) int {
	switch {
	case a.Limit == 0:
		return math.MaxInt
	case read == 0:
		return firstPortion
	}
	average := max(1, a.taken.Load()/int64(read))
	return int(min(max((a.Limit-a.taken.Load())/average, leastPortion), mostPortion))
}

// SizeOf is about the size of a chunk in an answer, in bytes.
func SizeOf(c *engine.Chunk) int {
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
