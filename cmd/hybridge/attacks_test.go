package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// attack is a request that asks for too much work, sent by several clients at a time. It
// is answered as it accepts; the gateway stays small and answers others meanwhile.
type attack struct {
	clients  int
	accepted []int  // statuses
	says     string // what an answer of the first of them must have in it
	name     string
	path     string
	body     string
	slow     bool // the clients hardly read
}

const (
	mostResident = 2 << 10 // MB
	mostTime     = time.Minute

	tryPath    = "/v1/synonyms/k/try"
	searchPath = "/v1/search"
)

var (
	answered = []int{200}
	tooLarge = []int{413, 503}
	either   = []int{200, 503}
)

// Each of these is one line.
var attacks = []attack{
	{4, answered, `"cut":`, "a word said 4000 times, a rule of 4000 words", tryPath, try(times(4000, "w0 "), list(4000)), false},
	{4, answered, `"cut":`, "4000 words, a rule of 4000 words", tryPath, try(words(4000, " "), list(4000)), false},
	{4, answered, `"cut":`, "5000 rules of one word", tryPath, try("w0", times(5000, "w0 => x1, x2, x3\n")), false},
	{4, answered, `"cut":`, "a synonym of 100000 words for each of 64", tryPath, try(words(64, " "), words(64, ", ")+" => "+times(100_000, "x1 ")), false},
	{4, answered, `"current":`, "a source of 100000 words, said in part", tryPath, try(times(10_000, "a1 "), times(100_000, "a1 ")+"=> b1"), false},
	{8, either, "", "1000 words with a saved wide rule", searchPath, asking(words(1000, " "), `"preset": "text"`), false},
	{8, either, `"synonyms_cut"`, "the same said 6 times, explained", searchPath, asking(times(6, words(1000, " ")+" "), `"preset": "text", "explain": true`), false},

	{4, tooLarge, "top_k", "a page of 60 MB", searchPath, asking("w0", `"preset": "text", "top_k": 10000`), false},
	{4, tooLarge, "highlight", "marks of 512 bytes", searchPath, asking("w0 w1", `"preset": "text", "top_k": 1500, "highlight": `+wideMarks), false},
	{4, tooLarge, "neighbours", "40 neighbours of 1500 hits", searchPath, asking("w0", `"preset": "text", "top_k": 1500, "neighbours": 20`), false},
	{100, answered, "", "100 slow readers of one answer of 10 MB", searchPath, asking("w0", `"preset": "text", "top_k": 1500`), true},
	{100, either, "", "100 slow readers of answers of their own", searchPath, asking("w0", `"preset": "text", "top_k": 1500, "cache": false`), true},
	{40, either, "", "40 searches of 10000 candidates", searchPath, asking("w0 w1 chunk number", `"candidates": 10000, "copies": "fold", "cache": false`), false},
	{40, either, "", "40 explanations of 10000 candidates", "/v1/explain", asking("w0 w1", `"candidates": 10000, "chunk_id": "c1"`), false},
}

var wideMarks = encoded(map[string]any{
	"fragments": 50, "fragment_size": 2000, "pre": times(256, "("), "post": times(256, ")"),
})

func TestAttacks(t *testing.T) {
	t.Parallel()
	p := serve(t, copied(t), t.TempDir())
	p.must(http.MethodPost, "/v1/knowledge-bases", map[string]any{"id": "k", "dimensions": 0}, nil)
	p.fill("k", 10_000)
	p.must(http.MethodPut, "/v1/synonyms/k", map[string]any{"text": list(4000)}, nil)
	for _, a := range attacks {
		t.Run(a.name, func(t *testing.T) { p.withstand(t, &a) })
	}
}

// TestWorkEndsWithItsClients: what clients have asked for who left is not worked on.
func TestWorkEndsWithItsClients(t *testing.T) {
	t.Parallel()
	p := serve(t, copied(t), t.TempDir())
	p.must(http.MethodPost, "/v1/knowledge-bases", map[string]any{"id": "k", "dimensions": 0}, nil)
	p.fill("k", 5000)
	body := asking("w0 w1 chunk number", `"candidates": 5000, "top_k": 1500, "copies": "fold", "cache": false`)
	var clients sync.WaitGroup
	for range 20 {
		clients.Go(func() {
			impatient := http.Client{Transport: p.http.Transport, Timeout: 300 * time.Millisecond}
			if response, err := impatient.Post(p.url+searchPath, "application/json", strings.NewReader(body)); err == nil {
				_ = response.Body.Close()
			}
		})
	}
	clients.Wait()
	left := time.Now()
	eventually(t, "nothing is worked on", func() bool {
		_, text := p.ask(http.MethodGet, "/metrics", "")
		return strings.Contains(string(text), "hybridge_http_requests_in_flight 1\n") // the one that asks
	})
	if took := time.Since(left); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
}

