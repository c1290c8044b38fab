// Package seeds gives tests randomness that can be had again. A seed that is written in a test needs no help.
package seeds

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"
)

const variable = "HYBRIDGE_TEST_SEED"

// New gives random numbers of a seed that is another in each run. A test that fails tells it, and HYBRIDGE_TEST_SEED
// sets it.
func New(t testing.TB) *rand.Rand {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv(variable); text != "" {
		wanted, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("%s is %q; it must be a whole number", variable, text)
		}
		seed = wanted
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s=%d draws the same again", variable, seed)
		}
	})
	return rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // of a test
}
