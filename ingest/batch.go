package ingest

import (
	"errors"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

// Result is the fate of one line.
type Result struct {
	ID     string        `json:"id,omitempty"`
	Line   int           `json:"line"`
	Status engine.Status `json:"status" enum:"created,updated,failed"`
	Error  *Failure      `json:"error,omitempty"`
	// Engines has the fate of the chunk on each engine, where there are several.
	Engines []EngineResult `json:"engines,omitempty"`
}

// EngineResult is what one of several engines did with a chunk. What failed on
// one and not on others is made up for later.
type EngineResult struct {
	Engine string        `json:"engine"`
	Status engine.Status `json:"status" enum:"created,updated,failed"`
	Error  *Failure      `json:"error,omitempty"`
}

// Failure says why a line was not written, in the words of a problem document.
type Failure struct {
	Code   fault.Kind `json:"code"`
	Field  string     `json:"field,omitempty"`
	Detail string     `json:"detail"`
}

func failed(id string, line int, err error) Result {
	return Result{ID: id, Line: line, Status: engine.Failed, Error: failureOf(err)}
}

// failureOf shows a fault, and of other errors nothing: they are not meant for
// the caller.
func failureOf(err error) *Failure {
	var f *fault.Error
	if !errors.As(err, &f) {
		return &Failure{Code: fault.Internal, Detail: "internal error"}
	}
	return &Failure{Code: f.Kind, Field: f.Field, Detail: f.Detail}
}

// batch is a run of lines on its way: one result per line, and the chunks that
// are still to be written.
type batch struct {
	results []Result
	pending []pending
	bytes   int
	last    bool
	// down is set when nothing of the batch could be written because the
	// embedding service or the engine failed as a whole.
	down error
}

// pending is a chunk whose result is not known yet.
type pending struct {
	chunk engine.Chunk
	slot  int // of its result
}

func (b *batch) add(chunk engine.Chunk, line int) {
	b.pending = append(b.pending, pending{chunk: chunk, slot: len(b.results)})
	b.results = append(b.results, Result{ID: chunk.ID, Line: line})
}

// fail settles the pending chunks that the errors (by position) are about.
func (b *batch) fail(errs map[int]error) {
	if len(errs) == 0 {
		return
	}
	kept := b.pending[:0]
	for i, p := range b.pending {
		if err := errs[i]; err != nil {
			r := &b.results[p.slot]
			*r = failed(r.ID, r.Line, err)
			continue
		}
		kept = append(kept, p)
	}
	b.pending = kept
}

// failAll settles every pending chunk with the error of the whole call.
func (b *batch) failAll(err error) {
	for _, p := range b.pending {
		r := &b.results[p.slot]
		*r = failed(r.ID, r.Line, err)
	}
	b.pending = nil
}

func (b *batch) chunks() []engine.Chunk {
	chunks := make([]engine.Chunk, len(b.pending))
	for i, p := range b.pending {
		chunks[i] = p.chunk
	}
	return chunks
}

// settle takes over what the engine says, chunk by chunk.
func (b *batch) settle(outcomes []engine.WriteOutcome) {
	if len(outcomes) != len(b.pending) {
		b.failAll(fault.New(fault.Internal, "the engine answered %d outcomes for %d chunks",
			len(outcomes), len(b.pending)))
		return
	}
	for i, outcome := range outcomes {
		r := &b.results[b.pending[i].slot]
		r.Status = outcome.Status
		if outcome.Err != nil {
			*r = failed(r.ID, r.Line, outcome.Err)
		}
		r.Engines = engineResults(outcome.Engines)
	}
	b.pending = nil
}

func engineResults(outcomes []engine.OutcomeOn) []EngineResult {
	var results []EngineResult
	for _, o := range outcomes {
		result := EngineResult{Engine: o.Engine, Status: o.Status}
		if o.Err != nil {
			result.Status, result.Error = engine.Failed, failureOf(o.Err)
		}
		results = append(results, result)
	}
	return results
}
