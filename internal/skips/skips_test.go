package skips_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/skips"
)

// recorder stands in for a test and notes how it would end.
type recorder struct {
	testing.TB
	end string
}

func (*recorder) Helper()             {}
func (*recorder) Name() string        { return "TestX" }
func (r *recorder) Fatal(args ...any) { r.end = "fatal: " + fmt.Sprint(args...) }
func (r *recorder) Skip(args ...any)  { r.end = "skip: " + fmt.Sprint(args...) }

func TestWhatIsMissingFailsInCI(t *testing.T) {
	f := func(ci string, leave func(testing.TB, string), want, noted string) {
		t.Helper()
		notes := filepath.Join(t.TempDir(), "skips")
		t.Setenv("CI", ci)
		t.Setenv("HYBRIDGE_TEST_SKIPS", notes)
		r := &recorder{}
		leave(r, "no git")
		text, _ := os.ReadFile(notes) // none where nothing is skipped
		if r.end != want || string(text) != noted {
			t.Errorf("CI=%q: %q, noted %q; want %q, %q", ci, r.end, brief.Of(text), want, noted)
		}
	}
	const note = "go\tTestX\tno git\n"
	f("", skips.Missing, "skip: no git", note)
	f("false", skips.Missing, "skip: no git", note)
	f("true", skips.Missing, "fatal: no git", "")
	f("true", skips.ByDesign, "skip: no git", note)
}

// waysOut are the calls by which each language leaves a test out, and its one helper.
var waysOut = map[string]struct {
	hint   *regexp.Regexp // which a file has that has a call; it is a plain text, so that most files take no time
	calls  *regexp.Regexp
	helper string
}{
	".go": {regexp.MustCompile(`\.Skip`), regexp.MustCompile(`\b(t|b|tb|f)\.Skip(f|Now)?\(`), "internal/skips/skips.go"},
	".ts": {
		regexp.MustCompile(`\.(skip|fixme|only|runIf|todo)`), regexp.MustCompile(`\b(test|it|describe)(\.describe)?\.(skip|fixme|only|skipIf|runIf|todo)\b`),
		"web/e2e/skip.ts",
	},
	".py": {regexp.MustCompile(`skip|xfail`), regexp.MustCompile(`pytest\.(skip|importorskip|mark\.(skip|xfail))|unittest\.skip`), "clients/skips.py"},
}

// TestEachLanguageHasOneSkip: whoever leaves a test out another way hides it from the count, and from CI.
func TestEachLanguageHasOneSkip(t *testing.T) {
	root := filepath.Join("..", "..")
	files := 0
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := entry.Name()
		if entry.IsDir() && name != root && (base[0] == '.' || base == "node_modules" || base == "dist" || base == "testdata") {
			return filepath.SkipDir
		}
		of, known := waysOut[filepath.Ext(base)]
		relative := filepath.ToSlash(strings.TrimPrefix(name, root+string(filepath.Separator)))
		if entry.IsDir() || !known || relative == of.helper || relative == "internal/skips/skips_test.go" {
			return nil
		}
		text, err := os.ReadFile(name) //nolint:gosec // a source of this module
		if files++; !of.hint.Match(text) {
			return err
		}
		for i, line := range strings.Split(string(text), "\n") {
			if of.calls.MatchString(line) {
				t.Errorf("%s:%d leaves a test out by itself, and only %s may: %s", relative, i+1, of.helper, line)
			}
		}
		return err
	})
	if err != nil || files < 500 {
		t.Errorf("%d files, %v; want no error and files at least 500", files, err)
	}
}
