package docs

import (
	"bytes"
	"io/fs"
	"testing"
	"testing/fstest"
)

// TestArchive: a packed program has the same files, in the same folders.
func TestArchive(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := Pack(&b); err != nil {
		t.Fatal(err)
	}
	a := archive(b.String())
	f := func(got, want fs.FS) {
		t.Helper()
		texts := readAll(t, want)
		for name, text := range readAll(t, got) {
			if texts[name] != text {
				t.Errorf("%s is not what it is in the other", name)
			}
			delete(texts, name)
		}
		for name := range texts {
			t.Errorf("%s is missing", name)
		}
		if err := fstest.TestFS(got, "guide/en/backup.md"); err != nil {
			t.Error(err)
		}
	}
	f(a.with(""), files())
	f(a.with(isPage), pages())
	f(a.with(isDemo), demo())
}

// readAll gives the texts of files, and folders with none.
func readAll(t *testing.T, files fs.FS) map[string]string {
	t.Helper()
	texts := map[string]string{}
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			texts[name+"/"] = ""
			return err
		}
		text, err := fs.ReadFile(files, name)
		texts[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}
