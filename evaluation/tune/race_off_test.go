//go:build !race

package tune

// asked is how many questions of a set are.
const asked = 40
