package layers

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/skips"
)

// maxTrackedBytes keeps a clone small: data is downloaded, not committed.
const maxTrackedBytes = 1 << 20

// machinePaths are folders of one machine; what names them works nowhere else.
var machinePaths = regexp.MustCompile(`(^|[\s"'` + "`" + `=(:])/(work|root|tmp/hb|home/[a-z]+|Users)(/|\b)`)

// mayNameFolder leaves out most files before the expression is tried on every line.
func mayNameFolder(content []byte) bool {
	return slices.ContainsFunc([]string{"/wo" + "rk", "/ro" + "ot", "/tm" + "p/hb", "/ho" + "me", "/Use" + "rs"}, func(part string) bool {
		return bytes.Contains(content, []byte(part))
	})
}

func trackedFiles(t *testing.T) []string {
	t.Helper()
	listed, err := exec.Command("git", "-C", root, "ls-files", "-z").Output()
	if err != nil {
		skips.Missing(t, "git cannot list the tracked files: "+err.Error())
	}
	return strings.Split(strings.TrimRight(string(listed), "\x00"), "\x00")
}

func TestTrackedFilesAreSmallAndAtHomeAnywhere(t *testing.T) {
	for _, name := range trackedFiles(t) {
		content, err := os.ReadFile(filepath.Join(root, name))
		if os.IsNotExist(err) {
			continue // removed, not committed yet
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(content) > maxTrackedBytes {
			t.Errorf("%s has %d bytes; a tracked file has at most %d", name, len(content), maxTrackedBytes)
		}
		if !mayNameFolder(content) {
			continue
		}
		for i, line := range bytes.Split(content, []byte("\n")) {
			if path := machinePaths.Find(line); path != nil {
				t.Errorf("%s:%d names a folder of one machine, %q; want no path", name, i+1, brief.Of(path))
			}
		}
	}
}

func TestMachinePaths(t *testing.T) {
	f := func(line string, want bool) {
		t.Helper()
		if got := mayNameFolder([]byte(line)) && machinePaths.MatchString(line); got != want {
			t.Errorf("%q: %v, want %v", line, got, want)
		}
	}
	f("cd /wo"+"rk/main", true)
	f(`"/ro`+`ot/.cache"`, true)
	f("see /tm"+"p/hb/x", true)
	f("HOME=/ho"+"me/user", true)
	f("https://example.org/wo"+"rk/root", false)
	f("the root/leaf order", false)
	f("/var/cache/hybridge", false)
}
