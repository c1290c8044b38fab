package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/hybridge-search/hybridge/fault"
)

// markedPage is a page of documentation with markers around its tables.
type markedPage struct {
	path          string
	before, after []byte // including the markers
}

func readPage(path, section string) (*markedPage, error) {
	page, err := os.ReadFile(path)
	if err != nil {
		return nil, fault.Wrap(fault.InvalidArgument, err, "read the page")
	}
	begin := []byte("<!-- relevance " + section + " -->\n")
	end := []byte("<!-- end of relevance " + section + " -->\n")
	from, to := bytes.Index(page, begin), bytes.Index(page, end)
	if from < 0 || to < from {
		return nil, fault.New(fault.InvalidArgument, "%s has no lines %q and %q", path, begin, end)
	}
	return &markedPage{path: path, before: page[:from+len(begin)], after: page[to:]}, nil
}

// write replaces the text between the markers, with the time and commit of the measurement.
func (p *markedPage) write(ctx context.Context, measured report) error {
	var tables bytes.Buffer
	fmt.Fprintf(&tables, "Measured %s%s.\n\n", time.Now().UTC().Format("2006-01-02T15:04Z"), p.commit(ctx))
	if err := measured.WriteTables(&tables); err != nil {
		return err
	}
	page := slices.Concat(p.before, []byte("\n"), tables.Bytes(), []byte("\n"), p.after)
	if err := os.WriteFile(p.path, page, 0o600); err != nil {
		return fault.Wrap(fault.Internal, err, "write the page")
	}
	return nil
}

// commit is the commit of the page's repository; empty where there is no repository.
func (p *markedPage) commit(ctx context.Context) string {
	git := exec.CommandContext(ctx, "git", "describe", "--tags", "--always", "--dirty")
	git.Dir = filepath.Dir(p.path)
	name, err := git.Output()
	if err != nil {
		return ""
	}
	return ", commit " + string(bytes.TrimSpace(name))
}
