//go:build race

package evaluation_test

// raceDetector says whether the tests run under the race detector, which makes those that
// measure retrieval sets ten times slower: `make memory` runs them without it.
const raceDetector = true
