//go:build !race

package parse

const attackSize, fuzzedSize, wholeAttack = 16 << 20, 200_000, true
