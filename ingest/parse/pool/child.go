package pool

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"time"
)

// child is a process that parses. One goroutine at a time uses it.
type child struct {
	command *exec.Cmd
	in      io.WriteCloser
	encoder *gob.Encoder
	decoder *gob.Decoder
	said    *head         // on its standard error
	gone    chan struct{} // closed when it has ended
}

func start(command []string) (*child, error) {
	c := &child{command: exec.Command(command[0], command[1:]...), said: &head{}, gone: make(chan struct{})}
	c.command.Env = []string{} // nil would be all of the parent's
	c.command.Stderr = c.said
	in, err := c.command.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := c.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.command.Start(); err != nil {
		return nil, err
	}
	c.in, c.encoder, c.decoder = in, gob.NewEncoder(in), gob.NewDecoder(out)
	go func() {
		_ = c.command.Wait() // how it ended is in ProcessState
		close(c.gone)
	}()
	return c, nil
}

// exchange sends one file and receives what became of it. When the context ends, or the child
// takes too much memory, it is killed, and the cause is the error.
func (c *child) exchange(ctx context.Context, r request) (response, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		c.watch(ctx, cancel)
	}()
	var answer response
	err := c.encoder.Encode(r)
	if err == nil {
		err = c.decoder.Decode(&answer)
	}
	if err != nil {
		cancel(err) // unless there is a cause already
	} else {
		cancel(errAnswered)
	}
	<-watched
	switch cause := context.Cause(ctx); {
	case err == nil && errors.Is(cause, errAnswered):
		return answer, nil
	case cause != nil && !errors.Is(cause, err):
		c.kill()
		return answer, cause
	default:
		c.kill()
		return answer, errors.Join(errGone, fmt.Errorf("%w: %v: %s", err, c.command.ProcessState, c.said))
	}
}

// errAnswered ends the watch of a child that answered.
var errAnswered = errors.New("answered")

// sampling is how often the memory of a child is looked at.
const sampling = 20 * time.Millisecond

// watch kills the child when the context ends without an answer, or at too much memory.
func (c *child) watch(ctx context.Context, cancel context.CancelCauseFunc) {
	ticker := time.NewTicker(sampling)
	defer ticker.Stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-ticker.C:
			if memoryOf(c.command.Process.Pid) > Memory {
				cancel(tooMuch())
			}
		}
	}
	if !errors.Is(context.Cause(ctx), errAnswered) {
		_ = c.command.Process.Kill() // it fails only for one that has ended
	}
}

// kill ends the child at once.
func (c *child) kill() {
	_ = c.command.Process.Kill() // it fails only for one that has ended
	<-c.gone
}

// end lets the child end by itself; one that does not is killed.
func (c *child) end() error {
	err := c.in.Close()
	select {
	case <-c.gone:
		return nil // and its pipe is closed, which may be what err says
	case <-time.After(5 * time.Second):
		c.kill()
		return err
	}
}

// outOfMemory reports whether the child ended because it got no more memory.
func (c *child) outOfMemory() bool {
	said := []byte(c.said.String())
	return bytes.Contains(said, []byte("out of memory")) || bytes.Contains(said, []byte("cannot allocate memory"))
}

// head keeps the beginning of what is written, which tells why a program crashed.
type head struct {
	mu   sync.Mutex
	kept []byte
}

// maxSaid is how many bytes are kept.
const maxSaid = 2000

// Write implements io.Writer.
func (h *head) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.kept = append(h.kept, p[:min(len(p), maxSaid-len(h.kept))]...)
	return len(p), nil
}

func (h *head) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return string(h.kept)
}
