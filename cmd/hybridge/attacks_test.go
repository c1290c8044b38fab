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
	"syscall"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/internal/deadline"
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
	{40, either, "", "40 searches of 64 knowledge bases", searchPath, askingAll("w0 w1 chunk number", `"candidates": 10000, "cache": false`), false},
	{8, either, `"columns":`, "8 comparisons of 6 plans", "/v1/compare", asking("w0 w1 chunk number", `"columns": [`+sixPlans+`]`), false},
	{40, tooLarge, "top_k", "40 contexts of 1000 hits", "/v1/context", asking("w0 w1", `"preset": "text", "top_k": 1000, "neighbours": 2, "max_chunks": 1000, "max_chars": 1000000`), false},
	{40, either, "", "40 explanations of 10000 candidates", "/v1/explain", asking("w0 w1", `"candidates": 10000, "chunk_id": "c1"`), false},
}

var sixPlans = times(5, `{"preset": "text", "candidates": 10000}, `) + `{"preset": "rrf", "candidates": 10000}`

var wideMarks = encoded(map[string]any{
	"fragments": 50, "fragment_size": 2000, "pre": times(256, "("), "post": times(256, ")"),
})

func TestAttacks(t *testing.T) {
	t.Parallel()
	p := serve(t, copied(t), t.TempDir(), "HYBRIDGE_LIMITS_REQUEST_TIMEOUT=2m") // the machine may be busy with other tests
	p.must(http.MethodPost, "/v1/knowledge-bases", map[string]any{"id": "k", "dimensions": 0}, nil)
	for i := range 63 {
		other := fmt.Sprintf("k%d", i)
		p.must(http.MethodPost, "/v1/knowledge-bases", map[string]any{"id": other, "dimensions": 0}, nil)
		p.fill(other, 160)
	}
	p.fill("k", 10_000)
	p.must(http.MethodPut, "/v1/synonyms/k", map[string]any{"text": list(4000)}, nil)
	for _, a := range attacks {
		t.Run(a.name, func(t *testing.T) { p.withstand(t, &a) })
	}
}

// TestAKeyLeavesOthersTheirShare: while one key asks for more than there is, another's
// ordinary searches are answered.
func TestAKeyLeavesOthersTheirShare(t *testing.T) {
	t.Parallel()
	p := serve(t, copied(t), t.TempDir(), "HYBRIDGE_LIMITS_KEY_RATE=60",
		"HYBRIDGE_KEYS=[{name: heavy, key: heavy-key-of-32-letters-00000000}, {name: light, key: light-key-of-32-letters-00000000}]")
	heavy, light := "heavy-key-of-32-letters-00000000", "light-key-of-32-letters-00000000"
	create := func(key, path, body string) {
		t.Helper()
		if status, text, _ := p.with(key, path, body); status >= 300 {
			t.Fatalf("%s: %d %.300s; want status below 300", path, status, text)
		}
	}
	create(heavy, "/v1/knowledge-bases", `{"id": "k", "dimensions": 0}`)
	create(heavy, cli.BasePath("k")+"/documents?refresh=true", chunksOf(4000))
	ordinary := asking("chunk number 7", `"preset": "text", "cache": false`)
	quiet := p.times(t, light, ordinary)

	done := make(chan struct{})
	statuses := make(chan int, 1<<16)
	var clients sync.WaitGroup
	for range 40 {
		clients.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					status, _, _ := p.with(heavy, searchPath, asking("w0 w1 chunk number", `"candidates": 4000, "copies": "fold", "cache": false`))
					statuses <- status
				}
			}
		})
	}
	busy := p.times(t, light, ordinary)
	close(done)
	clients.Wait()
	close(statuses)
	count := map[int]int{}
	for status := range statuses {
		count[status]++
	}
	t.Logf("an ordinary search takes %v (the slowest of 40: %v), and %v (%v) beside %v", quiet[20], quiet[39], busy[20], busy[39], count)
	if count[http.StatusOK] == 0 || count[http.StatusServiceUnavailable]+count[http.StatusTooManyRequests] == 0 {
		t.Errorf("the heavy key got %v; it should get answers and refusals", count)
	}
}

