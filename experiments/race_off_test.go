//go:build !race

package experiments

const (
	seeds  = 200
	slower = 1
)
