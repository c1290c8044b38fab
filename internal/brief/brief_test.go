package brief

import (
	"strings"
	"testing"
)

func TestOf(t *testing.T) {
	if got, want := Of([]byte("short")), "short"; got != want {
		t.Errorf("Of(short) = %q, want %q", got, want)
	}
	long := strings.Repeat("a", 500) + strings.Repeat("b", 500)
	got, want := Of(long), long[:300]+" … 400 of 1000 bytes are left out … "+long[700:]
	if got != want {
		t.Errorf("Of(1000 bytes) = %q, want %q", got, want)
	}
}
