//go:build race

package evaluation_test

// The race detector makes ranking seven times slower and finds nothing in a second
// set that it does not find in the first: `make test` measures the others without it.
const (
	raceDetector = true
	usualSets    = "xquad_zh"
)
