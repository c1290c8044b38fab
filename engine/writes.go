package engine

import (
	"sync/atomic"
	"time"

	"github.com/hybridge-search/hybridge/fault"
)

// WriteObserver is called after every write to an engine with the operation (write, replace, change, delete),
// its duration and its error. It is called from several goroutines.
type WriteObserver func(operation string, took time.Duration, err error)

// Writes observes the writes to an engine and remembers whether the last one ran out of
// space. It is safe for concurrent use; its zero value is ready to use.
type Writes struct {
	Observer WriteObserver // may be nil
	full     atomic.Bool
}

// Write runs a write of chunks, each of which may fail.
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

// Delete runs a deletion, which returns the number of chunks deleted.
func (w *Writes) Delete(remove func() (int, error)) (int, error) {
	began := time.Now()
	removed, err := remove()
	w.note("delete", began, err)
	return removed, err
}

// Change runs a change of chunks, each of which may fail.
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

// firstError returns the error of a full disk, else the first one not caused by the chunk itself.
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

// callersFault reports whether a chunk was refused because of its contents.
func callersFault(err error) bool {
	return fault.Is(err, fault.InvalidArgument) || fault.Is(err, fault.Conflict) || fault.Is(err, fault.Forbidden)
}

// Troubles returns the problems met by the last write.
func (w *Writes) Troubles(engine string) []Trouble {
	if w.full.Load() {
		return []Trouble{Full(engine)}
	}
	return nil
}
