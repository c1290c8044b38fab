//go:build race

package experiments

// Under the race detector there are fewer seeds, keys and runs, as it makes them thirty times slower and has no
// goroutine to watch: `make memory` runs all without it.
const (
	seeds  = 5
	slower = 10
)
