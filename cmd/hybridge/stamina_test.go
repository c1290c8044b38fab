package main

import (
	"os"
	"strconv"
	"testing"
	"time"
)

// The tests of stamina are short within `make test`; `make stamina` lets them
// last as long as these variables say.
const (
	killsVariable    = "HYBRIDGE_TEST_KILLS"    // of the gateway, one after the other
	durationVariable = "HYBRIDGE_TEST_DURATION" // of the mixed load, as 10m
)

func countOf(t *testing.T, variable string, otherwise int) int {
	t.Helper()
	text, given := os.LookupEnv(variable)
	if !given {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s is %q; it must be a number above 0", variable, text)
	}
	return n
}

func durationOf(t *testing.T, variable string, otherwise time.Duration) time.Duration {
	t.Helper()
	text, given := os.LookupEnv(variable)
	if !given {
		return otherwise
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		t.Fatalf("%s is %q; it must be a duration such as 10m", variable, text)
	}
	return d
}
