//go:build race

package experiments

// Under the race detector there are fewer keys and runs, and no simulated users, as it makes them thirty times slower and
// has no goroutine to watch: `make memory` runs all without it.
const slower = 10
