package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/fault"
)

func TestTakeProfile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "cpu.pprof")
	stop, err := takeProfile(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := takeProfile(name + ".second"); !fault.Is(err, fault.Internal) {
		t.Errorf("a second profile at the same time: %v", err)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	written, err := os.ReadFile(name)
	if err != nil || !bytes.HasPrefix(written, []byte{0x1f, 0x8b}) {
		t.Errorf("the profile is not what pprof reads: %d bytes, %v", len(written), err)
	}
	_, err = takeProfile(filepath.Join(t.TempDir(), "absent", "cpu.pprof"))
	if !fault.Is(err, fault.InvalidArgument) || !strings.Contains(err.Error(), "cpu_profile") {
		t.Errorf("a folder that is not there: %v", err)
	}
	if stop, err = takeProfile(""); err != nil || stop() != nil {
		t.Errorf("no file: %v", err)
	}
}
