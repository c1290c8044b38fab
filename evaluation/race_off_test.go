//go:build !race

package evaluation_test

const raceDetector = false
