package pool

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/ingest/parse"
	"github.com/hybridge-search/hybridge/internal/deadline"
)

// TestMain is also the child, which behaves as its argument says.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && strings.HasPrefix(os.Args[1], "child=") {
		os.Exit(behave(strings.TrimPrefix(os.Args[1], "child=")))
	}
	goleak.VerifyTestMain(m)
}

func behave(behaviour string) int {
	var r request
	receive := func() { _ = gob.NewDecoder(os.Stdin).Decode(&r) }
	switch behaviour {
	case "good":
		if err := Serve(os.Stdin, os.Stdout, ""); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	case "slow":
		receive()
		time.Sleep(time.Hour)
	case "greedy":
		receive()
		var kept [][]byte
		for range 100 {
			b := make([]byte, 16<<20)
			for i := 0; i < len(b); i += 4096 {
				b[i] = 1
			}
			kept = append(kept, b)
			time.Sleep(2 * sampling / 5)
		}
		fmt.Fprintln(os.Stderr, len(kept))
	case "refused": // by the kernel, between two looks of the parent
		if limitMemory(Memory) == nil {
			receive()
			fmt.Fprintln(os.Stderr, len(make([]byte, 4*Memory)))
		}
	case "crashing":
		receive()
		panic("on purpose")
	}
	return 0
}

func open(t *testing.T, behaviour string, o Options) *Pool {
	t.Helper()
	o.Command = []string{os.Args[0], "child=" + behaviour}
	p := New(o)
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func try(ctx context.Context, p *Pool, name, source string) (string, error) {
	document, err := p.Parse(ctx, name, []byte(source), parse.Options{})
	if err != nil {
		return "", err
	}
	return document.Passages[0].Title + "/" + document.Passages[0].Content, nil
}

func TestManyFiles(t *testing.T) {
	p := open(t, "good", Options{Size: 2})
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			got, err := try(t.Context(), p, "a.md", fmt.Sprintf("# T\n\ntext %d", i))
			if want := fmt.Sprintf("T/text %d", i); err != nil || got != want {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
	all.Wait()
	if n := len(p.idle); n < 1 || n > 2 {
		t.Errorf("%d children for 2 files at a time; want n at least 1 and n at most 2", n)
	}
	_, err := try(t.Context(), p, "a.md", strings.Repeat("- ", 200)+"a")
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.InvalidArgument || f.Field != parse.FieldFile || f.Err != nil {
		t.Errorf("a limit became %+v", err)
	}
	if _, err = try(t.Context(), p, "a.png", "x"); !fault.Is(err, fault.Unsupported) {
		t.Errorf("%v; want an error of kind Unsupported", err)
	}
}

// Each failure costs its own file, and names itself.
func TestFailures(t *testing.T) {
	f := func(behaviour, says string, o Options) {
		t.Run(behaviour, func(t *testing.T) {
			p := open(t, behaviour, o)
			_, err := try(t.Context(), p, "a.md", "text")
			var refused *fault.Error
			if !errors.As(err, &refused) || refused.Kind != fault.InvalidArgument ||
				refused.Field != parse.FieldFile || !strings.Contains(refused.Detail, says) {
				t.Fatalf("%v, want %s", err, says)
			}
			if len(p.idle) != 0 {
				t.Error("the child is kept")
			}
			p.options.Command[1] = "child=good"
			p.options.Timeout = time.Minute
			if got, err := try(t.Context(), p, "a.md", "text"); err != nil || got != "/text" {
				t.Errorf(`the next file: %q, %v; want no error and got "/text"`, got, err)
			}
		})
	}
	f("slow", "longer than 200ms", Options{Timeout: 200 * time.Millisecond})
	f("crashing", "its parser failed", Options{})
	if memoryOf(os.Getpid()) > 0 { // there is such a thing on this system
		f("greedy", "more than 512 MB", Options{})
		if !raceDetector { // which needs more, and ends the program in its own way
			f("refused", "more than 512 MB", Options{})
		}
	}
}

func TestAKilledChildIsReplaced(t *testing.T) {
	p := open(t, "good", Options{Size: 1})
	for range 3 {
		if got, err := try(t.Context(), p, "a.txt", "text"); err != nil || got != "/text" {
			t.Fatalf(`%q, %v; want no error and got "/text"`, got, err)
		}
		if err := p.idle[0].command.Process.Kill(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestContexts(t *testing.T) {
	p := open(t, "slow", Options{Size: 1})
	ctx, cancel := context.WithCancel(t.Context())
	first := make(chan error, 1)
	go func() {
		_, err := try(ctx, p, "a.txt", "text")
		first <- err
	}()
	for len(p.turns) == 0 {
		time.Sleep(time.Millisecond)
	}
	waiting, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	if _, err := try(waiting, p, "a.txt", "text"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the second file waits: %v; want context.DeadlineExceeded", err)
	}
	cancel()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("%v; want context.Canceled", err)
	}
}

func TestNoChildren(t *testing.T) {
	p := New(Options{Command: []string{"/nowhere/hybridge"}})
	if _, err := try(t.Context(), p, "a.txt", "text"); !fault.Is(err, fault.Unavailable) {
		t.Errorf("%v; want an error of kind Unavailable", err)
	}
}

// The child ends with its input, so with its parent.
func TestServeEndsWithItsInput(t *testing.T) {
	deadline.Set(t, time.Minute)
	in, feed := io.Pipe()
	served := make(chan error, 1)
	go func() { served <- Serve(in, io.Discard, "") }()
	if err := feed.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}

func BenchmarkSmallFile(b *testing.B) {
	for name, p := range map[string]parse.Parser{
		"here":  parse.Here{},
		"child": New(Options{Command: []string{os.Args[0], "child=good"}}),
	} {
		b.Run(name, func(b *testing.B) {
			source := []byte(strings.Repeat("# T\n\nSome text of a small file.\n\n", 100))
			for b.Loop() {
				if _, err := p.Parse(b.Context(), "a.md", source, parse.Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
		if closer, ok := p.(io.Closer); ok {
			_ = closer.Close() // of a benchmark
		}
	}
}
