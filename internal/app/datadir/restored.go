package datadir

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/hybridge-search/hybridge/fault"
)

// Unfinished is a file in a data directory while data files are put there.
const Unfinished = "restore.unfinished"

// checkRestored refuses a data directory that has a part of a backup only.
func checkRestored(dir string) error {
	text, err := os.ReadFile(filepath.Join(dir, Unfinished)) //nolint:gosec // a file of ours
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	return fault.New(fault.Conflict, "restoring the data directory %s was not finished; run it again: "+
		"hybridge restore %s --overwrite", dir, text)
}
