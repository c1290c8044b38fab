package ingest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/deadline"
	"github.com/hybridge-search/hybridge/internal/golden"
)

// files runs a request and gives one line per file.
func files(t *testing.T, p *Pipeline, request FilesRequest) []string {
	t.Helper()
	request.KB = passages
	var lines []string
	summary, err := p.Files(ctx, acme, request, func(r FileReport) {
		line := fmt.Sprintf("%d/%d %s %s %d", r.Done, r.Total, r.DocumentID, r.Status, r.Chunks)
		if r.Error != nil {
			line += " " + r.Error.Detail
		}
		lines = append(lines, line)
	})
	if err != nil {
		t.Fatal(err)
	}
	if summary.Files != len(lines) {
		t.Errorf("%+v for %d reports", summary, len(lines))
	}
	return lines
}

// Promise: "begin with a dot never come" (docs/guide/en/ingesting.md).
func TestAFolder(t *testing.T) {
	fake := newFakeEngine()
	p := newPipeline(fake, &fakeEmbedder{}, Options{})
	got := files(t, p, FilesRequest{Paths: []string{"testdata/folder"}})
	want := []string{
		"1/7 binary.txt skipped 0 binary: it holds NUL bytes",
		"2/7 empty.md skipped 0 no text in it",
		"3/7 gbk.htm written 1",
		"4/7 guide.md written 4",
		"5/7 image.png skipped 0 not one of the formats .csv .docm .docx .htm .html .markdown .md .pdf .pptm .pptx .text .tsv .txt .xlsm .xlsx",
		"6/7 notes.txt written 1",
		"7/7 sub/page.html written 2",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	chunks := fake.sorted()
	for i := range chunks {
		chunks[i] = undated(t, chunks[i])
	}
	golden.JSON(t, "folder.json", chunks)
	for id, c := range fake.chunks {
		if c.Vectors["vector"] == nil {
			t.Errorf(`%s has no vector; want a c.Vectors["vector"]`, id)
		}
	}
}

func TestASecondRun(t *testing.T) {
	fake := newFakeEngine()
	p := newPipeline(fake, nil, Options{Split: SplitOptions{Target: 40, Overlap: -1}})
	folder := fstest.MapFS{
		"a.txt": {Data: []byte(strings.Repeat("One sentence of some length. ", 10))},
		"b.md":  {Data: []byte("# B\n\ntext")},
	}
	run := func(p *Pipeline, want ...string) {
		t.Helper()
		got := files(t, p, FilesRequest{Folders: []fs.FS{folder}})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	run(p, "1/2 a.txt written 10", "2/2 b.md written 1")
	run(p, "1/2 a.txt unchanged 10", "2/2 b.md unchanged 1")

	folder["a.txt"] = &fstest.MapFile{Data: []byte("It shrank.")}
	run(p, "1/2 a.txt written 1", "2/2 b.md unchanged 1")
	if len(fake.chunks) != 2 {
		t.Errorf("%d chunks are left of 2; want 2 fake.chunks", len(fake.chunks))
	}
	folder["a.txt"] = &fstest.MapFile{Data: []byte(strings.Repeat("Grown to several sentences. ", 3))}
	run(p, "1/2 a.txt written 3", "2/2 b.md unchanged 1")
	delete(fake.chunks, "a.txt#2") // as a run that was killed leaves it
	run(p, "1/2 a.txt written 3", "2/2 b.md unchanged 1")

	withModel := newPipeline(fake, &fakeEmbedder{}, Options{Split: SplitOptions{Target: 40, Overlap: -1}})
	run(withModel, "1/2 a.txt written 3", "2/2 b.md written 1")
}

func TestBadFiles(t *testing.T) {
	fake := newFakeEngine()
	p := newPipeline(fake, nil, Options{MaxFile: 20})
	long := strings.Repeat("x", 260) + ".txt"
	folder := fstest.MapFS{
		"big.txt":  {Data: []byte("more than twenty bytes")},
		"bad.txt":  {Data: []byte("a\x00b")},
		long:       {Data: []byte("text")},
		"page.htm": {Data: []byte("<script>1</script>")},
	}
	got := files(t, p, FilesRequest{Folders: []fs.FS{folder, fstest.MapFS{"bad.txt": {Data: []byte("fine")}}}})
	want := []string{
		"1/5 bad.txt skipped 0 binary: it holds NUL bytes",
		"2/5 big.txt skipped 0 larger than 20 bytes",
		"3/5 page.htm skipped 0 no text in it",
		"4/5 " + long + " failed 0 name is",
		"5/5 bad.txt skipped 0 another file of this run has the same path and thus the same document id",
	}
	for i := range want {
		if i >= len(got) || !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("got %q, want %q", got, want[i])
		}
	}
	_, err := p.Files(ctx, acme, FilesRequest{KB: passages, Paths: []string{"testdata/nope"}}, nil)
	wantKind(t, err, fault.InvalidArgument, "testdata/nope")
	_, err = p.Files(ctx, acme, FilesRequest{KB: pairs, Paths: []string{"testdata"}}, nil)
	wantKind(t, err, fault.InvalidArgument, "passages")
	_, err = p.Files(ctx, acme, FilesRequest{KB: attached, Paths: []string{"testdata"}}, nil)
	wantKind(t, err, fault.ReadOnly)
}

func TestOneUploadedFile(t *testing.T) {
	fake := newFakeEngine()
	p := newPipeline(fake, nil, Options{MaxFile: 40})
	upload := func(name, content string) (FileResult, error) {
		open := func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(content)), nil }
		return p.File(ctx, acme, FileUpload{KB: passages, File: File{ID: name, Open: open}, Refresh: true})
	}
	written := func(name, content string, want FileResult) {
		t.Helper()
		want.DocumentID = name
		if got, err := upload(name, content); err != nil || got != want {
			t.Errorf("%s: %+v %v, want %+v", name, got, err, want)
		}
	}
	written("a/b.md", "# A\n\none\n\n# B\n\ntwo", FileResult{Status: FileWritten, Chunks: 2, Created: 2})
	written("a/b.md", "# A\n\none\n\n# B\n\ntwo", FileResult{Status: FileUnchanged, Chunks: 2})
	written("a/b.md", "# A\n\nthree", FileResult{Status: FileWritten, Chunks: 1, Updated: 1})
	refused := func(name, content string, kind fault.Kind, field, says string, unsplit bool) {
		t.Helper()
		_, err := upload(name, content)
		wantKind(t, err, kind, says)
		var f *fault.Error
		if !errors.As(err, &f) || f.Field != field || Unsplit(err) != unsplit {
			t.Errorf("%s: %+v, Unsplit is %t", name, f, Unsplit(err))
		}
	}
	refused("", "text", fault.InvalidArgument, "name", "1 to 256 bytes", false)
	refused("a\x00.md", "text", fault.InvalidArgument, "name", "control", false)
	refused("photo.png", "text", fault.Unsupported, "name", "not one of the formats", true)
	refused("empty.md", "", fault.InvalidArgument, "file", "no text", true)
	refused("binary.md", "\x00", fault.InvalidArgument, "file", "binary", true)
	refused("latin.md", "a\xff\xfe\x81", fault.InvalidArgument, "file", "UTF-8", true)
	written("just.md", strings.Repeat("x", 40), FileResult{Status: FileWritten, Chunks: 1, Created: 1})
	refused("big.md", strings.Repeat("x", 41), fault.TooLarge, "file", "larger than 40 bytes", true)
	if len(fake.chunks) != 2 {
		t.Errorf("%d chunks; want 2 fake.chunks", len(fake.chunks))
	}
	broken := File{ID: "c.md", Open: func() (io.ReadCloser, error) { return nil, fault.New(fault.Timeout, "too slow") }}
	_, err := p.File(ctx, acme, FileUpload{KB: passages, File: broken})
	wantKind(t, err, fault.Timeout, "too slow")
	_, err = p.File(ctx, acme, FileUpload{KB: pairs, File: broken})
	wantKind(t, err, fault.InvalidArgument, "NDJSON")
	_, err = p.File(ctx, acme, FileUpload{KB: attached, File: broken})
	wantKind(t, err, fault.ReadOnly)
}

