package ingest

import (
	"context"
	"errors"
	"io"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

// maxDown is how many batches in a row may fail as a whole before the stream
// gives up: the rest would only take its time to fail.
const maxDown = 3

// Source is what a stream reads.
type Source struct {
	KB string // id of the knowledge base
	// Lines is NDJSON. It must fail, or end, when the context does: Stream
	// waits for a Read that is under way.
	Lines   io.Reader
	Refresh bool // return only when a search sees everything
}

// Summary counts what became of a stream's lines.
type Summary struct {
	Lines   int           `json:"lines"` // with a chunk, or what should have been one
	Created int           `json:"created"`
	Updated int           `json:"updated"`
	Failed  int           `json:"failed"`
	Bytes   int64         `json:"bytes"` // read
	Took    time.Duration `json:"-"`
}

func (s *Summary) count(r Result) {
	s.Lines++
	switch r.Status {
	case engine.Created:
		s.Created++
	case engine.Updated:
		s.Updated++
	case engine.Failed:
		s.Failed++
	}
}

// Stream writes the chunks of the lines and emits one result per line that is
// not blank, in their order; emit is called from the caller's goroutine. A bad
// line fails alone. The error is about the stream as a whole: no such knowledge
// base, input that broke off, a back end that stays away, the context's end;
// what was emitted as written stays written.
func (p *Pipeline) Stream(
	ctx context.Context, scope access.Scope, source Source, emit func(Result) error,
) (summary Summary, err error) {
	started := time.Now()
	defer func() { summary.Took = time.Since(started) }()
	t, err := p.writable(ctx, scope, source.KB)
	if err != nil {
		return summary, err
	}
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &stream{
		pipeline: p, target: t, refresh: source.Refresh,
		lines: newLineReader(source.Lines, p.options.MaxLine), decoder: decoder{kb: &t.kb},
	}
	read, embedded, written := make(chan *batch), make(chan *batch), make(chan *batch)
	var stages errgroup.Group
	stages.Go(func() error { return s.read(running, read) })
	stages.Go(func() error { return relay(running, read, embedded, s.embed) })
	stages.Go(func() error { return relay(running, embedded, written, s.write) })

	err = report(written, &summary, emit)
	cancel() // all is done, or the rest is not wanted
	_ = stages.Wait()
	summary.Bytes = s.lines.bytes
	switch {
	case err != nil:
		return summary, err
	case ctx.Err() != nil:
		return summary, ended(ctx)
	case s.broken != nil:
		return summary, s.broken
	default:
		return summary, s.unseen
	}
}

// stream is the state of one call of Stream; each member belongs to one stage.
type stream struct {
	pipeline *Pipeline
	target   target
	refresh  bool
	lines    *lineReader
	decoder  decoder
	broken   error // why the input ended before its end
	unseen   error // why the last refresh failed, when it was all there was to do
}

// read fills batches. Those of a broken input are sent, too.
func (s *stream) read(ctx context.Context, out chan<- *batch) error {
	defer close(out)
	for last := false; !last; {
		b := &batch{}
		for !b.last && len(b.results) < s.pipeline.options.BatchLines && b.bytes < s.pipeline.options.BatchBytes {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			s.readLine(b)
		}
		last = b.last
		if err := send(ctx, out, b); err != nil {
			return err
		}
	}
	return nil
}

func (s *stream) readLine(b *batch) {
	l, err := s.lines.next()
	switch {
	case errors.Is(err, io.EOF):
		b.last = true
	case err != nil:
		b.last = true
		s.broken = brokenInput(err, s.lines.number+1)
	case l.err != nil:
		b.results = append(b.results, failed("", l.number, l.err))
	default:
		chunk, err := s.decoder.decode(l.text)
		b.bytes += len(l.text)
		if err != nil {
			b.results = append(b.results, failed(chunk.ID, l.number, err))
			return
		}
		b.add(chunk, l.number)
	}
}

func brokenInput(err error, line int) error {
	var f *fault.Error
	if errors.As(err, &f) {
		return f
	}
	return fault.Wrap(fault.InvalidArgument, err, "the input broke off in line %d; the lines before it are written", line)
}

func (s *stream) embed(ctx context.Context, b *batch) {
	s.pipeline.embed(ctx, &s.target.kb, b)
}

// write hands the batch to the engine; the last one even when it is empty, as
// its refresh covers those before.
func (s *stream) write(ctx context.Context, b *batch) {
	refresh := s.refresh && b.last
	if len(b.pending) == 0 && !refresh {
		return
	}
	outcomes, err := s.target.engine.Write(ctx, engine.WriteRequest{
		KB: s.target.kb, Chunks: b.chunks(), Refresh: refresh,
	})
	if err != nil {
		if len(b.pending) == 0 {
			s.unseen = err
		}
		b.down = err
		b.failAll(err)
		return
	}
	b.settle(outcomes)
}

// report emits the results until the batches end, the caller has enough, or a
// back end stays away.
func report(written <-chan *batch, summary *Summary, emit func(Result) error) error {
	down := 0
	for b := range written {
		for _, r := range b.results {
			summary.count(r)
			if err := emit(r); err != nil {
				return err
			}
		}
		if b.down == nil {
			down = 0
			continue
		}
		if down++; down == maxDown {
			return b.down
		}
	}
	return nil
}

// relay passes batches from stage to stage through a step.
func relay(ctx context.Context, in <-chan *batch, out chan<- *batch, step func(context.Context, *batch)) error {
	defer close(out)
	for b := range in {
		step(ctx, b)
		if err := send(ctx, out, b); err != nil {
			return err
		}
	}
	return nil
}

func send(ctx context.Context, out chan<- *batch, b *batch) error {
	select {
	case out <- b:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func ended(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fault.Wrap(fault.Timeout, ctx.Err(), "ingesting took longer than it may")
	}
	return fault.Wrap(fault.Canceled, ctx.Err(), "ingesting was canceled")
}
