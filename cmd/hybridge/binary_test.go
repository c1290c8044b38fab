package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/internal/cli/content"
	"github.com/hybridge-search/hybridge/internal/skips"
	"github.com/hybridge-search/hybridge/search"
)

// built is the program of `make build`: the one that `make test` has just built, or
// else one built here in the same way.
var built = sync.OnceValues(func() (string, error) {
	if name, given := os.LookupEnv("HYBRIDGE_TEST_BINARY"); given {
		return name, nil
	}
	name := filepath.Join(builds, "hybridge")
	build := exec.Command("go", "build", "-trimpath", "-tags", "netgo,osusergo,grpcnotrace,packed",
		"-ldflags", `-s -w -linkmode external -extldflags "-static -Wl,--gc-sections"`, "-o", name, ".")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return name, nil
})

// copied puts the program alone into an empty folder.
func copied(t *testing.T) string {
	t.Helper()
	for _, generated := range []string{"../../analysis/dictionary/data/jieba.dict.utf8.zst", "../../docs/pages.zip"} {
		if _, err := os.Stat(generated); err != nil {
			skips.Missing(t, generated+" is not generated; run `make generate`")
		}
	}
	name, err := built()
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	alone := filepath.Join(t.TempDir(), "hybridge")
	if err := os.WriteFile(alone, content, 0o700); err != nil {
		t.Fatal(err)
	}
	return alone
}

// process is the program serving, on its own data directory.
type process struct {
	*running
	cmd *exec.Cmd
	out *journal
}

// serve starts the program where there is nothing of ours: no module cache, no
// source, an empty home; settings are variables of its environment.
func serve(t *testing.T, name, folder string, settings ...string) *process {
	t.Helper()
	home := t.TempDir()
	p := &process{out: &journal{}}
	p.cmd = exec.Command(name, "serve", "--listen", "127.0.0.1:0", "--data-dir", folder)
	p.cmd.Dir = filepath.Dir(name)
	p.cmd.Env = append([]string{"HOME=" + home, "GOMODCACHE=" + home, "TMPDIR=" + home, "PATH="}, settings...)
	p.cmd.Stdout, p.cmd.Stderr = p.out, p.out
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.cmd.Process.Kill(); _ = p.cmd.Wait() })
	var address string
	eventually(t, "the program serves: "+p.out.String(), func() bool {
		_, rest, found := strings.Cut(p.out.String(), "serves on ")
		address, _, _ = strings.Cut(rest, "\n")
		return found && strings.Contains(rest, "\n")
	})
	p.running = &running{t: t, url: address, http: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
	return p
}

func TestProgramCopiedAloneAnswersAChineseQuestion(t *testing.T) {
	t.Parallel()
	name := copied(t)
	p := serve(t, name, filepath.Join(filepath.Dir(name), "data"))
	p.must(http.MethodPost, "/v1/knowledge-bases", map[string]any{"id": "k"}, nil)
	p.must(http.MethodPost, cli.BasePath("k")+"/documents", `{"id": "a", "content": "七天內可以申請退款"}
{"id": "b", "content": "北京到上海的高速列车"}`, nil)
	if got := p.best("k", "如何申请退款"); got != "a" {
		t.Errorf(`found %s; want got "a"`, got)
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("after SIGTERM: %v\n%s", err, p.out)
	}
}

// Killed in the middle of an ingest and run again, nothing is doubled or lost,
// and the lock of the dead one is none.
func TestKilledIngest(t *testing.T) {
	t.Parallel()
	name, folder := copied(t), t.TempDir()
	const total = 20_000
	var lines bytes.Buffer
	for i := range total {
		fmt.Fprintf(&lines, `{"id": "c%d", "document_id": "d%d", "content": "chunk number %d 第%d段的内容"}`+"\n", i, i/10, i, i)
	}
	first := serve(t, name, folder)
	first.must(http.MethodPost, "/v1/knowledge-bases", map[string]any{"id": "k"}, nil)
	interrupted := make(chan error, 1)
	go func() {
		response, err := first.http.Post(first.url+cli.BasePath("k")+"/documents", cli.AsNDJSON, bytes.NewReader(lines.Bytes()))
		if err == nil {
			err = response.Body.Close()
		}
		interrupted <- err
	}()
	eventually(t, "some chunks are written", func() bool { return first.chunks("k") > 1000 })
	if err := first.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = first.cmd.Wait() // killed
	if err := <-interrupted; err == nil {
		t.Error("the request survived the gateway that it was sent to")
	}

	second := serve(t, name, folder)
	before := second.chunks("k")
	if before == 0 || before > total {
		t.Fatalf("%d chunks after the kill; want before other than 0 and before at most total", before)
	}
	file := filepath.Join(t.TempDir(), "chunks.ndjson")
	if err := os.WriteFile(file, lines.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	again := command{t: t, folder: folder}
	code, out, errs := again.run("", "ingest", "--kb", "k", "--json", file)
	var summary content.UploadSummary
	if err := json.Unmarshal([]byte(out), &summary); err != nil || code != cli.ExitOK {
		t.Fatalf("%d %s %s: %v; want no error and code exitOK", code, brief.Of(out), errs, err)
	}
	if want := (content.Tally{Created: total - before, Updated: before}); summary.Chunks != want {
		t.Errorf("%+v, want %+v", summary.Chunks, want)
	}
	if n := second.chunks("k"); n != total {
		t.Errorf("%d chunks, want %d", n, total)
	}
	one := 1
	response := second.search(search.Request{Query: "number 19999", KnowledgeBases: []string{"k"}, TopK: &one})
	if response.Hits[0].ID != "c19999" {
		t.Errorf(`found %s; want response.Hits[0].ID "c19999"`, response.Hits[0].ID)
	}
}
