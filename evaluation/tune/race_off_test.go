//go:build !race

package tune

import "testing"

// asked is how many questions of a set are.
const asked = 40

func withoutRaces(*testing.T) {}
