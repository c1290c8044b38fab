//go:build !race

package pool

// raceDetector says whether the tests run under the race detector.
const raceDetector = false