// TestARateIsHeld: what a key asks for beyond limits.key_rate is 429. One a second, which also a busy machine exceeds.
func TestARateIsHeld(t *testing.T) {
	t.Parallel()
	key := "rated-key-of-32-letters-00000000"
	p := serve(t, copied(t), t.TempDir(), "HYBRIDGE_LIMITS_KEY_RATE=1", "HYBRIDGE_KEYS=[{name: rated, key: "+key+"}]")
	for range 200 {
		status, text, header := p.with(key, "/v1/analyze", `{"query": "w0"}`)
		if status != http.StatusTooManyRequests {
			continue
		}
		if header.Get("Retry-After") == "" || header.Get("RateLimit") == "" || !strings.Contains(text, `"too_many_requests"`) {
			t.Errorf("%d with %v: %s; want header.Get(\"Retry-After\") other than \"\" and header.Get(\"RateLimit\") other than \"\" and `\"too_many_requests\"` in it", status, header, text)
		}
		return
	}
	t.Error("200 requests pass where one a second may")
}

// times asks 40 times with a key, which must be answered, and gives the times in order.
func (p *process) times(t *testing.T, key, body string) []time.Duration {
	t.Helper()
	took := make([]time.Duration, 40)
	for i := range took {
		asked := time.Now()
		if status, text, _ := p.with(key, searchPath, body); status != http.StatusOK {
			t.Errorf("an ordinary search: %d %.300s; want status StatusOK", status, text)
		}
		took[i] = time.Since(asked)
		time.Sleep(25 * time.Millisecond)
	}
	slices.Sort(took)
	return took
}

// with asks with a key.
func (p *process) with(key, path, body string) (status int, text string, header http.Header) {
	request, err := http.NewRequest(http.MethodPost, p.url+path, strings.NewReader(body))
	if err != nil {
		p.t.Error(err)
		return 0, "", nil
	}
	request.Header.Set("Authorization", "Bearer "+key)
	request.Header.Set("Content-Type", "application/json")
	if strings.Contains(path, "/documents") {
		request.Header.Set("Content-Type", cli.AsNDJSON)
	}
	response, err := p.http.Do(request)
	if err != nil {
		p.t.Error(err)
		return 0, "", nil
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		p.t.Error(err)
	}
	return response.StatusCode, string(answer), response.Header
}

