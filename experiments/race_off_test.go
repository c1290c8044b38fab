//go:build !race

package experiments

const seeds = 200
