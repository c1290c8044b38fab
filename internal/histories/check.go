package histories

import (
	"slices"
	"time"

	"github.com/anishathalye/porcupine"
)

// checkTime is how long an order is looked for that explains one chunk.
const checkTime = 20 * time.Second

// Violation is a chunk whose answers no order of the operations explains, or a count that cannot be.
type Violation struct {
	Chunk      int
	Text       string // for people, with the seed and what was done to the chunk
	operations []porcupine.Operation
}

// Check looks for chunks that lost or brought back what was acknowledged. undecided are those for which the time did
// not suffice.
func (h *History) Check() (violations []Violation, undecided int) {
	for _, wrong := range h.wrong {
		violations = append(violations, Violation{Chunk: -1, Text: h.title() + wrong})
	}
	for chunk := range h.Plan.Chunks() {
		operations := h.of(chunk)
		switch porcupine.CheckOperationsTimeout(model, operations, checkTime) {
		case porcupine.Illegal:
			operations = shortest(operations)
			violations = append(violations, Violation{chunk, h.told(chunk, operations), operations})
		case porcupine.Unknown:
			undecided++
		case porcupine.Ok:
		}
	}
	return violations, undecided
}

// shortest is the beginning of a wrong history that is wrong already.
func shortest(all []porcupine.Operation) []porcupine.Operation {
	ends := make([]int64, 0, len(all))
	for i := range all {
		ends = append(ends, all[i].Return)
	}
	slices.Sort(ends)
	low, high := 0, len(ends)-1
	for low < high {
		middle := (low + high) / 2
		if porcupine.CheckOperationsTimeout(model, until(all, ends[middle]), checkTime) == porcupine.Illegal {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return until(all, ends[high])
}

// until is the history up to a moment; what is under way then has no outcome yet.
func until(all []porcupine.Operation, moment int64) []porcupine.Operation {
	var some []porcupine.Operation
	for _, o := range all {
		switch {
		case o.Call > moment:
			continue
		case o.Return > moment:
			if o.Input.(input).op.Kind == Read {
				continue
			}
			o.Output, o.Return = output{}, never
		}
		some = append(some, o)
	}
	return some
}
