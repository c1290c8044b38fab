package main

import (
	"io"
	"net/url"

	"github.com/schollz/progressbar/v3"
)

// progress is a progress bar on a terminal; elsewhere it does nothing.
type progress struct{ bar *progressbar.ProgressBar }

// newProgress returns a bar for a number of bytes or of things; -1: unknown.
func newProgress(w io.Writer, what string, size int64) *progress {
	if !isTerminal(w) {
		return &progress{}
	}
	return &progress{bar: progressbar.NewOptions64(size,
		progressbar.OptionSetWriter(w), progressbar.OptionSetDescription(what),
		progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionClearOnFinish(),
		progressbar.OptionSetWidth(30), progressbar.OptionFullWidth(), progressbar.OptionShowBytes(what == "uploading"),
	)}
}

// reader counts the bytes read from r.
func (p *progress) reader(r io.Reader) io.Reader {
	if p.bar == nil {
		return r
	}
	counted := progressbar.NewReader(r, p.bar)
	return &counted
}

func (p *progress) add(n int) {
	if p.bar != nil {
		_ = p.bar.Add(n) // a bar that cannot be drawn does not matter
	}
}

func (p *progress) finish() {
	if p.bar != nil {
		_ = p.bar.Finish() // as above
	}
}

func queryEscape(text string) string { return url.QueryEscape(text) }
