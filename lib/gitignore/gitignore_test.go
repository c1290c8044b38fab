package gitignore

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/skips"
)

// tree are the files that the patterns are tried on.
var tree = strings.Fields(`a.md b.log keep.log #hash !bang foo/a.md foo/deep/b.md foo/deep/keep.md x/foo/x/foo/bar
	build/out.md x/build/out.md x/build.md docs/build/y.md docs/a.md axxb.md a/xy/b.md a/b/c/d.md a/b.md
	sub/.hidden.md sub/part{1}.md sub/q1.md sub/q2.md sub/退款.md tmp/one/two/tmp/z.md sp/t[1].md`)

// TestAgainstGit asks git itself what it ignores.
func TestAgainstGit(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"*.log\n!keep.log", "foo/**", "foo/**\n!foo/**/\n!foo/**/keep.md", "foo/\n!foo/a.md", "foo/*\n!foo/a.md", "**/foo/bar", "a/**/b.md",
		"/*.md", "*.md\n!/docs/\n!docs/*.md", "build/", "build", "/build", "docs/build", "a**b.md", "a/x**/b.md", "\\#hash", "\\!bang",
		"# a comment\n\n  \n*.log  ", "q[!1].md", "q[1-2].md", "q[^1].md", "part{1}.md", "{a,b}.md", "退*", "**", "*", "**/tmp/", "/tmp/**/tmp/",
		"a/", "a/*", "sub/*\r\n!sub/q1.md\r\n", "t\\[1\\].md", "?.md", "[", "/", "!", ".hidden.md", "a/b/c", "x/foo/**/bar",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			agree(t, map[string]string{".gitignore": text})
		})
	}
	agree(t, map[string]string{
		".gitignore": "*.md\nfoo/deep/", "foo/.gitignore": "!*.md\n!deep/", "sub/.gitignore": "/q1.md\n!退款.md", "a/.gitignore": "b/**/d.md",
	})
}

func agree(t *testing.T, ignores map[string]string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		skips.Missing(t, "git is not installed")
	}
	folder := t.TempDir()
	for _, name := range tree {
		write(t, folder, name, "x")
	}
	for name, text := range ignores {
		write(t, folder, name, text)
	}
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", folder, "-c", "core.excludesFile=", "-c", "core.quotePath=false"}, args...)...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %s: %v: %s", args, err, brief.Of(out))
		}
		return string(out)
	}
	git("init", "-q")
	want := strings.Split(strings.Trim(git("ls-files", "-z", "--others", "--exclude-standard"), "\x00"), "\x00")
	got := walk(t, folder, "", nil)
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(strings.Join(want, "\n"), strings.Join(got, "\n")); diff != "" {
		t.Errorf("%q (-git +ours):\n%s; want diff \"\"", ignores, diff)
	}
}

func walk(t *testing.T, root, folder string, rules []Rule) (kept []string) {
	t.Helper()
	if text, err := os.ReadFile(filepath.Join(root, folder, ".gitignore")); err == nil {
		rules = append(slices.Clip(rules), Parse(folder, text)...)
	}
	entries, err := fs.ReadDir(os.DirFS(root), filepath.ToSlash(filepath.Join(".", folder)))
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		name := strings.TrimPrefix(folder+"/"+entry.Name(), "/")
		switch {
		case entry.Name() == ".git" || Ignored(rules, name, entry.IsDir()):
		case entry.IsDir():
			kept = append(kept, walk(t, root, name, rules)...)
		default:
			kept = append(kept, name)
		}
	}
	return kept
}

func write(t *testing.T, folder, name, text string) {
	t.Helper()
	path := filepath.Join(folder, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
