package local

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
)

// maxOutput bounds what is kept of a process's output, and a line of it, in bytes.
const maxOutput = 2000

// output logs what a process writes, line by line, and keeps the end of it for
// the error when the process dies.
type output struct {
	log *slog.Logger

	mu   sync.Mutex
	line []byte
	last []byte
}

// Write implements io.Writer; it never fails.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last = lastBytes(append(o.last, p...))
	o.line = append(o.line, p...)
	for {
		line, rest, found := bytes.Cut(o.line, []byte("\n"))
		if !found {
			o.line = lastBytes(o.line)
			return len(p), nil
		}
		if text := clean(lastBytes(line)); text != "" {
			o.log.Debug("the model says", "line", text)
		}
		o.line = rest
	}
}

// tail is the end of the output in one line.
func (o *output) tail() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return clean(o.last)
}

func lastBytes(b []byte) []byte { return bytes.Clone(b[max(0, len(b)-maxOutput):]) }

func clean(b []byte) string {
	return strings.Join(strings.Fields(strings.ToValidUTF8(string(b), "")), " ")
}
