package histories

import (
	"fmt"
	"slices"

	"github.com/anishathalye/porcupine"
)

// input is an operation as one chunk sees it.
type input struct {
	op    *Op
	given bool // the operation names the chunk
}

// output is what was told of the chunk.
type output struct {
	verdict Verdict
	read    State
}

// model is one chunk.
var model = porcupine.Model{
	Init: func() any { return State{} },
	Step: func(state, in, out any) (bool, any) {
		return step(state.(State), in.(input), out.(output))
	},
	DescribeOperation: func(in, out any) string {
		i, o := in.(input), out.(output)
		if i.op.Kind == Read && o.verdict == Done {
			return "read: " + o.read.String()
		}
		if i.op.Kind == Replace && !i.given {
			return fmt.Sprintf("replace %s without it: %s", DocumentID(i.op.Document), o.verdict)
		}
		return fmt.Sprintf("%s: %s", i.op, o.verdict)
	},
	DescribeState: func(state any) string { return state.(State).String() },
}

// step says whether a chunk may have answered so, and what it is afterwards.
func step(s State, in input, out output) (bool, State) {
	op := in.op
	if op.Kind == Read {
		return out.verdict == Unknown || s == out.read, s
	}
	if out.verdict == Refused {
		return true, s
	}
	if in.given && (op.Kind == Write || op.Kind == Replace) {
		return written(s, op, out.verdict)
	}
	meant := s.Present
	switch op.Kind {
	case Patch, Replace, Remove:
		meant = meant && s.Document == op.Document
	case RemoveOld:
		meant = meant && s.Status == Old
	case RemoveOne, Write, Read:
	}
	switch {
	case !meant:
		return out.verdict != Done || op.Kind != RemoveOne, s
	case out.verdict == Missing:
		return false, s
	case op.Kind == Patch:
		s.Members[op.Member] = op.Value
		return true, s
	default:
		return true, State{}
	}
}

func written(s State, op *Op, told Verdict) (bool, State) {
	foreign := s.Present && s.Document != op.Document
	next := State{Present: true, Document: op.Document, Value: op.Value, Status: op.Status}
	switch told {
	case Conflict:
		return foreign, s
	case Unknown:
		if foreign {
			return true, s
		}
		return true, next
	case Created:
		return !s.Present, next
	case Updated:
		return s.Present && !foreign, next
	case Done, Refused, Missing:
	}
	return !foreign, next
}

// of gives the history of one chunk.
func (h *History) of(chunk int) []porcupine.Operation {
	var all []porcupine.Operation
	for i := range h.events {
		e := &h.events[i]
		given := slices.Contains(e.op.Chunks, chunk)
		if !given && !h.mayMean(e.op, chunk) {
			continue
		}
		verdict, told := e.outcome.ByChunk[chunk]
		if !told {
			verdict = e.outcome.Verdict
		}
		if e.op.Kind == Read && verdict == Unknown { // which changes nothing
			continue
		}
		o := porcupine.Operation{
			ClientId: e.process, Input: input{e.op, given}, Call: e.call,
			Output: output{verdict, e.outcome.Read[chunk]}, Return: e.done,
		}
		if verdict == Unknown {
			o.Return = never
		}
		all = append(all, o)
	}
	return all
}

// mayMean reports whether an operation may change a chunk that it does not name.
func (h *History) mayMean(op *Op, chunk int) bool {
	switch op.Kind {
	case Patch, Replace, Remove:
		return slices.Contains(h.Plan.ChunksOf(op.Document), chunk)
	case RemoveOld:
		return true
	case Write, RemoveOne, Read:
	}
	return false
}
