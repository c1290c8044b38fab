package main

import (
	"io/fs"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/cli"
)

// What the program writes is for its user alone.
func TestFilesArePrivate(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "data")
	r := run(t, settingsIn(folder))
	r.must(http.MethodPost, "/v1/knowledge-bases", `{"id": "manuals", "dimensions": 0}`, nil)
	r.must(http.MethodPost, cli.BasePath("manuals")+"/documents?refresh=true", `{"id": "a", "document_id": "d", "content": "text"}`, nil)
	seen := 0
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		seen++
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s is %v; want info.Mode().Perm() & 0o077 0", path, info.Mode())
		}
		return nil
	})
	if err != nil || seen < 5 {
		t.Errorf("%d files: %v; want no error and seen at least 5", seen, err)
	}
	for _, body := range []string{`{"id": "global"}`, `{"id": "a", "name": "abc\u202egpj.exe"}`} {
		if status, answer := r.ask(http.MethodPost, "/v1/knowledge-bases", body); status != http.StatusBadRequest {
			t.Errorf("%s: %d %s; want status StatusBadRequest", brief.Of(body), status, brief.Of(answer))
		}
	}
}
