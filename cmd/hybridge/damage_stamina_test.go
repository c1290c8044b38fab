package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/internal/seeds"
	"github.com/hybridge-search/hybridge/search"
)

// TestDamagedIndex stops the program, spoils a bit of the stored index, and starts
// it again: it says so, counts it, and answers as before. The engine's own test
// flips a thousand of them.
func TestDamagedIndex(t *testing.T) {
	t.Parallel()
	name, folder := copied(t), t.TempDir()
	p := serve(t, name, folder)
	p.must(http.MethodPost, "/v1/knowledge-bases", map[string]any{"id": "k", "dimensions": 2}, nil)
	p.must(http.MethodPost, cli.BasePath("k")+"/documents", someChunks(0, 40), nil)
	find := func() string {
		response := p.search(search.Request{Query: "refund of item 7", KnowledgeBases: []string{"k"}, Preset: "text"})
		return fmt.Sprintln(len(response.Hits), response.Hits[0].ID, response.Hits[0].RawScore)
	}
	want := find()
	for range 2 {
		if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if err := p.cmd.Wait(); err != nil {
			t.Fatal(err)
		}
		spoil(t, filepath.Join(folder, "indexes", "*"))
		p = serve(t, name, folder)
		if got := find(); got != want {
			t.Errorf("found %s, want %s", got, want)
		}
		if n := strings.Count(p.out.String(), "repaired: "); n != 1 {
			t.Errorf("the log tells of %d repairs:\n%s", n, p.out)
		}
		var described struct{ Details struct{ Repairs int } }
		p.must(http.MethodGet, cli.BasePath("k"), nil, &described)
		if described.Details.Repairs != 1 {
			t.Errorf("%d repairs in the description; want described.Details.Repairs 1", described.Details.Repairs)
		}
		if _, metrics := p.ask(http.MethodGet, "/metrics", ""); !strings.Contains(string(metrics), "hybridge_index_repairs_total 1\n") {
			t.Errorf("the repair is not in the metrics:\n%s", brief.Of(metrics))
		}
	}
}

// spoil changes one random bit of each file.
func spoil(t *testing.T, pattern string) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("%v match %s: %v; want no error and some files", files, pattern, err)
	}
	random := seeds.New(t)
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		data[random.IntN(len(data))] ^= 1 << random.IntN(8)
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
