package deadline_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/internal/deadline"
)

const hanging = "HYBRIDGE_TEST_HANGING"

// TestWhatHangsFails runs itself with a test that hangs.
func TestWhatHangsFails(t *testing.T) {
	if os.Getenv(hanging) != "" {
		deadline.Set(t, 10*time.Millisecond)
		select {}
	}
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestWhatHangsFails$") //nolint:gosec // itself
	child.Env = append(os.Environ(), hanging+"=1")
	out, err := child.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "TestWhatHangsFails hangs") || !strings.Contains(string(out), "deadline_test.go") {
		t.Errorf("%v: %s", err, out)
	}
}

func TestWhatEndsPasses(t *testing.T) {
	t.Run("ends", func(t *testing.T) { deadline.Set(t, 50*time.Millisecond) })
	time.Sleep(100 * time.Millisecond)
}
