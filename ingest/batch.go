package ingest

import (
	"errors"
	"hash/maphash"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

// Result is the result for one line.
type Result struct {
	ID     string        `json:"id,omitempty"`
	Line   int           `json:"line"`
	Status engine.Status `json:"status" enum:"created,updated,failed"`
	Error  *Failure      `json:"error,omitempty"`
	// Earlier is the line of the same request that had the id before; of a request with more than 131,072 lines only
	// those are looked at.
	Earlier int `json:"earlier_line,omitempty"`
	// Engines is the result by engine, if there are several.
	Engines []EngineResult `json:"engines,omitempty"`
}

// EngineResult is the result for a chunk on one of several engines. A write that failed on
// some of them is repeated there later.
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

// fail sets the result of a line to an error.
func (r *Result) fail(err error) {
	r.Status, r.Error = engine.Failed, failureOf(err)
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
	// encoding is the file's encoding if it is not UTF-8.
	encoding string
	// outage is set if nothing could be written because the embedding service or the
	// engine failed as a whole.
	outage error
}

// maxTwins is how many lines of a request are remembered by their ids.
const maxTwins = 1 << 17

// twins finds lines of one id in a request. It remembers hashes of 64 bits.
type twins struct {
	seed  maphash.Seed
	lines map[uint64]int
}

// note tells the result of a line which line before had its id.
func (t *twins) note(r *Result) {
	if t.lines == nil {
		t.seed, t.lines = maphash.MakeSeed(), map[uint64]int{}
	}
	hash := maphash.String(t.seed, r.ID)
	r.Earlier = t.lines[hash]
	if r.Earlier > 0 || len(t.lines) < maxTwins {
		t.lines[hash] = r.Line
	}
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
			b.results[p.result].fail(err)
			continue
		}
		kept = append(kept, p)
	}
	b.pending = kept
}

// failAll sets the results of all pending chunks to the error of the whole call.
func (b *batch) failAll(err error) {
	for _, p := range b.pending {
		b.results[p.result].fail(err)
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
			r.fail(outcome.Err)
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
