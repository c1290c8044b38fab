package main

import (
	"io"
	"net/url"

	"github.com/schollz/progressbar/v3"
)

// progress is a bar on a terminal, and nothing elsewhere.
type progress struct{ bar *progressbar.ProgressBar }

// newProgress counts to a size in bytes, or in things; -1 when it is unknown.
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

// reader counts the bytes that are read.
func (p *progress) reader(r io.Reader) io.Reader {
	if p.bar == nil {
		return r
	}
	counted := progressbar.NewReader(r, p.bar)
	return &counted
}

func (p *progress) add(n int) {
	if p.bar != nil {
		_ = p.bar.Add(n) // a bar that cannot be drawn stops nothing
	}
}

func (p *progress) finish() {
	if p.bar != nil {
		_ = p.bar.Finish() // the same
	}
}

func queryEscape(text string) string { return url.QueryEscape(text) }
