package engine

import (
	"sync/atomic"
	"time"

	"github.com/hybridge-search/hybridge/fault"
)

// WriteObserver is told of every write to an engine: what was done (write, replace, delete),
// how long it took and how it ended. It is called from several goroutines.
type WriteObserver func(operation string, took time.Duration, err error)

// Writes are the writes to an engine: they are observed, and the last of them says whether
// there is room. It is safe for concurrent use; its zero value tells nobody.
type Writes struct {
	Observer WriteObserver // nil: nobody
	full     atomic.Bool
}

// Watch runs a write.
func Watch[T any](w *Writes, operation string, write func() (T, error)) (T, error) {
	began := time.Now()
	result, err := write()
	ended := err
	if outcomes, each := any(result).([]WriteOutcome); each && err == nil {
		ended = firstError(outcomes)
	}
	switch {
	case fault.Is(ended, fault.DiskFull):
		w.full.Store(true)
	case ended == nil:
		w.full.Store(false)
	}
	if w.Observer != nil {
		w.Observer(operation, time.Since(began), ended)
	}
	return result, err
}

// firstError gives the error of a full disk, or else the first that was not the chunk's fault.
func firstError(outcomes []WriteOutcome) (first error) {
	for i := range outcomes {
		switch err := outcomes[i].Err; {
		case fault.Is(err, fault.DiskFull):
			return err
		case err != nil && first == nil && !fault.Is(err, fault.InvalidArgument):
			first = err
		}
	}
	return first
}

// Troubles are those that the last write to the engine has met.
func (w *Writes) Troubles(engine string) []Trouble {
	if w.full.Load() {
		return []Trouble{Full(engine)}
	}
	return nil
}
