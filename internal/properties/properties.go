// Package properties says on how many random cases a property is tried: a test package that uses rapid imports it.
// HYBRIDGE_TEST_CHECKS is their number (rapid's own is 100). `make test` tries few, as each run tries others and the
// race detector makes each dear; `make stamina` tries many.
package properties

import (
	"flag"
	"os"

	_ "pgregory.net/rapid" // whose flag it is
)

const variable = "HYBRIDGE_TEST_CHECKS"

func init() { // -rapid.checks on the command line comes later and wins
	if checks := os.Getenv(variable); checks != "" {
		if err := flag.Set("rapid.checks", checks); err != nil {
			panic(variable + ": " + err.Error())
		}
	}
}