// withstand runs an attack while the memory is watched and others ask for a sign of life.
func (p *process) withstand(t *testing.T, a *attack) {
	stop := p.watch(t)
	started := time.Now()
	var clients sync.WaitGroup
	for range a.clients {
		if a.slow {
			clients.Go(func() { p.readSlowly(t, a) })
			continue
		}
		clients.Go(func() {
			response, err := p.http.Post(p.url+a.path, "application/json", strings.NewReader(a.body))
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = response.Body.Close() }()
			text, err := io.ReadAll(response.Body)
			if err != nil || !slices.Contains(a.accepted, response.StatusCode) {
				t.Errorf("status %d, %v: %.300s; want one of %v", response.StatusCode, err, text, a.accepted)
			}
			if response.StatusCode == a.accepted[0] && !strings.Contains(string(text), a.says) {
				t.Errorf("the answer does not have %s: %.300s", a.says, text)
			}
			if response.StatusCode == http.StatusServiceUnavailable && response.Header.Get("Retry-After") == "" {
				t.Error("a 503 does not say when to come again")
			}
		})
	}
	clients.Wait()
	took, resident := time.Since(started), stop()
	t.Logf("%.1f s, %d MB", took.Seconds(), resident)
	if took > mostTime {
		t.Errorf("it took %v", took)
	}
	p.must(http.MethodPost, "/v1/search", json.RawMessage(asking("chunk number 7", `"preset": "text"`)), nil)
}

// readSlowly reads no more than the beginning of an answer for as long as the others do.
func (p *process) readSlowly(t *testing.T, a *attack) {
	conn, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
	if err != nil {
		t.Error(err)
		return
	}
	defer func() { _ = conn.Close() }()
	_, err = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"+
		"Content-Length: %d\r\n\r\n%s", a.path, len(a.body), a.body)
	if err != nil {
		t.Error(err)
		return
	}
	response, err := http.ReadResponse(bufio.NewReaderSize(conn, 16), nil) //nolint:bodyclose // what is left is never read
	if err != nil || !slices.Contains(a.accepted, response.StatusCode) {
		t.Errorf("%+v, %v; want one of %v", response, err, a.accepted)
		return
	}
	time.Sleep(3 * time.Second)
}

// watch samples the memory and asks for a sign of life until it is stopped, which gives the
// most that was resident, in MB.
func (p *process) watch(t *testing.T) (stop func() int) {
	done, most := make(chan struct{}), 0
	var watchers sync.WaitGroup
	watchers.Go(func() {
		for tick := time.NewTicker(20 * time.Millisecond); ; {
			if most = max(most, p.residentMB()); most > mostResident {
				t.Errorf("%d MB are resident", most)
				_ = p.cmd.Process.Kill() // before the machine is out of memory
				return
			}
			select {
			case <-tick.C:
			case <-done:
				return
			}
		}
	})
	watchers.Go(func() {
		for tick := time.NewTicker(100 * time.Millisecond); ; {
			p.lives(t, http.MethodGet, "/healthz", "")
			p.lives(t, http.MethodPost, searchPath, asking("chunk number 7", `"preset": "text", "cache": false`))
			select {
			case <-tick.C:
			case <-done:
				return
			}
		}
	})
	return func() int { close(done); watchers.Wait(); return most }
}

// lives asks for what must go on.
func (p *process) lives(t *testing.T, method, path, body string) {
	asked := time.Now()
	request, err := http.NewRequest(method, p.url+path, strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := p.http.Do(request)
	if err != nil {
		t.Errorf("no sign of life: %v", err)
		return
	}
	_ = response.Body.Close()
	if took := time.Since(asked); response.StatusCode != http.StatusOK || took > 10*time.Second {
		t.Errorf("%s meanwhile: %d after %v", path, response.StatusCode, took)
	}
}

// fill adds chunks of 6 kB, with words that all of them have.
func (p *process) fill(kb string, n int) {
	p.t.Helper()
	var lines strings.Builder
	text := times(500, "w0 <b>w1</b> ")
	for i := range n {
		fmt.Fprintf(&lines, `{"id": "c%d", "document_id": "d%d", "ordinal": %d, "content": "chunk number %d %s"}`+"\n",
			i, i/1000, i%1000, i, text)
	}
	status, answer := p.ask(http.MethodPost, basePath(kb)+"/documents?refresh=true", lines.String())
	if status != http.StatusOK || strings.Contains(string(answer), `"failed"`) {
		p.t.Fatalf("%d %.300s", status, answer)
	}
}

func times(n int, text string) string { return strings.Repeat(text, n) }

// words are w0, w1 and so on.
func words(n int, between string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("w%d", i)
	}
	return strings.Join(all, between)
}

// list is a rule of so many words.
func list(n int) string { return words(n, ",") }

func try(question, rules string) string {
	return encoded(map[string]any{"query": question, "text": rules})
}

// asking is a search of knowledge base k with further members.
func asking(question, members string) string {
	return `{"query": ` + encoded(question) + `, "knowledge_bases": ["k"], ` + members + `}`
}

func encoded(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(text)
}