// A file that is given up while its chunks become ready leaves what was there.
func TestProgressOfAFile(t *testing.T) {
	fake, embedder := newFakeEngine(), &fakeEmbedder{}
	p := newPipeline(fake, embedder, Options{Split: SplitOptions{Target: 40, Overlap: -1}})
	var told []FileProgress
	upload := func(sentence string, until int) error {
		told = nil
		_, err := p.File(ctx, acme, FileUpload{
			KB: passages,
			File: File{ID: "a.txt", Open: func() (io.ReadCloser, error) {
				return io.NopCloser(strings.NewReader(strings.Repeat(sentence, 70))), nil
			}},
			Progress: func(progress FileProgress) error {
				told = append(told, progress)
				if progress.Ready == until {
					return fault.New(fault.Canceled, "nobody listens")
				}
				return nil
			},
		})
		return err
	}
	wantTold := func(want ...FileProgress) {
		t.Helper()
		if diff := cmp.Diff(want, told); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	const before, after = "One sentence of some length. ", "A sentence of another text. "
	if err := upload(before, -1); err != nil {
		t.Fatal(err)
	}
	wantTold(FileProgress{70, 0}, FileProgress{70, 32}, FileProgress{70, 64}, FileProgress{70, 70})
	if err := upload(before, 0); err != nil || len(told) > 0 {
		t.Errorf("unchanged: %v %v; want no error and len(told) 0", err, told)
	}
	for _, until := range []int{0, 64, 70} {
		wantKind(t, upload(after, until), fault.Canceled, "nobody listens")
	}
	if len(fake.writes) != 1 || len(fake.chunks) != 70 {
		t.Errorf("%d writes, %d chunks; want 1 fake.writes and 70 fake.chunks", len(fake.writes), len(fake.chunks))
	}
	for id, c := range fake.chunks {
		if !strings.Contains(c.Content, strings.TrimSpace(before)) {
			t.Errorf("%s holds %q; want before in it", id, c.Content)
		}
	}
	embedded := len(embedder.calls)
	wantKind(t, upload(after, 32), fault.Canceled)
	if embedded = len(embedder.calls) - embedded; embedded != 1 {
		t.Errorf("%d calls to the model for 32 of 70 chunks; want embedded 1", embedded)
	}
	if err := upload(after, -1); err != nil || len(fake.writes) != 2 {
		t.Errorf("%v, %d writes; want no error and 2 fake.writes", err, len(fake.writes))
	}
}

func TestOneFileAndLinks(t *testing.T) {
	folder := t.TempDir()
	outside := filepath.Join(t.TempDir(), "outside.txt")
	for _, name := range []string{filepath.Join(folder, "one.txt"), outside} {
		if err := os.WriteFile(name, []byte("text"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(outside, filepath.Join(folder, "link.txt")); err != nil {
		t.Fatal(err)
	}
	p := newPipeline(newFakeEngine(), nil, Options{})
	got := files(t, p, FilesRequest{Paths: []string{folder}, Refresh: true})
	if diff := cmp.Diff([]string{"1/1 one.txt written 1"}, got); diff != "" {
		t.Error(diff)
	}
	got = files(t, p, FilesRequest{Paths: []string{outside}})
	if diff := cmp.Diff([]string{"1/1 outside.txt written 1"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestAnEngineThatStaysAwayEndsTheRun(t *testing.T) {
	deadline.Set(t, time.Minute)
	fake := newFakeEngine()
	fake.before = func(context.Context, int) error { return fault.New(fault.Unavailable, "away") }
	folder := fstest.MapFS{}
	for i := range 10 {
		folder[fmt.Sprintf("%d.txt", i)] = &fstest.MapFile{Data: []byte("text")}
	}
	p := newPipeline(fake, nil, Options{})
	summary, err := p.Files(ctx, acme, FilesRequest{KB: passages, Folders: []fs.FS{folder}}, nil)
	wantKind(t, err, fault.Unavailable, "away")
	if summary.Failed != maxOutages {
		t.Errorf("%+v; want summary.Failed maxOutages", summary)
	}
}

var _ engine.Engine = (*fakeEngine)(nil)

func TestMetadataOfAFile(t *testing.T) {
	fake := newFakeEngine()
	p := newPipeline(fake, nil, Options{})
	dry := false
	upload := func(folder, metadata string) (FileResult, error) {
		u := FileUpload{KB: passages, DryRun: dry, Folder: folder, File: File{ID: "a.md", Open: func() (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader("# A\n\none\n\n# B\n\ntwo")), nil
		}}}
		if err := json.Unmarshal([]byte(metadata), &u.Metadata); err != nil {
			t.Fatal(err)
		}
		return p.File(ctx, acme, u)
	}
	f := func(folder, metadata string, want FileStatus) {
		t.Helper()
		if got, err := upload(folder, metadata); err != nil || got.Status != want {
			t.Errorf("%s %s: %+v %v, want %s", folder, metadata, got, err, want)
		}
	}
	dry = true
	f("", `{}`, FileWritten)
	if len(fake.chunks) > 0 {
		t.Errorf("a dry run wrote %v; want len(fake.chunks) 0", fake.chunks)
	}
	dry = false
	f("", `{}`, FileWritten)
	dry = true
	f("", `{}`, FileUnchanged)
	dry = false
	f("manuals/", `{}`, FileUnchanged) // a name is no reason to make vectors again
	f("manuals/", `{"year": 2026, "a": {"b": "退款"}}`, FileWritten)
	f("manuals/", `{"a": {"b": "退款"}, "year": 2026.0}`, FileUnchanged)
	for id, c := range fake.chunks {
		delete(c.Metadata, MetadataSourceHash)
		want := map[string]any{"year": 2026.0, "a.b": "退款", MetadataSourceFolder: "manuals/"}
		delete(c.Metadata, engine.MetadataLanguage)
		if diff := cmp.Diff(want, c.Metadata); diff != "" {
			t.Errorf("%s (-want +got):\n%s", id, diff)
		}
	}
	f("manuals/", `{"language": "en"}`, FileWritten)
	if got := fake.chunks["a.md#0"].Metadata[engine.MetadataLanguage]; got != "en" {
		t.Errorf(`the language is %v; want got "en"`, got)
	}
	refused := func(folder, metadata, says string) {
		t.Helper()
		_, err := upload(folder, metadata)
		wantKind(t, err, fault.InvalidArgument, says)
	}
	refused("", `{"source_hash": "x"}`, "metadata.source_hash")
	refused("", `{"source_folder": "x"}`, "metadata.source_folder")
	refused("", `{"a": [[1]]}`, "a list in a list")
	refused("a\x00", `{}`, "folder")
	many := map[string]int{}
	for i := range maxKeys - 1 {
		many[fmt.Sprint("k", i)] = i
	}
	text, _ := json.Marshal(many)
	refused("", string(text), "at most 254")
}
