package main

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

// lockFile in the data directory is locked by the process that uses the directory, and holds
// the address where that serves. The lock ends with the process, however that ends.
const lockFile = "gateway.lock"

// dataLock is the lock of a data directory.
type dataLock struct{ file *os.File }

// errHeld means that another process holds the lock.
var errHeld = errors.New("held by another process")

// lockData locks the data directory. If another process holds the lock, the error is errHeld
// and url is where that process serves, or empty if it does not serve.
func lockData(dir string) (held *dataLock, url string, err error) {
	held, url, err = lockAny(dir)
	if held != nil {
		if err := checkRestored(dir); err != nil {
			return nil, "", errors.Join(err, held.release())
		}
	}
	return held, url, err
}

// lockAny is lockData also for a data directory whose restoring was not finished.
func lockAny(dir string) (held *dataLock, url string, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, "", fault.Wrap(fault.InvalidArgument, err, "the data directory %s cannot be made", dir)
	}
	file, err := os.OpenFile(filepath.Join(filepath.Clean(dir), lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, "", fault.Wrap(fault.InvalidArgument, err, "the data directory %s cannot be used", dir)
	}
	locked, err := tryLock(file)
	if err == nil && locked {
		held := &dataLock{file: file}
		if err = held.announce(""); err == nil {
			return held, "", nil
		}
	}
	if err == nil {
		url, err = announced(file)
	}
	if err == nil {
		err = errHeld
	}
	return nil, url, errors.Join(err, file.Close())
}

func announced(file *os.File) (string, error) {
	text, err := io.ReadAll(io.LimitReader(file, 1024))
	return strings.TrimSpace(string(text)), err
}

// serving is where the process that uses a data directory serves; empty: none does. It makes nothing.
func serving(dir string) string {
	file, err := os.OpenFile(filepath.Join(filepath.Clean(dir), lockFile), os.O_RDWR, 0)
	if err != nil {
		return ""
	}
	defer func() { _ = letGo(file) }()
	url, err := announced(file)
	if err != nil || url == "" {
		return ""
	}
	if free, err := tryLock(file); free || err != nil {
		return "" // who said so has gone
	}
	return url
}

// announce writes where this process serves.
func (l *dataLock) announce(url string) error {
	if err := l.file.Truncate(0); err != nil {
		return fault.Wrap(fault.Internal, err, "write %s", l.file.Name())
	}
	if _, err := l.file.WriteAt([]byte(url), 0); err != nil {
		return fault.Wrap(fault.Internal, err, "write %s", l.file.Name())
	}
	return nil
}

// release unlocks the data directory.
func (l *dataLock) release() error { return letGo(l.file) }

// letGo unlocks a file and closes it. Closing alone leaves the lock to a child process that is being started meanwhile,
// until that is another program.
func letGo(file *os.File) error { return errors.Join(unlock(file), file.Close()) }

const (
	lockRetry   = 50 * time.Millisecond
	lockTimeout = 30 * time.Second
)

// lockOrFind locks the data directory, or returns the URL of the gateway that uses it. It waits
// for a process that does not serve, as that is a command that will end soon.
func lockOrFind(ctx context.Context, dir string) (*dataLock, string, error) {
	ctx, cancel := context.WithTimeout(ctx, lockTimeout)
	defer cancel()
	for {
		held, url, err := lockData(dir)
		if held != nil || url != "" {
			return held, url, nil
		}
		if !errors.Is(err, errHeld) {
			return nil, "", err
		}
		select {
		case <-time.After(lockRetry):
		case <-ctx.Done():
			return nil, "", inUse(dir)
		}
	}
}

func inUse(dir string) error {
	return fault.New(fault.Conflict, "another process uses the data directory %s", dir)
}
