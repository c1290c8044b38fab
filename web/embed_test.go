package web

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"strings"
	"testing"
)

// TestPackedFilesAreWhole unpacks all that the binary has compressed.
func TestPackedFilesAreWhole(t *testing.T) {
	files, err := Files()
	if err != nil {
		t.Fatal(err)
	}
	err = fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(name, ".gz") {
			return err
		}
		packed, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		reader, err := gzip.NewReader(bytes.NewReader(packed))
		if err == nil {
			_, err = io.Copy(io.Discard, reader)
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
