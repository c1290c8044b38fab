//go:build !race

package evaluation_test

const (
	raceDetector = false
	usualSets    = "xquad_zh,xquad_en2zh,stackfaq"
)