// post asks, and gives the error of a connection that the server closes.
func (p *process) post(path, body string) (status int, text string, err error) {
	response, err := p.http.Post(p.url+path, cli.AsJSON, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	return response.StatusCode, string(answer), err
}

// TestWorkEndsAtItsDeadline: what takes longer than request_timeout is 504, soon after.
func TestWorkEndsAtItsDeadline(t *testing.T) {
	t.Parallel()
	deadline.Set(t, 5*time.Minute)
	folder := t.TempDir()
	name := copied(t)
	first := serve(t, name, folder)
	first.must(http.MethodPost, "/v1/knowledge-bases", map[string]any{"id": "k", "dimensions": 0}, nil)
	first.fill("k", 5000)
	if err := first.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = first.cmd.Wait() // it was told to
	const limit = 20 * time.Millisecond
	p := serve(t, name, folder, "HYBRIDGE_LIMITS_REQUEST_TIMEOUT="+limit.String())
	ended := 0
	for _, a := range []attack{
		{name: "words", path: searchPath, body: asking(words(1000, " "), `"preset": "text", "candidates": 5000, "cache": false`)},
		{name: "a sum", path: searchPath, body: asking("w0 w1 chunk number", `"candidates": 5000, "copies": "fold", "cache": false`)},
		{name: "a phrase", path: searchPath, body: asking(`"w0 w1 w0 w1" -chunk`, `"preset": "text", "candidates": 5000, "cache": false`)},
		{name: "facets", path: searchPath, body: asking("w0 w1", `"preset": "rrf", "candidates": 5000, "facets": ["document_id"], "cache": false`)},
		{name: "highlights", path: searchPath, body: asking("w0 w1", `"preset": "text", "top_k": 1000, "cache": false`)},
		{name: "an explanation", path: "/v1/explain", body: asking("w0 w1 chunk number", `"candidates": 5000, "chunk_id": "c1"`)},
		{name: "a context", path: "/v1/context", body: asking("w0 w1", `"top_k": 1000, "neighbours": 5`)},
	} {
		var late []time.Duration
		for range 5 {
			asked := time.Now()
			status, text, err := p.post(a.path, a.body)
			late = append(late, time.Since(asked)-limit)
			switch {
			case err != nil, status == http.StatusRequestTimeout:
				// A busy machine takes the limit only to read what is asked, and closes the connection; a
				// server that is not there any more is noticed below.
			case status == http.StatusGatewayTimeout && strings.Contains(text, "longer than its time limit"):
				ended++
			case status != http.StatusOK:
				t.Errorf("%s: %d %.300s", a.name, status, text)
			}
		}
		t.Logf("%s: at most %v late", a.name, slices.Max(late))
		if slices.Max(late) > 5*time.Second {
			t.Errorf("%s: %v after the deadline; want slices.Max(late) at most 5 * time.Second", a.name, slices.Max(late))
		}
	}
	if ended == 0 {
		t.Error("nothing took longer than its deadline")
	}
	// Within the limit a busy machine may not even read a question, so it is asked again.
	alive := func() bool {
		response, err := p.http.Get(p.url + "/healthz")
		if err != nil {
			return false
		}
		_ = response.Body.Close()
		return response.StatusCode == http.StatusOK
	}
	for attempt := 1; !alive(); attempt++ {
		if attempt == 100 {
			t.Fatal("the server is not there any more")
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// TestWorkEndsWithItsClients: what clients have asked for who left is not worked on.
func TestWorkEndsWithItsClients(t *testing.T) {
	t.Parallel()
	deadline.Set(t, 5*time.Minute)
	p := serve(t, copied(t), t.TempDir())
	p.must(http.MethodPost, "/v1/knowledge-bases", map[string]any{"id": "k", "dimensions": 0}, nil)
	p.fill("k", 5000)
	var took time.Duration
	for range 5 { // a busy machine gets five tries
		if took = p.goesOnForNobody(t); took < time.Second {
			return
		}
	}
	t.Errorf("work goes on for %v for clients that have left", took)
}

// goesOnForNobody is how long something is worked on when 20 clients have left.
func (p *process) goesOnForNobody(t *testing.T) time.Duration {
	t.Helper()
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
	return time.Since(left)
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
		t.Errorf("it took %v; want took at most mostTime", took)
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
				t.Errorf("%d MB are resident; want most at most mostResident", most)
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
		t.Errorf("%s meanwhile: %d after %v; want response.StatusCode StatusOK and took at most 10 * time.Second", path, response.StatusCode, took)
	}
}

// fill adds chunks of 6 kB, with words that all of them have.
func (p *process) fill(kb string, n int) {
	p.t.Helper()
	status, answer := p.ask(http.MethodPost, cli.BasePath(kb)+"/documents?refresh=true", chunksOf(n))
	if status != http.StatusOK || strings.Contains(string(answer), `"failed"`) {
		p.t.Fatalf("%d %.300s; want status StatusOK and no `\"failed\"` in it", status, answer)
	}
}

// chunksOf are lines of n chunks.
func chunksOf(n int) string {
	var lines strings.Builder
	text := times(500, "w0 <b>w1</b> ")
	for i := range n {
		fmt.Fprintf(&lines, `{"id": "c%d", "document_id": "d%d", "ordinal": %d, "content": "chunk number %d %s"}`+"\n",
			i, i/1000, i%1000, i, text)
	}
	return lines.String()
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

// askingAll is a search of 64 knowledge bases.
func askingAll(question, members string) string {
	all := []string{"k"}
	for i := range 63 {
		all = append(all, fmt.Sprintf("k%d", i))
	}
	return `{"query": ` + encoded(question) + `, "knowledge_bases": ` + encoded(all) + `, ` + members + `}`
}

func encoded(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(text)
}
