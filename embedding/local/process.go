package local

import (
	"context"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"
)

// gracePeriod is how long a process that was asked to end has until it is killed.
const gracePeriod = 3 * time.Second

// process is one run of the model.
type process struct {
	pid     int
	output  *output
	kill    context.CancelFunc
	started time.Time
	done    chan struct{} // closed at its end; err and ended are set then
	err     error
	ended   time.Time
}

// startProcess runs the command until it ends by itself or the context does.
func startProcess(ctx context.Context, command Command, log *slog.Logger) (*process, error) {
	ctx, cancel := context.WithCancel(ctx)
	out := &output{log: log}
	cmd := exec.CommandContext(ctx, command.Path, command.arguments()...)
	cmd.Env = environment()
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = endsWithParent()
	cmd.Cancel = func() error { return askToEnd(cmd.Process) }
	cmd.WaitDelay = gracePeriod

	p := &process{output: out, kill: cancel, started: time.Now(), done: make(chan struct{})}
	running := make(chan error, 1)
	go func() {
		defer cancel()
		// Linux ends the child with the thread that started it, which therefore
		// has to stay until the child is gone.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		running <- err
		if err != nil {
			return
		}
		p.err = cmd.Wait()
		endGroup(cmd.Process.Pid)
		p.ended = time.Now()
		close(p.done)
	}()
	if err := <-running; err != nil {
		return nil, err
	}
	p.pid = cmd.Process.Pid
	return p, nil
}

// uptime is how long the process ran, once it is done.
func (p *process) uptime() time.Duration { return p.ended.Sub(p.started) }

// environment returns the gateway's environment without its settings, which hold secrets.
func environment() []string {
	return slices.DeleteFunc(os.Environ(), func(variable string) bool {
		return strings.HasPrefix(variable, "HYBRIDGE_")
	})
}
