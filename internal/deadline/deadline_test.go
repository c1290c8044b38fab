package deadline_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hybridge-search/hybridge/internal/brief"
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
		t.Errorf(`%v: %s; want an error and "TestWhatHangsFails hangs" in it and "deadline_test.go" in it`, err, brief.Of(out))
	}
}

func TestNoDayBeginsWithinATest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // whose day has just begun
		f := func(now, want time.Duration) {
			t.Helper()
			time.Sleep(now)
			began := time.Now()
			deadline.AwayFromMidnight(t, 10*time.Second)
			if waited := time.Since(began); waited != want {
				t.Errorf("at %v it waits %v, want %v", began, waited, want)
			}
		}
		f(0, 0)
		f(24*time.Hour-11*time.Second, 0)
		f(2*time.Second, 9*time.Second)
		f(time.Second, 0)
	})
}

func TestWhatEndsPasses(t *testing.T) {
	t.Run("ends", func(t *testing.T) { deadline.Set(t, 50*time.Millisecond) })
	time.Sleep(100 * time.Millisecond)
}
