//go:build race

package parse

// The race detector makes parsing ten times slower.
const attackSize, wholeAttack = 256 << 10, false
