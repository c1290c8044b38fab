package main

import (
	"errors"
	"os"
	"runtime/pprof"

	"github.com/hybridge-search/hybridge/fault"
)

// takeProfile writes a profile of the processor time into a file, from now until stop
// is called; without a file it does nothing.
func takeProfile(name string) (stop func() error, err error) {
	if name == "" {
		return func() error { return nil }, nil
	}
	file, err := os.Create(name)
	if err != nil {
		return nil, fault.Wrap(fault.InvalidArgument, err, "cpu_profile")
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return nil, errors.Join(fault.Wrap(fault.Internal, err, "cpu_profile %s", name), file.Close())
	}
	return func() error {
		pprof.StopCPUProfile()
		return file.Close()
	}, nil
}
