package embedded

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hybridge-search/hybridge/fault"
)

// mark is a small file beside the data file that counts its transactions. A data file with fewer has lost its
// write-ahead log, which SQLite would treat as empty.
//
// It is written at most once a second, after the log was synced: its count is on the disk, so that a power
// cut is not reported as a loss. The mark is ignored for a restored or copied data file, which is another
// file, or of another opening.
type mark struct {
	path, data string
	log        *slog.Logger
	state      markState
	file       *os.File

	commits atomic.Int64
	due     chan struct{}
	end     chan struct{}
	work    sync.WaitGroup
}

type markState struct {
	Opening string    `json:"opening"` // of the data file, a random text
	File    uint64    `json:"file"`    // its inode number
	Commits int64     `json:"commits"`
	At      time.Time `json:"at"`
}

// markBytes is the size of the file, which is overwritten in place, also on a full disk.
const markBytes = 256

// markEvery is the longest time between a commit and the mark that counts it.
const markEvery = time.Second

func readMark(path string) (s markState, err error) {
	text, err := os.ReadFile(path) //nolint:gosec // a file of ours
	if err != nil {
		return s, err
	}
	return s, json.Unmarshal(bytes.TrimSpace(text), &s)
}

// checkLoss compares the data file with what the mark of the last opening says. It returns the number of lost
// transactions, with a fault.Corrupt unless accept is set.
func (f *files) checkLoss(ctx context.Context, data string, accept bool) (lost int64, err error) {
	f.mark = &mark{path: data + ".mark", data: data, log: f.log, due: make(chan struct{}, 1), end: make(chan struct{})}
	var opening string
	var commits int64
	if err := f.writer.QueryRowContext(ctx, "SELECT opening, commits FROM store").Scan(&opening, &commits); err != nil {
		return 0, err
	}
	f.mark.state = markState{Opening: opening, Commits: commits}
	f.mark.commits.Store(commits)
	last, err := readMark(f.mark.path)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		f.log.Warn("cannot tell whether the data file has lost changes", "mark", f.mark.path, "error", err)
		return 0, nil
	case err != nil, last.Opening == "", last.Opening != opening, last.File != fileNumber(data), last.Commits <= commits:
		return 0, nil
	}
	lost = last.Commits - commits
	if !accept {
		return lost, fault.New(fault.Corrupt, "the data file %s has gone back: it has %d of %d changes, the newest of "+
			"them of %s, because its write-ahead log %s-wal was cut or removed; put that file back if it was moved, or restore "+
			"a backup; with accept_loss (--accept-loss) the gateway goes on without them",
			data, commits, last.Commits, last.At.UTC().Format(time.RFC3339), data)
	}
	f.log.Error("the data file has lost changes, which was accepted", "file", data, "changes", commits,
		"lost", lost, "until", last.At)
	return lost, nil
}

// begin names this opening in the data file and starts updating the mark. On a full disk
// the previous name stays in use.
func (f *files) begin(ctx context.Context) error {
	m := f.mark
	opening := rand.Text()
	_, err := f.writer.ExecContext(ctx, "UPDATE store SET opening = ?", opening)
	if err == nil { // else a lost log would take the name with it
		_, err = f.writer.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	}
	switch {
	case isFull(err):
		f.full.Store(true)
	case err != nil:
		return err
	default:
		m.state.Opening = opening
	}
	m.state.File = fileNumber(m.data)
	if m.file, err = os.OpenFile(m.path, os.O_RDWR|os.O_CREATE, 0o600); err == nil {
		err = m.write()
	}
	if err != nil {
		m.log.Warn("a loss of the write-ahead log would not be noticed", "mark", m.path, "error", err)
	}
	m.work.Go(m.keep)
	return nil
}

// note says that a transaction was committed.
func (m *mark) note(commits int64) {
	m.commits.Store(commits)
	select {
	case m.due <- struct{}{}:
	default:
	}
}

// keep writes the mark after commits, until close.
func (m *mark) keep() {
	failed := false
	for {
		select {
		case <-m.end:
			return
		case <-m.due:
		}
		err := m.write()
		if err != nil && !failed {
			m.log.Warn("a loss of the write-ahead log would not be noticed", "mark", m.path, "error", err)
		}
		failed = err != nil
		select {
		case <-m.end:
			return
		case <-time.After(markEvery):
		}
	}
}

// write stores the number of commits.
func (m *mark) write() error {
	if m.file == nil {
		return fs.ErrClosed
	}
	s := m.state
	s.Commits, s.At = m.commits.Load(), time.Now()
	if err := syncIfThere(m.data + "-wal"); err != nil {
		return err
	}
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	text = append(text, bytes.Repeat([]byte(" "), max(0, markBytes-1-len(text)))...)
	if _, err := m.file.WriteAt(append(text, '\n'), 0); err != nil {
		return err
	}
	return m.file.Sync()
}

// close writes the mark a last time. Call it before the data file is closed.
func (m *mark) close() error {
	close(m.end)
	m.work.Wait()
	if m.file == nil {
		return nil
	}
	err := m.write()
	if isFull(err) {
		err = nil
	}
	return errors.Join(err, m.file.Close())
}

func syncIfThere(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR, 0) //nolint:gosec // a file of ours
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}
