// Package pool parses files in child processes, so that one that takes too much time or
// memory, or crashes its parser, costs nothing but itself.
//
// A child answers one file after another over its standard input and output. It is started
// when it is first needed and ends after a minute without work.
package pool

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/ingest/parse"
)

// Memory bounds a child's memory in bytes, besides the program itself.
const Memory = 512 << 20

// Options of a Pool; a zero value means the default in parentheses.
type Options struct {
	// Command starts a child, which calls Serve: the program and its arguments. It gets no
	// variables of the environment, as it needs none of the secrets there.
	Command []string
	Size    int           // files at a time (the number of processors)
	Timeout time.Duration // for one file (1m)
}

// Pool is a parse.Parser. It is safe for concurrent use and owns its children until Close.
type Pool struct {
	options Options
	turns   chan struct{} // one for each file at a time

	mu   sync.Mutex
	idle []*child // the last was used last
}

// New returns a pool without children.
func New(o Options) *Pool {
	if o.Size <= 0 {
		o.Size = runtime.GOMAXPROCS(0)
	}
	if o.Timeout <= 0 {
		o.Timeout = time.Minute
	}
	return &Pool{options: o, turns: make(chan struct{}, o.Size)}
}

// Close ends all children. Call it after the last Parse has returned.
func (p *Pool) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for _, c := range p.idle {
		errs = append(errs, c.end())
	}
	p.idle = nil
	return errors.Join(errs...)
}

// Formats implements parse.Parser.
func (*Pool) Formats() map[string]string { return parse.Here{}.Formats() }

// Parse implements parse.Parser. It waits for a turn as long as the context lasts. A child that
// takes too long or too much memory is killed, and the file is refused; so it is when the
// child crashes. If no child can be started, that is fault.Unavailable.
func (p *Pool) Parse(ctx context.Context, name string, source []byte, o parse.Options) (*parse.Document, error) {
	select {
	case p.turns <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-p.turns }()
	r := request{Name: name, Source: source, Options: o}
	if c := p.take(); c != nil {
		document, err := p.ask(ctx, c, r)
		if !errors.Is(err, errGone) {
			return document, err
		}
		// Perhaps it just ended for want of work, which is not the fault of this file.
	}
	c, err := start(p.options.Command)
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "no process to parse the file can be started")
	}
	document, err := p.ask(ctx, c, r)
	switch {
	case !errors.Is(err, errGone):
		return document, err
	case c.outOfMemory():
		return nil, tooMuch()
	default:
		return nil, refused(fault.Wrap(fault.InvalidArgument, err, "its parser failed"))
	}
}

// errGone is the error of a child that ended without having been killed.
var errGone = errors.New("the process of the parser ended")

// ask gives a child one file. It is kept if it answered, or else killed.
func (p *Pool) ask(ctx context.Context, c *child, r request) (*parse.Document, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, p.options.Timeout,
		refused(fault.New(fault.InvalidArgument, "its parser took longer than %v; split it", p.options.Timeout)))
	defer cancel()
	answer, err := c.exchange(ctx, r)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	p.idle = append(p.idle, c)
	p.mu.Unlock()
	if answer.Failure != nil {
		return nil, answer.Failure.error()
	}
	return answer.Document, nil
}

// refused makes an error one of the file.
func refused(err *fault.Error) error {
	err.Field = parse.FieldFile
	return err
}

func tooMuch() error {
	return refused(fault.New(fault.InvalidArgument, "its parser took more than %d MB of memory; split it", Memory>>20))
}

// take returns the child that was used last; nil if there is none.
func (p *Pool) take() *child {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.idle) > 0 {
		c := p.idle[len(p.idle)-1]
		p.idle = p.idle[:len(p.idle)-1]
		select {
		case <-c.gone:
		default:
			return c
		}
	}
	return nil
}
