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

// maxOutages is how many batches or files in a row may fail because of an outage before the
// rest is given up: it would only fail slowly.
const maxOutages = 3

// Source is the input of a stream.
type Source struct {
	KB string // id of the knowledge base
	// Lines is NDJSON. Its Read must return once the context has ended, because Stream
	// waits for it.
	Lines   io.Reader
	Refresh bool // return only when a search sees everything
	AsIs    bool // chunks have the vectors that they bring, and none is made
}

// Summary counts what became of a stream's lines.
type Summary struct {
	Lines   int           `json:"lines"` // that are not blank
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

// Stream writes the chunks of the lines and emits one result for each line that is not
// blank, in order, in the caller's goroutine. A bad line fails by itself. The error is about
// the whole stream: no such knowledge base, interrupted input, an outage, or the end of the
// context. What was emitted as written stays written.
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
		pipeline: p, target: t, refresh: source.Refresh, asIs: source.AsIs,
		lines: newLineReader(source.Lines, p.options.MaxLine), decoder: decoder{kb: &t.kb},
	}
	read, embedded, written := make(chan *batch), make(chan *batch), make(chan *batch)
	var stages errgroup.Group
	stages.Go(func() error { return s.read(running, read) })
	stages.Go(func() error { return relay(running, read, embedded, s.embed) })
	stages.Go(func() error { return relay(running, embedded, written, s.write) })

	err = report(written, &summary, emit)
	cancel() // everything is done, or the rest is not wanted
	_ = stages.Wait()
	summary.Bytes = s.lines.bytes
	switch {
	case err != nil:
		return summary, err
	case ctx.Err() != nil:
		return summary, ended(ctx)
	case s.inputErr != nil:
		return summary, s.inputErr
	default:
		return summary, s.refreshErr
	}
}

// stream is the state of one Stream; each member belongs to one stage.
type stream struct {
	pipeline   *Pipeline
	target     target
	refresh    bool
	asIs       bool
	lines      *lineReader
	twins      twins
	decoder    decoder
	inputErr   error // why the input broke off
	refreshErr error // why a last batch failed that was only a refresh
}

// read fills and sends batches, also with what came before the input broke off.
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
		s.inputErr = brokenInput(err, s.lines.number+1)
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
		s.twins.note(&b.results[len(b.results)-1])
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
	b.fail(s.target.admit(b))
	if !s.asIs {
		s.pipeline.embed(ctx, &s.target.kb, b)
	}
}

// write writes a batch to the engine. The last one is written even if it is empty, because
// its refresh covers those before it.
func (s *stream) write(ctx context.Context, b *batch) {
	refresh := s.refresh && b.last
	if len(b.pending) == 0 && !refresh {
		return
	}
	outcomes, err := s.target.engine.Write(ctx, engine.WriteRequest{
		KB: s.target.kb, Chunks: b.chunks(), Refresh: refresh, Admit: s.target.mayReplace(),
	})
	if err != nil {
		if len(b.pending) == 0 {
			s.refreshErr = err
		}
		b.outage = err
		b.failAll(err)
		return
	}
	b.resolve(outcomes)
}

// report emits the results until there are no more batches, emit fails, or an outage lasts.
func report(written <-chan *batch, summary *Summary, emit func(Result) error) error {
	outages := 0 // in a row
	for b := range written {
		for _, r := range b.results {
			summary.count(r)
			if err := emit(r); err != nil {
				return err
			}
		}
		if b.outage == nil {
			outages = 0
			continue
		}
		if outages++; outages == maxOutages {
			return b.outage
		}
	}
	return nil
}

// relay runs a step on each batch and passes it on.
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
