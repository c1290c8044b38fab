package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hybridge-search/hybridge/gateway/chunks"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/internal/cli/content"
	"github.com/hybridge-search/hybridge/internal/skips"
)

// put writes files into a folder; "" deletes one.
func put(t *testing.T, folder string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if text == "" {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// documents gives the ids of a knowledge base's documents.
func (r *running) documents(kb string) string {
	r.t.Helper()
	var list chunks.Documents
	r.must("GET", cli.BasePath(kb)+"/documents?limit=1000", nil, &list)
	var ids []string
	for _, d := range list.Documents {
		ids = append(ids, d.ID)
	}
	return strings.Join(ids, " ")
}

// served is a gateway and command lines that use it.
func served(t *testing.T) (*running, command) {
	t.Helper()
	r := run(t, settingsIn(t.TempDir()))
	return r, command{t: t, folder: t.TempDir(), environ: []string{"HYBRIDGE_SERVER=" + r.url}}
}

// Promise: "What others wrote is never pruned" (docs/guide/en/ingesting.md).
func TestIngestPrunesWhatIsGone(t *testing.T) {
	t.Parallel()
	r, c := served(t)
	docs, others := t.TempDir(), t.TempDir()
	put(t, docs, map[string]string{"a.md": "# 退款\n\n七天内可以退款。", "old/b.md": "Tea is brewed for four minutes.", "c.md": "Trains leave hourly."})
	put(t, others, map[string]string{"o.md": "Every device is guaranteed for two years."})
	c.want(cli.ExitOK, "", "ingest --kb k --create "+docs, "files: 3 written")
	c.want(cli.ExitOK, "", "ingest --kb k "+others, "files: 1 written")
	c.want(cli.ExitOK, `{"id": "line", "content": "by NDJSON"}`, "ingest --kb k -", "1 created")
	holds := func(want string) {
		t.Helper()
		if got := r.documents("k"); got != want {
			t.Errorf("the documents are %s, want %s", got, want)
		}
	}
	put(t, docs, map[string]string{"old/b.md": "", "c.md": "", "new.md": "Ships leave daily."})
	c.want(cli.ExitOK, "", "ingest --kb k --prune --dry-run "+docs, "add     new.md", "remove  c.md", "remove  old/b.md",
		"1 to add, 0 to replace, 1 unchanged, 2 to remove", "2 documents of no file here stay")
	holds("a.md c.md line o.md old/b.md")
	put(t, docs, map[string]string{"c.md": "Trains leave hourly."}) // there, although left out
	code, out, _ := c.run("", "ingest", "--kb", "k", "--prune", "--exclude", "c.md", "--json", docs)
	var summary content.UploadSummary
	if err := json.Unmarshal([]byte(out), &summary); err != nil || code != cli.ExitOK || cmp.Diff(summary.Pruned, []string{"old/b.md"}) != "" {
		t.Errorf(`%d %s %v; want no error and code exitOK and cmp.Diff(summary.Pruned, []string{"old/b.md"}) ""`, code, brief.Of(out), err)
	}
	holds("a.md c.md line new.md o.md")

	moved := filepath.Join(t.TempDir(), "moved") // on another machine
	if err := os.Rename(docs, moved); err != nil {
		t.Fatal(err)
	}
	put(t, moved, map[string]string{"a.md": ""})
	c.want(cli.ExitOK, "", "ingest --kb k --prune "+moved, "2 unchanged", "3 documents of no file here stay")
	holds("a.md c.md line new.md o.md")

	c.want(cli.ExitOK, "", "ingest --kb p --create --prefix 手册/ "+moved, "files: 2 written")
	again := t.TempDir()
	put(t, again, map[string]string{"new.md": "Ships leave daily."})
	c.want(cli.ExitOK, "", "ingest --kb p --prefix 手册/ --prune "+again, "1 unchanged", "deleted 手册/c.md")
	if got := r.documents("p"); got != "手册/new.md" {
		t.Errorf(`the documents are %s; want got "手册/new.md"`, got)
	}
	c.want(cli.ExitUsage, "", "ingest --kb p --prune "+t.TempDir(), "is this one mounted")
	put(t, again, map[string]string{"new.md": "Ships leave at noon."})
	c.want(cli.ExitOK, "", "ingest --kb p --prefix 手册/ --dry-run "+again, "replace 手册/new.md", "0 to add, 1 to replace")
	put(t, again, map[string]string{"new.md": ""})
	c.want(cli.ExitUsage, "", "ingest --kb p --prefix 手册/ --prune "+again, "is this one mounted")
	c.want(cli.ExitOK, "", "ingest --kb p --prefix 手册/ --prune --dry-run --yes "+again, "remove  手册/new.md")
	if got := r.documents("p"); got != "手册/new.md" {
		t.Errorf(`the documents are %s; want got "手册/new.md"`, got)
	}
	c.want(cli.ExitOK, "", "ingest --kb p --prefix 手册/ --prune --yes "+again, "deleted 手册/new.md")
	if got := r.documents("p"); got != "" {
		t.Errorf(`the documents are %s; want got ""`, got)
	}
	put(t, again, map[string]string{"new.md": "Ships leave daily."})
	code, _, errs := c.run("", "ingest", "--kb", "p", "--json", "--prune", t.TempDir())
	var told endpoint.Problem
	if err := json.Unmarshal([]byte(errs), &told); err != nil || code != cli.ExitUsage || told.Field != "--prune" {
		t.Errorf(`%d %q: %v; want no error and code exitUsage and told.Field "--prune"`, code, errs, err)
	}
	c.want(cli.ExitUsage, "", "ingest --kb p --prune "+filepath.Join(again, "new.md"), "with folders only")
	c.want(cli.ExitUsage, "", "ingest --kb p --prefix x/ -", "--prefix", "not for NDJSON")
	c.want(cli.ExitNotFound, "", "ingest --kb none --dry-run "+again, `"none" does not exist`)
	c.want(cli.ExitOK, "", "ingest --kb none --create --dry-run "+again, "create  none", "add     new.md")
	c.want(cli.ExitNotFound, "", "kb show none", `"none" does not exist`)
}

func TestIngestSelectsFiles(t *testing.T) {
	t.Parallel()
	r, c := served(t)
	if _, err := exec.LookPath("git"); err != nil {
		skips.Missing(t, "git is not installed")
	}
	repository := t.TempDir()
	if out, err := exec.Command("git", "init", "-q", repository).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, brief.Of(out))
	}
	put(t, repository, map[string]string{
		".gitignore": "build/\n*.tmp.md\n", "docs/.gitignore": "/secret.md\n!keep.tmp.md\n", ".git/info/exclude": "mine.md\n",
		"docs/a.md": "one", "docs/secret.md": "two", "docs/x.tmp.md": "three", "docs/keep.tmp.md": "four", "docs/deep/secret.md": "five",
		"docs/build/out.md": "six", "docs/drafts/d.md": "seven", "docs/b.html": "<p>eight", "docs/mine.md": "nine", "build/page.md": "ten",
	})
	docs, build := filepath.Join(repository, "docs"), filepath.Join(repository, "build")
	f := func(flags, folder, want string) {
		t.Helper()
		c.want(cli.ExitOK, "", "ingest --kb f --create "+flags+" "+folder)
		if got := r.documents("f"); got != want {
			t.Errorf("%s brings %s, want %s", flags, got, want)
		}
		r.must("DELETE", cli.BasePath("f"), nil, nil)
	}
	f("", docs, "a.md b.html deep/secret.md drafts/d.md keep.tmp.md")
	f("", build, "page.md") // it was named
	f("", repository, "docs/a.md docs/b.html docs/deep/secret.md docs/drafts/d.md docs/keep.tmp.md")
	f("--exclude drafts", docs, "a.md b.html deep/secret.md keep.tmp.md")
	f("--exclude drafts/** --exclude *.html", docs, "a.md deep/secret.md keep.tmp.md")
	f("--include **/{deep,drafts}/*", docs, "deep/secret.md drafts/d.md")
	f("--include *.md --exclude keep.*", docs, "a.md deep/secret.md drafts/d.md")
	f("--include /*.md", docs, "a.md keep.tmp.md")
	f("--no-gitignore", docs,
		"a.md b.html build/out.md deep/secret.md drafts/d.md keep.tmp.md mine.md secret.md x.tmp.md")
	c.want(cli.ExitUsage, "", "ingest --kb f --include [ "+docs, "--include", "a glob")
}

