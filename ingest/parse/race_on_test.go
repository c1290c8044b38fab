//go:build race

package parse

// The race detector makes parsing thirty times slower, and larger: `make memory` runs these
// tests without it.
const attackSize, fuzzedSize, wholeAttack = 8 << 10, 8 << 10, false
