package embedded

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/hybridge-search/hybridge/fault"
)

// indexFiles is the folder of the stored BM25 indexes, a file per knowledge base and
// text field. They are a cache: checked when read, rebuilt from the chunks when
// damaged. They stay out of SQLite, where one damaged page can cost more than an
// index.
type indexFiles string

const (
	indexFolder = "indexes"
	indexSuffix = ".bm25"
)

func openIndexFiles(dir string) (indexFiles, error) {
	folder := filepath.Join(dir, indexFolder)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", fault.Wrap(fault.Unavailable, err, "making the folder %s", folder)
	}
	return indexFiles(folder), nil
}

func (f indexFiles) path(number int64, field string) string {
	return filepath.Join(string(f), fmt.Sprintf("%d-%s%s", number, field, indexSuffix))
}

// read gives a stored index; fs.ErrNotExist when there is none.
func (f indexFiles) read(number int64, field string) ([]byte, error) {
	return os.ReadFile(f.path(number, field))
}

// write replaces a stored index. A process killed meanwhile leaves the old one; what a
// power cut leaves behind fails the checksum.
func (f indexFiles) write(number int64, field string, index io.WriterTo) error {
	path := f.path(number, field)
	const fresh = os.O_RDWR | os.O_CREATE | os.O_TRUNC
	unfinished, err := os.OpenFile(path+".new", fresh, 0o600) //nolint:gosec // number and field are ours
	if err != nil {
		return err
	}
	_, err = index.WriteTo(unfinished)
	if err = errors.Join(err, unfinished.Close()); err != nil {
		return errors.Join(err, os.Remove(unfinished.Name()))
	}
	return os.Rename(unfinished.Name(), path)
}

// remove drops the stored indexes of a knowledge base.
func (f indexFiles) remove(number int64, fields []string) error {
	var all []error
	for _, field := range fields {
		if err := os.Remove(f.path(number, field)); !errors.Is(err, fs.ErrNotExist) {
			all = append(all, err)
		}
	}
	return errors.Join(all...)
}

// sweep removes files that belong to no knowledge base. Numbers are never reused, but
// a process may be killed between a deletion and its last step.
func (f indexFiles) sweep(known map[string]bool) error {
	entries, err := os.ReadDir(string(f))
	if err != nil {
		return err
	}
	var all []error
	for _, e := range entries {
		number, _, _ := strings.Cut(e.Name(), "-")
		if !known[number] || !strings.HasSuffix(e.Name(), indexSuffix) {
			all = append(all, os.Remove(filepath.Join(string(f), e.Name())))
		}
	}
	return errors.Join(all...)
}
