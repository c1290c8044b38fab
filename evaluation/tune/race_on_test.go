//go:build race

package tune

// asked are fewer questions under the race detector, which makes searches ten times slower: `make memory` asks all.
const asked = 12 // of which five folds need ten
