package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// verdict is what tests said of a program.
type verdict string

const (
	killed   verdict = "killed"
	survived verdict = "survived"
	// hung: only the deadline of the run ended the tests, which is a fault of theirs.
	hung verdict = "hung"
	// broken: it does not compile, which is a fault of the list.
	broken verdict = "broken"
)

// What tests may take that are run on a mutant, all that are run on the program as it is, and either with compiling.
const (
	testTime   = 90 * time.Second
	beforeTime = 5 * time.Minute
	allTime    = 8 * time.Minute
)

type runner struct {
	root string
}

// program is what a trial is run on: the project, changed or as it is.
type program struct {
	overlay string // of the go command
	web     string // the folder of the application
}

// try runs the row's tests on the changed program, up to the first that fails.
func (r *runner) try(ctx context.Context, m *Mutant) (said verdict, output string, err error) {
	folder, err := os.MkdirTemp("", "mutant-")
	if err != nil {
		return "", "", err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	changed, err := r.change(m, folder)
	if err != nil {
		return "", "", fmt.Errorf("mutant %s: %w", m.Name, err)
	}
	said = survived
	for _, command := range m.Tests {
		t, err := parseTrial(m.isWeb(), command)
		if err != nil {
			return "", "", fmt.Errorf("mutant %s: %w", m.Name, err)
		}
		said, output, err = r.run(ctx, &t, changed)
		if err != nil || said != survived {
			return said, output, err
		}
	}
	return said, output, nil
}

func (r *runner) change(m *Mutant, folder string) (program, error) {
	text, err := m.mutated(r.root)
	if err != nil {
		return program{}, err
	}
	if m.isWeb() {
		return r.copyWeb(m, folder, text)
	}
	changed := filepath.Join(folder, filepath.Base(m.File))
	replace := map[string]string{filepath.Join(r.root, filepath.FromSlash(m.File)): changed}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return program{}, err
	}
	overlay := filepath.Join(folder, "overlay.json")
	return program{overlay: overlay}, errors.Join(os.WriteFile(changed, text, 0o600), os.WriteFile(overlay, list, 0o600))
}

// copyWeb makes a project whose other folders link to the real ones: the tests of the application read some.
func (r *runner) copyWeb(m *Mutant, folder string, text []byte) (program, error) {
	web := filepath.Join(folder, "web")
	for _, copied := range []string{"src", "unit"} {
		if err := os.CopyFS(filepath.Join(web, copied), os.DirFS(filepath.Join(r.root, "web", copied))); err != nil {
			return program{}, err
		}
	}
	for _, parent := range []string{"", "web"} {
		entries, err := os.ReadDir(filepath.Join(r.root, parent))
		if err != nil {
			return program{}, err
		}
		for _, entry := range entries {
			link := filepath.Join(folder, parent, entry.Name())
			if _, err := os.Lstat(link); err == nil || entry.Name() == "test-results" {
				continue
			}
			if err := os.Symlink(filepath.Join(r.root, parent, entry.Name()), link); err != nil {
				return program{}, err
			}
		}
	}
	return program{web: web}, os.WriteFile(filepath.Join(folder, filepath.FromSlash(m.File)), text, 0o600)
}

// run gives what a trial says of a program, and what it wrote.
func (r *runner) run(ctx context.Context, t *trial, p program) (verdict, string, error) {
	ctx, cancel := context.WithTimeout(ctx, allTime)
	defer cancel()
	command := r.command(ctx, t, p)
	// In a group of its own: the tests are children of the command, and servers children of theirs.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	command.WaitDelay = 5 * time.Second
	var output bytes.Buffer
	command.Stdout, command.Stderr = &output, &output
	err := command.Run()
	text := output.String()
	var failed *exec.ExitError
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded), strings.Contains(text, "panic: test timed out after"):
		return hung, text, nil
	case ctx.Err() != nil:
		return "", text, ctx.Err()
	case err != nil && !errors.As(err, &failed):
		return "", text, err
	case strings.Contains(text, "no tests to run"), strings.Contains(text, "No tests found"):
		return "", text, fmt.Errorf("no test of %v matches %q", t.targets, t.run)
	case err == nil:
		return survived, text, nil
	case slices.ContainsFunc(noProgram, func(told string) bool { return strings.Contains(text, told) }):
		return broken, text, nil
	}
	return killed, text, nil
}

// noProgram is how the go command and the web's tests say that there is nothing to run.
var noProgram = []string{"[build failed]", "[setup failed]", "SyntaxError", "Cannot find module"}

func (r *runner) command(ctx context.Context, t *trial, p program) *exec.Cmd {
	var command *exec.Cmd
	if t.web {
		arguments := append([]string{"run", "--silent", "unit", "--"}, t.targets...)
		if t.run != "" {
			arguments = append(arguments, "-g", t.run)
		}
		command = exec.CommandContext(ctx, "npm", arguments...)
		command.Dir = p.web
	} else {
		limit := beforeTime
		if p.overlay != "" {
			limit = testTime
		}
		arguments := []string{"test", "-count=1", "-failfast", "-vet=off", "-ldflags=-w", "-timeout", limit.String()}
		if t.run != "" {
			arguments = append(arguments, "-run", t.run)
		}
		if t.skip != "" {
			arguments = append(arguments, "-skip", t.skip)
		}
		command = exec.CommandContext(ctx, "go", append(arguments, t.targets...)...)
		command.Dir = r.root
	}
	command.Env = environment(p.overlay)
	return command
}

// environment has the change in GOFLAGS, so that programs that a test builds have it too, and no program that was
// built before.
func environment(overlay string) []string {
	flags := "-trimpath " + os.Getenv("GOFLAGS")
	if overlay != "" {
		flags += " -overlay=" + overlay
	}
	kept := slices.DeleteFunc(os.Environ(), func(setting string) bool {
		return strings.HasPrefix(setting, "HYBRIDGE_TEST_BINARY=") || strings.HasPrefix(setting, "HYBRIDGE_TEST_SPENT=")
	})
	return append(kept, "GOFLAGS="+flags)
}
