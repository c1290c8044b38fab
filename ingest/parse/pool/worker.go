package pool

import (
	"context"
	"encoding/gob"
	"errors"
	"io"
	"runtime/debug"
	"time"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/ingest/parse"
)

// request is a file to split.
type request struct {
	Name    string
	Source  []byte
	Options parse.Options
}

// response is the result of a request.
type response struct {
	Document *parse.Document
	Failure  *failure
}

// failure is an error, which gob cannot write by itself.
type failure struct {
	Kind          fault.Kind
	Field, Detail string
	Cause         string
}

func (f *failure) error() error {
	err := &fault.Error{Kind: f.Kind, Field: f.Field, Detail: f.Detail}
	if f.Cause != "" {
		err.Err = errors.New(f.Cause)
	}
	return err
}

func failureOf(err error) *failure {
	var known *fault.Error
	if !errors.As(err, &known) {
		return &failure{Kind: fault.Internal, Detail: "the file could not be parsed", Cause: err.Error()}
	}
	f := &failure{Kind: known.Kind, Field: known.Field, Detail: known.Detail}
	if known.Err != nil {
		f.Cause = known.Err.Error()
	}
	return f
}

// maxStack bounds the stack of one goroutine, in bytes; nesting is limited far below it.
const maxStack = 128 << 20

// Serve is the work of a child process: it splits files that it reads from in, one after
// another, and writes what became of them to out, until in ends or it had no file for a
// while. The end of in ends it in the middle of a file too, so that it does not outlive its
// parent; the process must end then. It sets limits of the whole process.
//
// The reader of PDF is compiled into the folder, unless that is empty.
func Serve(in io.Reader, out io.Writer, folder string) error {
	parse.CompileInto(folder)
	debug.SetMemoryLimit(Memory * 3 / 4) // from there on garbage is collected more often
	debug.SetMaxStack(maxStack)
	if err := limitMemory(Memory); err != nil {
		return fault.Wrap(fault.Internal, err, "limit the memory of a parser")
	}
	requests, ended := make(chan request), make(chan error, 1)
	go func() {
		decoder := gob.NewDecoder(in)
		for {
			var r request
			if err := decoder.Decode(&r); err != nil {
				ended <- err
				return
			}
			requests <- r
		}
	}()
	written := make(chan error)
	encoder := gob.NewEncoder(out)
	for {
		select {
		case err := <-ended:
			if errors.Is(err, io.EOF) {
				return nil
			}
			return fault.Wrap(fault.Internal, err, "read what to parse")
		case r := <-requests:
			go func() { written <- encoder.Encode(answer(r)) }()
		case err := <-written:
			if err != nil {
				return fault.Wrap(fault.Internal, err, "write what was parsed")
			}
		case <-time.After(idle):
			return nil
		}
	}
}

// idle is how long a child waits for work. It is longer than it may take for one file, so
// that it is over only without one.
const idle = 2 * time.Minute

// large is the size of a file, in bytes, after which memory is given back at once.
const large = 1 << 20

func answer(r request) response {
	if len(r.Source) > large {
		defer debug.FreeOSMemory()
	}
	document, err := parse.Here{}.Parse(context.Background(), r.Name, r.Source, r.Options)
	if err != nil {
		return response{Failure: failureOf(err)}
	}
	return response{Document: document}
}
