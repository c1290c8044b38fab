package histories

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"
)

// never is the end of an operation of which nobody knows whether it ended.
const never = math.MaxInt64

// event is an operation that somebody did.
type event struct {
	op         *Op
	outcome    Outcome
	process    int // a client that got no answer goes on as another process
	call, done int64
}

// History is what clients did to one knowledge base, and what they were told.
type History struct {
	Plan Plan
	Name string // of what was changed, for reports

	begun     time.Time
	mu        sync.Mutex
	events    []event
	processes int
	wrong     []string // counts that cannot be
}

// NewHistory begins a history.
func NewHistory(name string, plan Plan) *History {
	return &History{Plan: plan, Name: name, begun: time.Now(), processes: plan.Clients + 1}
}

// Run lets the clients of the plan work until the context ends or each has done so many steps, by those given in turn.
// What is under way then is finished.
func (h *History) Run(ctx context.Context, steps int, by ...Client) {
	var group sync.WaitGroup
	for i := range h.Plan.Clients {
		group.Go(func() {
			process, operations := i, h.Plan.source(i)
			for n := 0; n < steps && ctx.Err() == nil; n++ {
				done := h.do(ctx, by[(i+n)%len(by)], operations.next(), process)
				process = h.after(process, &done.outcome)
			}
		})
	}
	group.Wait()
}

// do does an operation and notes it.
func (h *History) do(ctx context.Context, by Client, op *Op, process int) event {
	e := event{op: op, process: process, call: int64(time.Since(h.begun))}
	e.outcome = by.Do(context.WithoutCancel(ctx), op)
	e.done = int64(time.Since(h.begun))
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = append(h.events, e)
	return e
}

func (h *History) after(process int, o *Outcome) int {
	if !h.unsure(o) {
		return process
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.processes++
	return h.processes - 1
}

// unsure reports whether it is unknown what became of a chunk.
func (h *History) unsure(o *Outcome) bool {
	unsure := o.Verdict == Unknown
	for _, v := range o.ByChunk {
		unsure = unsure || v == Unknown
	}
	return unsure
}

// Settle reads all chunks when everybody is done, and then patches, deletes and reads them once more: what these
// say they have changed is counted, unless an operation that got no answer may still come.
func (h *History) Settle(ctx context.Context, by Client) {
	process := h.Plan.Clients
	exact := !slices.ContainsFunc(h.events, func(e event) bool { return h.unsure(&e.outcome) })
	stored := h.readAll(ctx, by, process)
	count := func(op *Op, is func(State) bool) {
		want := 0
		for _, s := range stored {
			if s.Present && is(s) {
				want++
			}
		}
		got := h.do(ctx, by, op, process).outcome
		if exact && (got.Count != want || (got.Verdict == Missing) != (want == 0)) && got.Verdict != Unknown {
			h.wrong = append(h.wrong, fmt.Sprintf("%s says %s, %d chunks; there were %d", op, got.Verdict, got.Count, want))
		}
	}
	for d := range h.Plan.Documents {
		op := &Op{Kind: Patch, Document: d, Member: Members - 1, Value: fmt.Sprintf("last%d", d)}
		count(op, func(s State) bool { return s.Document == d })
	}
	count(&Op{Kind: RemoveOld}, func(s State) bool { return s.Status == Old })
	stored = h.readAll(ctx, by, process)
	count(&Op{Kind: Remove, Document: 0}, func(s State) bool { return s.Document == 0 })
	h.readAll(ctx, by, process)
}

func (h *History) readAll(ctx context.Context, by Client, process int) map[int]State {
	op := &Op{Kind: Read}
	for i := range h.Plan.Chunks() {
		op.Chunks = append(op.Chunks, i)
	}
	return h.do(ctx, by, op, process).outcome.Read
}

// Tally counts operations by what became of them.
func (h *History) Tally() (all, unknown int) {
	for i := range h.events {
		if all++; h.unsure(&h.events[i].outcome) {
			unknown++
		}
	}
	return all, unknown
}

// Unanswered are what operations whose outcome is unknown said, at most some of them.
func (h *History) Unanswered(most int) (why []string) {
	for i := range h.events {
		if o := &h.events[i].outcome; h.unsure(o) && len(why) < most {
			why = append(why, h.events[i].op.String()+": "+o.Why)
		}
	}
	return why
}
