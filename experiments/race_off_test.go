//go:build !race

package experiments

const slower = 1
