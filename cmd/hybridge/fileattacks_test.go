package main

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/internal/skips"
)

// Files made to take time or memory are split or refused, and the gateway stays what it was.
func TestHostileUploads(t *testing.T) {
	if testing.Short() {
		skips.ByDesign(t, "16 MB after 16 MB is not short")
	}
	p := serve(t, copied(t), t.TempDir(), "HYBRIDGE_LIMITS_PARSERS=2")
	p.must(http.MethodPost, "/v1/knowledge-bases", map[string]any{"id": "k"}, nil)
	const size = 16 << 20
	again := func(s string) string { return strings.Repeat(s, size/len(s)) }
	lists := &strings.Builder{}
	for i := 0; lists.Len() < size/2; i++ {
		lists.WriteString(strings.Repeat(" ", 2*i) + "- a\n")
	}
	attacks := []struct{ name, content, says string }{
		{"table.md", strings.Repeat("|a", 5000) + "\n" + strings.Repeat("|-", 5000) + "\n" + strings.Repeat("|\n", 5000), "cells"},
		{"lists.md", lists.String(), "deep"},
		{"quotes.md", again(">"), "deep"},
		{"items.md", again("1. "), "deep"},
		{"links.md", again("[a]("), "marks"},
		{"tags.md", again("<a"), "marks"},
		{"blocks.md", again("-\n"), "blocks"},
		{"elements.html", again("<div>"), "elements"},
		{"breaks.html", again("a<br>"), "elements"},
		{"unclosed.html", strings.Repeat("<div>", 600), "512"},
		{"letters.txt", strings.Repeat("a", 1<<20), ""},
		{"binary.txt", again("\x00\xff"), "binary"},
	}
	for _, a := range attacks {
		begin := time.Now()
		status, body := p.upload(a.name, a.content)
		took := time.Since(begin)
		t.Logf("%s: %d in %.1f s, %.200s", a.name, status, took.Seconds(), body)
		if status != http.StatusOK && status/100 != 4 || a.says == "" != (status == http.StatusOK) {
			t.Errorf("%s: status %d: %s", a.name, status, brief.Of(body))
		}
		if !strings.Contains(body, a.says) {
			t.Errorf("%s: %s, want a word of %s", a.name, brief.Of(body), a.says)
		}
		if took > time.Minute {
			t.Errorf("%s took %v; want took at most Minute", a.name, took)
		}
	}
	if mb := p.residentMB(); mb > 2<<10 {
		t.Errorf("the gateway takes %d MB; want mb at most 2 << 10", mb)
	}
	for _, child := range p.children() {
		if mb := peakMB(child); mb > 512+256 {
			t.Errorf("a parser took %d MB; want mb at most 512 + 256", mb)
		} else {
			t.Logf("a parser took %d MB, the gateway has %d MB", mb, p.residentMB())
		}
	}
	if status, body := p.upload("good.md", "# A\n\ntext"); status != http.StatusOK {
		t.Errorf("a good file: %d %s; want status StatusOK", status, brief.Of(body))
	}
}

// A child that is killed in the middle is replaced; its file may be sent again, and those that
// wait are not touched. Children end with the gateway.
func TestParsersAreReplacedAndEnd(t *testing.T) {
	p := serve(t, copied(t), t.TempDir(), "HYBRIDGE_LIMITS_PARSERS=1")
	p.must(http.MethodPost, "/v1/knowledge-bases", map[string]any{"id": "k"}, nil)
	for i := range 3 {
		if status, body := p.upload(fmt.Sprintf("%d.md", i), "# A\n\ntext"); status != http.StatusOK {
			t.Fatalf("%d %s; want status StatusOK", status, brief.Of(body))
		}
		children := p.children()
		if len(children) != 1 {
			t.Fatalf("%d children; want 1 children", len(children))
		}
		if i == 2 {
			break
		}
		process, err := os.FindProcess(children[0])
		if err != nil {
			t.Fatal(err)
		}
		if err := process.Kill(); err != nil {
			t.Fatal(err)
		}
	}
	last := p.children()[0]
	if err := p.cmd.Process.Kill(); err != nil { // which it cannot tell its child
		t.Fatal(err)
	}
	eventually(t, "the child ends with its killed parent", func() bool {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", last))
		return err != nil || strings.Contains(string(status), "State:\tZ") // nobody may wait for it here
	})
}

// upload sends a file and returns the status and the body of the answer.
func (p *process) upload(name, content string) (status int, body string) {
	p.t.Helper()
	response, err := p.http.Post(p.url+cli.BasePath("k")+"/files?name="+url.QueryEscape(name), "application/octet-stream",
		strings.NewReader(content))
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

// peakMB is the most that a process has had in memory; 0 if it has ended.
func peakMB(pid int) (mb int) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	if _, err := fmt.Sscan(rest, &mb); err != nil {
		return 0
	}
	return mb >> 10
}

// children are the ids of the processes that the program has started.
func (p *process) children() []int {
	p.t.Helper()
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", p.cmd.Process.Pid))
	if err != nil || len(lists) == 0 {
		skips.Missing(p.t, "this system does not tell the children of a process")
	}
	var all []int
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if err != nil {
			continue // of a thread that has ended
		}
		for _, id := range strings.Fields(string(text)) {
			var pid int
			if _, err := fmt.Sscan(id, &pid); err == nil {
				all = append(all, pid)
			}
		}
	}
	return all
}
