// Package datadir is the folder in which a gateway keeps its data: who uses it (lock.go), whether a backup was put
// there in full (restored.go), how much room there is (disk_*.go), and that nobody else reads it (umask_*.go).
package datadir

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hybridge-search/hybridge/fault"
)

// LockFile in the data directory is locked by the process that uses the directory, and holds
// the address where that serves. The lock ends with the process, however that ends.
const LockFile = "gateway.lock"

// Lock is the lock of a data directory.
type Lock struct{ file *os.File }

// ErrHeld means that another process holds the lock.
var ErrHeld = errors.New("held by another process")

// Take locks the data directory. If another process holds the lock, the error is errHeld
// and url is the address that it serves at, or empty if it does not serve.
func Take(dir string) (held *Lock, url string, err error) {
	held, url, err = TakeUnfinished(dir)
	if held != nil {
		if err := checkRestored(dir); err != nil {
			return nil, "", errors.Join(err, held.Release())
		}
	}
	return held, url, err
}

// TakeUnfinished is lockData also for a data directory whose restoring was not finished.
func TakeUnfinished(dir string) (held *Lock, url string, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, "", fault.Wrap(fault.InvalidArgument, err, "the data directory %s cannot be made", dir)
	}
	file, err := os.OpenFile(filepath.Join(filepath.Clean(dir), LockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, "", fault.Wrap(fault.InvalidArgument, err, "the data directory %s cannot be used", dir)
	}
	locked, err := TryLock(file)
	if err == nil && locked {
		held := &Lock{file: file}
		if err = held.Announce(""); err == nil {
			return held, "", nil
		}
	}
	if err == nil {
		url, err = Announced(file)
	}
	if err == nil {
		err = ErrHeld
	}
	return nil, url, errors.Join(err, file.Close())
}

// Announced reads from a lock file where its holder serves.
func Announced(file *os.File) (string, error) {
	text, err := io.ReadAll(io.LimitReader(file, 1024))
	return strings.TrimSpace(string(text)), err
}

// Serving returns the URL of the process that uses a data directory; empty: none does. It creates nothing.
func Serving(dir string) string {
	file, err := os.OpenFile(filepath.Join(filepath.Clean(dir), LockFile), os.O_RDWR, 0)
	if err != nil {
		return ""
	}
	defer func() { _ = letGo(file) }()
	url, err := Announced(file)
	if err != nil || url == "" {
		return ""
	}
	if free, err := TryLock(file); free || err != nil {
		return "" // who said so has gone
	}
	return url
}

// Announce writes where this process serves.
func (l *Lock) Announce(url string) error {
	if err := l.file.Truncate(0); err != nil {
		return fault.Wrap(fault.Internal, err, "write %s", l.file.Name())
	}
	if _, err := l.file.WriteAt([]byte(url), 0); err != nil {
		return fault.Wrap(fault.Internal, err, "write %s", l.file.Name())
	}
	return nil
}

// Release unlocks the data directory.
func (l *Lock) Release() error { return letGo(l.file) }

// letGo unlocks a file and closes it. Closing alone leaves the lock to a child process that is being started meanwhile,
// until that is another program.
func letGo(file *os.File) error { return errors.Join(unlock(file), file.Close()) }

const (
	lockRetry   = 50 * time.Millisecond
	lockTimeout = 30 * time.Second
)

// TakeOrFind locks the data directory, or returns the URL of the gateway that uses it. It waits
// for a process that does not serve, as that is a command that will end soon.
func TakeOrFind(ctx context.Context, dir string) (*Lock, string, error) {
	ctx, cancel := context.WithTimeout(ctx, lockTimeout)
	defer cancel()
	for {
		held, url, err := Take(dir)
		if held != nil || url != "" {
			return held, url, nil
		}
		if !errors.Is(err, ErrHeld) {
			return nil, "", err
		}
		select {
		case <-time.After(lockRetry):
		case <-ctx.Done():
			return nil, "", InUse(dir)
		}
	}
}

// InUse is the error of a data directory that another process uses.
func InUse(dir string) error {
	return fault.New(fault.Conflict, "another process uses the data directory %s", dir)
}
