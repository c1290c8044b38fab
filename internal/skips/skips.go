// Package skips is the one way to leave a Go test out: browser tests have web/e2e/skip.ts, and Python has
// clients/skips.py. Each skip is a line of the file that HYBRIDGE_TEST_SKIPS names, which scripts/test counts.
package skips

import (
	"fmt"
	"os"
	"testing"
)

// Missing leaves a test out that lacks something on this machine, and fails it with CI=true.
func Missing(t testing.TB, what string) {
	t.Helper()
	if inCI() {
		t.Fatal(what)
		return // of a recorder
	}
	ByDesign(t, what)
}

// ByDesign leaves a test out that another command runs, in CI too.
func ByDesign(t testing.TB, why string) {
	t.Helper()
	if name := os.Getenv("HYBRIDGE_TEST_SKIPS"); name != "" {
		file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = fmt.Fprintf(file, "go\t%s\t%s\n", t.Name(), why) // a count that is one less
		_ = file.Close()
	}
	t.Skip(why)
}

// inCI reports whether what is missing is a failure.
func inCI() bool { return os.Getenv("CI") == "true" }
