package histories_test

import (
	"context"
	"maps"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/hybridge-search/hybridge/internal/histories"
)

// memory is a knowledge base in memory that is atomic by chunk, as engines are.
type memory struct {
	plan histories.Plan

	mu      sync.Mutex
	chunks  map[int]histories.State
	writes  int
	loses   int  // every so many writes are acknowledged and forgotten; 0: none
	rewrite bool // patches read chunks, change them and write them back
	revives bool // patches write chunks that they have read also when these are gone
	dice    sync.Mutex
	random  *rand.Rand
	silent  int // one of so many operations gets no answer, whether it has been done or not; 0: none
}

func newMemory(plan histories.Plan) *memory {
	return &memory{plan: plan, random: rand.New(rand.NewPCG(plan.Seed, 1)), chunks: map[int]histories.State{}}
}

// moment lets others come between.
func (m *memory) moment() { time.Sleep(time.Duration(m.draw(100)) * time.Microsecond) }

// draw gives a number below n, by the plan's seed.
func (m *memory) draw(n int) int {
	m.dice.Lock()
	defer m.dice.Unlock()
	return m.random.IntN(n)
}

// change makes of a chunk what the function says.
func (m *memory) change(chunk int, what func(histories.State) histories.State) {
	m.moment()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.chunks[chunk] = what(m.chunks[chunk])
}

func (m *memory) Do(_ context.Context, op *histories.Op) histories.Outcome {
	if m.silent > 0 && m.draw(m.silent) == 0 {
		if m.draw(2) == 0 {
			m.do(op)
		}
		return histories.Outcome{}
	}
	return m.do(op)
}

func (m *memory) do(op *histories.Op) histories.Outcome {
	o := histories.Outcome{Verdict: histories.Done, ByChunk: map[int]histories.Verdict{}, Read: map[int]histories.State{}}
	switch op.Kind {
	case histories.Write:
		m.write(op, &o)
		return o
	case histories.Replace:
		m.write(op, &o)
		m.remove(op, &o, func(s histories.State, chunk int) bool {
			_, kept := o.ByChunk[chunk]
			return !kept && s.Document == op.Document
		})
		return o
	case histories.Patch:
		m.patch(op, &o)
	case histories.Remove:
		m.remove(op, &o, func(s histories.State, _ int) bool { return s.Document == op.Document })
	case histories.RemoveOne:
		m.remove(op, &o, func(_ histories.State, chunk int) bool { return chunk == op.Chunks[0] })
	case histories.RemoveOld:
		m.remove(op, &o, func(s histories.State, _ int) bool { return s.Status == histories.Old })
	case histories.Read:
		for _, chunk := range op.Chunks {
			m.change(chunk, func(s histories.State) histories.State {
				o.Read[chunk] = s
				return s
			})
		}
		return o
	}
	if o.Count == 0 {
		o.Verdict = histories.Missing
	}
	return o
}

func (m *memory) write(op *histories.Op, o *histories.Outcome) {
	for _, chunk := range op.Chunks {
		m.change(chunk, func(s histories.State) histories.State {
			switch {
			case s.Present && s.Document != op.Document:
				o.ByChunk[chunk] = histories.Conflict
				return s
			case s.Present:
				o.ByChunk[chunk] = histories.Updated
			default:
				o.ByChunk[chunk] = histories.Created
			}
			if m.writes++; m.loses > 0 && m.writes%m.loses == 0 {
				return s
			}
			return histories.State{Present: true, Document: op.Document, Value: op.Value, Status: op.Status}
		})
	}
}

func (m *memory) remove(op *histories.Op, o *histories.Outcome, is func(histories.State, int) bool) {
	for chunk := range m.plan.Chunks() {
		m.change(chunk, func(s histories.State) histories.State {
			if !s.Present || !is(s, chunk) {
				return s
			}
			if op.Kind != histories.Replace {
				o.Count++
			}
			return histories.State{}
		})
	}
}

func (m *memory) patch(op *histories.Op, o *histories.Outcome) {
	m.mu.Lock()
	read := maps.Clone(m.chunks)
	m.mu.Unlock()
	for _, chunk := range m.plan.ChunksOf(op.Document) {
		m.change(chunk, func(s histories.State) histories.State {
			switch was := read[chunk]; {
			case m.revives && was.Present && was.Document == op.Document && !s.Present:
				s = was
			case m.rewrite && was.Present && s.Present && s.Document == op.Document:
				s = was
			}
			if s.Present && s.Document == op.Document {
				o.Count++
				s.Members[op.Member] = op.Value
			}
			return s
		})
	}
}
