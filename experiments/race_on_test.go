//go:build race

package experiments

// seeds are fewer under the race detector, which makes simulations thirty times slower and has no goroutine to watch:
// `make memory` runs all without it.
const seeds = 5
