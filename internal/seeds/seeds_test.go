package seeds_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/seeds"
)

// failing stands in for a test that fails, and notes what it says.
type failing struct {
	testing.TB
	said  string
	after func()
}

func (*failing) Helper()                           {}
func (*failing) Failed() bool                      { return true }
func (f *failing) Cleanup(do func())               { f.after = do }
func (f *failing) Logf(format string, args ...any) { f.said = fmt.Sprintf(format, args...) }

func TestASeedIsToldAndDrawsTheSame(t *testing.T) {
	f := &failing{}
	first := seeds.New(f).Uint64()
	f.after()
	seed := regexp.MustCompile(`^HYBRIDGE_TEST_SEED=(\d+) `).FindStringSubmatch(f.said)
	if seed == nil {
		t.Fatalf("it says %q; want a seed", f.said)
	}
	t.Setenv("HYBRIDGE_TEST_SEED", seed[1])
	if again := seeds.New(t).Uint64(); again != first {
		t.Errorf("%d the first time, %d the second", first, again)
	}
}

// untold is randomness whose seed nobody knows.
var untold = regexp.MustCompile(`\b(rand|mathrand)\.(IntN|Intn|Int|Int64|Int63|Float64|Shuffle|Perm|Uint64|Uint32|N)\(|PCG\(uint64\(time\.`)

// TestSeedsAreTold: a test draws from a seed that it writes, or from this package.
func TestSeedsAreTold(t *testing.T) {
	root := filepath.Join("..", "..")
	files := 0
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() && (entry.Name() == "node_modules" || entry.Name() == ".git") {
			if err == nil {
				err = filepath.SkipDir
			}
			return err
		}
		if entry.IsDir() || !strings.HasSuffix(name, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(name) //nolint:gosec // a source of this module
		if files++; strings.Contains(string(text), "math/rand") && untold.Match(text) {
			t.Errorf("%s draws %s, whose seed nobody is told: seeds.New", name, brief.Of(untold.Find(text)))
		}
		return err
	})
	if err != nil || files < 300 {
		t.Errorf("%d files, %v; want no error and files at least 300", files, err)
	}
}
