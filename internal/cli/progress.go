package cli

import (
	"io"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/schollz/progressbar/v3"

	"github.com/hybridge-search/hybridge/locale"
)

// Progress is a progress bar on a terminal; elsewhere it does nothing.
type Progress struct {
	bar  *progressbar.ProgressBar
	what string
	says *locale.Language
	unit unit
	size int64 // -1: unknown
	pace pace
}

// unit writes an amount of what is counted.
type unit func(float64) string

// InBytes shows an amount in bytes.
func InBytes(n float64) string { return humanize.Bytes(uint64(n)) }

// InPieces shows an amount as a number.
func InPieces(n float64) string { return humanize.Comma(int64(n)) }

// NewProgress returns a bar for a number of bytes or of things; -1: unknown.
func NewProgress(w io.Writer, what string, size int64, unit unit) *Progress {
	p := &Progress{what: readerOf(w).Text(what), says: readerOf(w), unit: unit, size: size}
	if !isTerminal(w) {
		return p
	}
	p.pace.start(time.Now())
	p.bar = progressbar.NewOptions64(size,
		progressbar.OptionSetWriter(w), progressbar.OptionSetDescription(p.what), progressbar.OptionClearOnFinish(),
		progressbar.OptionSetPredictTime(false), progressbar.OptionSetElapsedTime(false),
		progressbar.OptionSetWidth(30), progressbar.OptionThrottle(100*time.Millisecond),
	)
	return p
}

// Reader counts the bytes read from r.
func (p *Progress) Reader(r io.Reader) io.Reader {
	if p.bar == nil {
		return r
	}
	return &countedReader{r, p}
}

type countedReader struct {
	io.Reader
	progress *Progress
}

func (c *countedReader) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	c.progress.Add(int64(n))
	return n, err
}

// Add counts what has been done.
func (p *Progress) Add(n int64) {
	if p.bar == nil {
		return
	}
	p.pace.add(n, time.Now())
	p.bar.Describe(p.text())
	_ = p.bar.Add64(n) // a bar that cannot be drawn does not matter
}

// Skip leaves out what an earlier run has done: it took no time of this one.
func (p *Progress) Skip(n int64) {
	if p.bar == nil {
		return
	}
	p.pace.skip(n)
	_ = p.bar.Add64(n) // as above
}

// Finish ends the line.
func (p *Progress) Finish() {
	if p != nil && p.bar != nil {
		_ = p.bar.Finish() // as above
	}
}

// text says how much is done, how fast, and how long the rest will take.
func (p *Progress) text() string {
	done := p.unit(float64(p.pace.done))
	if p.size > 0 {
		done = p.says.Format("%s of %s", done, p.unit(float64(p.size)))
	}
	text := p.what + " " + done
	rate := p.pace.rate()
	if rate <= 0 {
		return text
	}
	text += ", " + p.unit(rate) + "/s"
	if p.size > 0 {
		text += ", " + p.says.Format("%s left", p.pace.left(p.size).Round(time.Second))
	}
	return text
}

// pace is how fast something goes, by what was done in the last half minute: files that are
// unchanged, and then files that are not, go at very different rates.
type pace struct {
	done    int64
	samples []sample // the first is the start of what counts
}

type sample struct {
	at   time.Time
	done int64
}

const (
	paceWindow = 30 * time.Second
	paceStep   = time.Second // between samples at least
)

func (p *pace) start(now time.Time) { p.samples = []sample{{at: now}} }

func (p *pace) add(n int64, now time.Time) {
	p.done += n
	last := len(p.samples) - 1
	if last > 0 && now.Sub(p.samples[last-1].at) < paceStep {
		p.samples[last] = sample{now, p.done}
	} else {
		p.samples = append(p.samples, sample{now, p.done})
	}
	for len(p.samples) > 2 && now.Sub(p.samples[1].at) >= paceWindow {
		p.samples = p.samples[1:]
	}
}

func (p *pace) skip(n int64) {
	p.done += n
	for i := range p.samples {
		p.samples[i].done += n
	}
}

// rate is the progress per second; 0: not known yet.
func (p *pace) rate() float64 {
	if len(p.samples) < 2 {
		return 0
	}
	first, last := p.samples[0], p.samples[len(p.samples)-1]
	took := last.at.Sub(first.at)
	if took < paceStep {
		return 0
	}
	return float64(last.done-first.done) / took.Seconds()
}

// left estimates the time that remains.
func (p *pace) left(size int64) time.Duration {
	return time.Duration(float64(max(size-p.done, 0)) / p.rate() * float64(time.Second))
}
