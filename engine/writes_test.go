package engine

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/fault"
)

func TestAFullDiskIsATroubleUntilAWriteFindsRoom(t *testing.T) {
	full, away := fault.New(fault.DiskFull, "full"), fault.New(fault.Unavailable, "away")
	var seen []error
	w := Writes{Observer: func(operation string, _ time.Duration, err error) {
		if operation != "write" {
			t.Errorf(`operation %q; want operation "write"`, operation)
		}
		seen = append(seen, err)
	}}
	for _, step := range []struct {
		name     string
		outcomes []error
		err      error
		told     error
		full     bool
	}{
		{"at the beginning", nil, nil, nil, false},
		{"a chunk finds no room", []error{nil, away, full}, nil, full, true},
		{"an engine that is away says nothing of room", nil, away, away, true},
		{"a chunk that cannot be stored is no trouble", []error{fault.New(fault.InvalidArgument, "bad"), nil}, nil, nil, false},
		{"all of it finds no room", nil, full, full, true},
		{"room", []error{nil}, nil, nil, false},
	} {
		_, err := w.Write("write", func() ([]WriteOutcome, error) {
			var outcomes []WriteOutcome
			for _, err := range step.outcomes {
				outcomes = append(outcomes, WriteOutcome{Err: err})
			}
			return outcomes, step.err
		})
		if !errors.Is(err, step.err) || seen[len(seen)-1] != step.told { //nolint:errorlint // the same one
			t.Errorf("%s: %v, told %v", step.name, err, seen[len(seen)-1])
		}
		codes := []string{}
		for _, trouble := range w.Troubles("e") {
			codes = append(codes, trouble.Code)
		}
		if slices.Equal(codes, []string{DiskFull}) != step.full {
			t.Errorf("%s: troubles %v", step.name, codes)
		}
	}
}
