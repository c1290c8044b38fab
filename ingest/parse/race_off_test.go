//go:build !race

package parse

const attackSize, wholeAttack = 16 << 20, true
