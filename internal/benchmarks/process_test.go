package benchmarks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/internal/brief"
)

// gateway is a running binary.
type gateway struct {
	url    string
	client *http.Client
	cmd    *exec.Cmd
}

// built is the folder of the program, once it is compiled.
var built string

// otherBinary names a build of the program to measure instead of this one, such as that
// of an earlier commit.
const otherBinary = "HYBRIDGE_TEST_BINARY"

// buildBinary compiles the program once.
var buildBinary = sync.OnceValues(func() (string, error) {
	if path := os.Getenv(otherBinary); path != "" {
		return path, nil
	}
	folder, err := os.MkdirTemp("", "hybridge-bench-")
	if err != nil {
		return "", err
	}
	built = folder
	path := filepath.Join(folder, "hybridge")
	out, err := exec.Command("go", "build", "-o", path, "../../cmd/hybridge").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build: %w\n%s", err, out)
	}
	return path, nil
})

// startGateway serves on a free port until the benchmark ends.
func startGateway(b *testing.B, elasticsearchURL string) *gateway {
	b.Helper()
	return startGatewayIn(b, b.TempDir(), elasticsearchURL)
}

// startGatewayIn serves what is in a data directory.
func startGatewayIn(b *testing.B, folder, elasticsearchURL string) *gateway {
	b.Helper()
	binary, err := buildBinary()
	if err != nil {
		b.Fatal(err)
	}
	address := freeAddress(b)
	g := &gateway{url: "http://" + address, client: newClient(false)}
	args := []string{"serve", "--listen", address, "--data-dir", folder, "--log-level", "warn"}
	if elasticsearchURL != "" {
		args = append(args, "--elasticsearch-url", elasticsearchURL)
	}
	g.cmd = exec.Command(binary, args...)
	g.cmd.Env = append(os.Environ(), "HYBRIDGE_RESULT_CACHE_TTL=0s") // measure searches, not memory
	startProcess(b, g.cmd, g.url+"/readyz")
	return g
}

// startProcess runs a server until the benchmark ends; it returns when the URL
// answers.
func startProcess(b *testing.B, cmd *exec.Cmd, url string) {
	b.Helper()
	log, err := os.Create(filepath.Join(b.TempDir(), "log"))
	if err != nil {
		b.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait() // ended by a signal is an error
		_ = log.Close()
	})
	for range 300 {
		if res, err := http.Get(url); err == nil {
			_ = res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	text, _ := os.ReadFile(log.Name())
	b.Fatalf("%s does not answer:\n%s", url, brief.Of(text))
}

func freeAddress(b *testing.B) string {
	b.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().String()
}

// newClient keeps its connections; compressed says whether it asks for gzip.
func newClient(compressed bool) *http.Client {
	return &http.Client{Transport: &http.Transport{
		MaxIdleConns: 64, MaxIdleConnsPerHost: 64, DisableCompression: !compressed,
	}}
}

// send posts JSON (or NDJSON) and reads the whole answer.
func send(client *http.Client, url, contentType string, body []byte) ([]byte, error) {
	return sendFor(client, "application/json", url, contentType, body)
}

// sendFor is send for an answer of some form.
func sendFor(client *http.Client, accept, url, contentType string, body []byte) ([]byte, error) {
	req, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", contentType)
	req.Header.Set("Accept", accept)
	res, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	answer, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode >= http.StatusBadRequest {
		err = fmt.Errorf("%s: %s: %.500s", url, res.Status, answer)
	}
	return answer, err
}

// fill makes a knowledge base of the chunks.
func (g *gateway) fill(b *testing.B, engineName, id string, chunks []engine.Chunk) {
	b.Helper()
	g.create(b, engineName, id)
	g.add(b, id, chunks)
}

// create makes a knowledge base that is removed when the benchmark ends.
func (g *gateway) create(b *testing.B, engineName, id string) {
	b.Helper()
	g.makeBase(b, engineName, id)
	b.Cleanup(func() { g.remove(b, id) })
}

func (g *gateway) makeBase(b *testing.B, engineName, id string) {
	b.Helper()
	spec, err := json.Marshal(map[string]any{"id": id, "name": id, "engine": engineName, "dimensions": dims})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := send(g.client, g.url+"/v1/knowledge-bases", "application/json", spec); err != nil {
		b.Fatal(err)
	}
}

// add writes chunks and returns when a search sees them.
func (g *gateway) add(b *testing.B, id string, chunks []engine.Chunk) {
	b.Helper()
	const batch = 1000
	for from := 0; from < len(chunks); from += batch {
		to := min(from+batch, len(chunks))
		g.addLines(b, id, addition{body: lines(b, chunks[from:to]), count: to - from, refresh: to == len(chunks)})
	}
}

// addition is chunks as NDJSON.
type addition struct {
	body    []byte
	count   int
	refresh bool
}

func (g *gateway) addLines(b *testing.B, id string, a addition) {
	b.Helper()
	url := g.url + "/v1/knowledge-bases/" + id + "/documents?refresh=" + strconv.FormatBool(a.refresh)
	answer, err := send(g.client, url, "application/x-ndjson", a.body)
	if err != nil {
		b.Fatal(err)
	}
	if n := bytes.Count(answer, []byte(`"created"`)); n != a.count {
		b.Fatalf("%d of %d chunks were created: %.500s", n, a.count, answer)
	}
}

func lines(b *testing.B, chunks []engine.Chunk) []byte {
	b.Helper()
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	for i := range chunks {
		c := &chunks[i]
		if err := encoder.Encode(map[string]any{
			"id": c.ID, "document_id": c.DocumentID, "document_name": c.DocumentName,
			"title": c.Title, "content": c.Content, "vector": c.Vectors[engine.FieldVector],
		}); err != nil {
			b.Fatal(err)
		}
	}
	return out.Bytes()
}

func (g *gateway) remove(b *testing.B, id string) {
	b.Helper()
	req, err := http.NewRequest(http.MethodDelete, g.url+"/v1/knowledge-bases/"+id, nil)
	if err != nil {
		b.Fatal(err)
	}
	res, err := g.client.Do(req)
	if err != nil {
		b.Error(err)
		return
	}
	_ = res.Body.Close()
	if res.StatusCode >= http.StatusBadRequest {
		b.Errorf("knowledge base %s was not removed: %s", id, res.Status)
	}
}

// search sends a request body as it is.
func (g *gateway) search(body []byte) error {
	_, err := send(g.client, g.url+"/v1/search", "application/json", body)
	return err
}

// cpu is the processor time that the gateway has used.
func (g *gateway) cpu(b *testing.B) time.Duration {
	b.Helper()
	return cpuOf(b, g.cmd)
}

// cpuOf is the processor time that a process has used so far, to the nanosecond.
func cpuOf(b *testing.B, cmd *exec.Cmd) time.Duration {
	b.Helper()
	const scheduled = 2 // of the clocks of a process, the one that the scheduler keeps
	var used unix.Timespec
	if err := unix.ClockGettime(^int32(cmd.Process.Pid)<<3|scheduled, &used); err != nil {
		b.Fatalf("processor time of process %d: %v", cmd.Process.Pid, err)
	}
	return time.Duration(used.Nano())
}

// resident is the memory of the process in MB (10^6 bytes).
func (g *gateway) resident(b *testing.B) float64 {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", g.cmd.Process.Pid))
	if err != nil {
		b.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), "VmRSS:")
	kB, err := strconv.ParseFloat(strings.Fields(after)[0], 64)
	if err != nil {
		b.Fatal(err)
	}
	return kB * 1024 / 1e6
}
