package ingest

import (
	"errors"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

// Result is what became of one line.
type Result struct {
	ID     string        `json:"id,omitempty"`
	Line   int           `json:"line"`
	Status engine.Status `json:"status" enum:"created,updated,failed"`
	Error  *Failure      `json:"error,omitempty"`
	// Engines is what became of the chunk on each engine, if there are several.
	Engines []EngineResult `json:"engines,omitempty"`
}

// EngineResult is what became of a chunk on one of several engines. A write that failed on
// some of them only is repeated there later.
type EngineResult struct {
	Engine string        `json:"engine"`
	Status engine.Status `json:"status" enum:"created,updated,failed"`
	Error  *Failure      `json:"error,omitempty"`
}

// Failure says why a line was not written, as a problem document does.
type Failure struct {
	Code   fault.Kind `json:"code"`
	Field  string     `json:"field,omitempty"`
	Detail string     `json:"detail" locale:"text"`
}

func failed(id string, line int, err error) Result {
	return Result{ID: id, Line: line, Status: engine.Failed, Error: failureOf(err)}
}

// failureOf returns the details of a fault, and none of another error: those are not meant
// for the caller.
func failureOf(err error) *Failure {
	var f *fault.Error
	if !errors.As(err, &f) {
		return &Failure{Code: fault.Internal, Detail: "internal error"}
	}
	return &Failure{Code: f.Kind, Field: f.Field, Detail: f.Detail}
}

// batch is a number of lines under way: one result per line, and the chunks that are still
// to be written.
type batch struct {
	results []Result
	pending []pending
	bytes   int
	last    bool
	// encoding is that of the file, where it is not UTF-8.
	encoding string
	// outage is set if nothing could be written because the embedding service or the
	// engine failed as a whole.
	outage error
}

// pending is a chunk without a result yet.
type pending struct {
	chunk  engine.Chunk
	result int // its index
}

func (b *batch) add(chunk engine.Chunk, line int) {
	b.pending = append(b.pending, pending{chunk: chunk, result: len(b.results)})
	b.results = append(b.results, Result{ID: chunk.ID, Line: line})
}

// fail sets the results of pending chunks to errors, by their index in pending.
func (b *batch) fail(errs map[int]error) {
	if len(errs) == 0 {
		return
	}
	kept := b.pending[:0]
	for i, p := range b.pending {
		if err := errs[i]; err != nil {
			r := &b.results[p.result]
			*r = failed(r.ID, r.Line, err)
			continue
		}
		kept = append(kept, p)
	}
	b.pending = kept
}

// failAll sets the results of all pending chunks to the error of the whole call.
func (b *batch) failAll(err error) {
	for _, p := range b.pending {
		r := &b.results[p.result]
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

// resolve sets the results of the pending chunks to the outcomes of the engine.
func (b *batch) resolve(outcomes []engine.WriteOutcome) {
	if len(outcomes) != len(b.pending) {
		b.failAll(fault.New(fault.Internal, "the engine answered %d outcomes for %d chunks",
			len(outcomes), len(b.pending)))
		return
	}
	for i, outcome := range outcomes {
		r := &b.results[b.pending[i].result]
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
