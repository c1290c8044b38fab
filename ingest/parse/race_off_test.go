//go:build !race

package parse

const attackSize, fuzzedSize, wholeAttack = 8 << 20, 200_000, true