func TestIngestGivesMetadata(t *testing.T) {
	t.Parallel()
	r, c := served(t)
	docs := t.TempDir()
	put(t, docs, map[string]string{"a.md": "# 咖啡\n\n研磨咖啡豆。", "b.md": "Coffee is ground."})
	run := func(says string, flags ...string) {
		t.Helper()
		code, out, errs := c.run("", append(append([]string{"ingest", "--kb", "m", "--create"}, flags...), docs)...)
		if code != cli.ExitOK || !strings.Contains(out, says) {
			t.Errorf("%s: %d %s %s, want %s", flags, code, brief.Of(out), errs, says)
		}
	}
	flags := []string{
		"--metadata", "year=2026", "--metadata", "draft=false", "--metadata", `code="0123"`, "--metadata", "of=a=b",
		"--metadata", "部门=客服", "--metadata", "n=null",
	}
	run("2 written", flags...)
	run("2 unchanged", flags...)
	var page chunks.DocumentChunks
	r.must("GET", cli.BasePath("m")+"/documents/a.md", nil, &page)
	got := page.Chunks[0].Metadata
	for _, own := range []string{"source_hash", "source_folder", "language"} {
		if got[own] == nil {
			t.Errorf("no %s in %v; want a got[own]", own, got)
		}
		delete(got, own)
	}
	want := map[string]any{"year": 2026.0, "draft": false, "code": "0123", "of": "a=b", "部门": "客服", "n": "null"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	run("2 written", "--metadata", "year=2027")
	run("2 unchanged", "--metadata", "year=2027")
	run("2 written")
	c.want(cli.ExitUsage, "", "ingest --kb m --metadata year "+docs, "--metadata", "key=value")
	c.want(cli.ExitUsage, "", "ingest --kb m --metadata a=1 --metadata a=2 "+docs, "given once")
	c.want(cli.ExitFailed, "", "ingest --kb m --metadata source_hash=1 "+docs, "metadata.source_hash", "2 failed")
}

// An ingest that was interrupted goes on: what is done is left alone, by the next run.
func TestInterruptedIngestOfFiles(t *testing.T) {
	t.Parallel()
	r, c := served(t)
	docs := t.TempDir()
	put(t, docs, map[string]string{"a.md": "first", "b.md": "second", "c.md": "third"})
	if err := os.Symlink(filepath.Join(docs, "a.md"), filepath.Join(docs, "link.md")); err != nil {
		t.Fatal(err)
	}
	c.want(cli.ExitOK, "", "ingest --kb i --create --metadata v=1 --include a.md "+docs, "1 written") // so far it came
	c.want(cli.ExitOK, "", "ingest --kb i --metadata v=1 "+docs, "2 written, 1 unchanged")
	if got := r.documents("i"); got != "a.md b.md c.md" {
		t.Errorf(`the documents are %s; want got "a.md b.md c.md"`, got)
	}
}
