package labels

import (
	"strconv"
	"testing"
)

func TestNamesBeyondTheLimitAreOther(t *testing.T) {
	var b Bounded
	for i := range 2 * limit {
		name, want := strconv.Itoa(i), strconv.Itoa(i)
		if i >= limit {
			want = Other
		}
		if got := b.Of(name); got != want {
			t.Errorf("%s is labelled %s, want %s", name, got, want)
		}
	}
	if got := b.Of("0"); got != "0" {
		t.Errorf(`a known name became %s; want got "0"`, got)
	}
}
