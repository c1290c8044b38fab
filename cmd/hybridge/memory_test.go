package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/internal/skips"
)

// A fifth of a gigabyte goes through a gateway whose memory stays what its index
// needs: the input is read line by line and kept nowhere but in SQLite.
func TestIngestOverHTTPKeepsMemoryFlat(t *testing.T) {
	if testing.Short() {
		skips.ByDesign(t, "200 MB are not short")
	}
	const (
		part  = 8_000
		parts = 5
		// What may be resident beside the index more at the end than after the
		// first part, in MB; the parts between them bring 160 MB.
		slack = 64
	)
	p := serve(t, copied(t), t.TempDir())
	p.must(http.MethodPost, "/v1/knowledge-bases", map[string]any{"id": "k"}, nil)
	var beside [parts]int
	for i := range parts {
		sent := p.pour(i*part, (i+1)*part)
		index, resident := p.indexMB("k"), p.residentMB()
		beside[i] = resident - 2*index // between collections the heap holds twice what lives
		t.Logf("%d chunks: %d MB sent, %d MB resident, index of %d MB", (i+1)*part, sent>>20, resident, index)
	}
	if n := p.chunks("k"); n != part*parts {
		t.Errorf("%d chunks, want %d", n, part*parts)
	}
	if grown := beside[parts-1] - beside[0]; grown > slack {
		t.Errorf("memory beside the index grew by %d MB while 160 MB came in; want grown at most slack", grown)
	}
}

// pour sends chunks of 5 KB as one NDJSON body and gives its size in bytes.
func (p *process) pour(from, to int) (sent int64) {
	p.t.Helper()
	reader, writer := io.Pipe()
	go func() {
		buffered := bufio.NewWriterSize(writer, 1<<16)
		ballast := strings.Repeat("· ", 1650) // text without words
		for i := from; i < to; i++ {
			n, _ := fmt.Fprintf(buffered, `{"id": "c%d", "document_id": "d%d", "content": "chunk number %d %s"}`+"\n",
				i, i/100, i, ballast)
			sent += int64(n)
		}
		_ = writer.CloseWithError(buffered.Flush())
	}()
	response, err := p.http.Post(p.url+cli.BasePath("k")+"/documents", cli.AsNDJSON, reader)
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	failed := 0
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		if !strings.Contains(lines.Text(), `"status":"created"`) {
			failed++
		}
	}
	if response.StatusCode != http.StatusOK || failed > 0 {
		p.t.Fatalf("status %d, %d of %d lines failed", response.StatusCode, failed, to-from)
	}
	return sent
}

// residentMB is what the process has in memory.
func (p *process) residentMB() int {
	p.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		skips.Missing(p.t, "there is no /proc to read the resident memory from")
	}
	var kilobytes int
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	if _, err := fmt.Sscan(rest, &kilobytes); err != nil {
		p.t.Fatal(err)
	}
	return kilobytes >> 10
}

// indexMB is what the engine says its index takes in memory.
func (p *process) indexMB(kb string) int {
	p.t.Helper()
	var described struct {
		Details struct {
			MemoryBytes int `json:"memory_bytes"`
		} `json:"details"`
	}
	p.must(http.MethodGet, cli.BasePath(kb), nil, &described)
	return described.Details.MemoryBytes >> 20
}
