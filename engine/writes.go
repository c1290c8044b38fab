package engine

import (
	"sync/atomic"
	"time"

	"github.com/hybridge-search/hybridge/fault"
)

// WriteObserver is told of every write to an engine: what was done (write, replace, change, delete),
// how long it took and how it ended. It is called from several goroutines.
type WriteObserver func(operation string, took time.Duration, err error)

// Writes are the writes to an engine: they are observed, and the last of them says whether
// there is room. It is safe for concurrent use; its zero value tells nobody.
type Writes struct {
	Observer WriteObserver // nil: nobody
	full     atomic.Bool
}

// Write runs a write of chunks, which may fail for each of them.
func (w *Writes) Write(operation string, write func() ([]WriteOutcome, error)) ([]WriteOutcome, error) {
	began := time.Now()
	outcomes, err := write()
	ended := err
	if ended == nil {
		ended = firstError(outcomes)
	}
	w.note(operation, began, ended)
	return outcomes, err
}

// Delete runs a deletion, which gives how many chunks there were.
func (w *Writes) Delete(remove func() (int, error)) (int, error) {
	began := time.Now()
	removed, err := remove()
	w.note("delete", began, err)
	return removed, err
}

// Change runs a change of chunks, which may fail for each of them.
func (w *Writes) Change(change func() ([]ChangeOutcome, error)) ([]ChangeOutcome, error) {
	began := time.Now()
	outcomes, err := change()
	ended := err
	for i := range outcomes {
		if ended == nil && !callersFault(outcomes[i].Err) {
			ended = outcomes[i].Err
		}
	}
	w.note("change", began, ended)
	return outcomes, err
}

func (w *Writes) note(operation string, began time.Time, err error) {
	switch {
	case fault.Is(err, fault.DiskFull):
		w.full.Store(true)
	case err == nil:
		w.full.Store(false)
	}
	if w.Observer != nil {
		w.Observer(operation, time.Since(began), err)
	}
}

// firstError gives the error of a full disk, or else the first that was not the chunk's fault.
func firstError(outcomes []WriteOutcome) (first error) {
	for i := range outcomes {
		switch err := outcomes[i].Err; {
		case fault.Is(err, fault.DiskFull):
			return err
		case err != nil && first == nil && !callersFault(err):
			first = err
		}
	}
	return first
}

// callersFault reports whether a chunk was refused for what it is.
func callersFault(err error) bool {
	return fault.Is(err, fault.InvalidArgument) || fault.Is(err, fault.Conflict) || fault.Is(err, fault.Forbidden)
}

// Troubles are those that the last write to the engine has met.
func (w *Writes) Troubles(engine string) []Trouble {
	if w.full.Load() {
		return []Trouble{Full(engine)}
	}
	return nil
}
