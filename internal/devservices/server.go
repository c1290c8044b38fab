package devservices

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Server is a server of one test's own, which it may stop and start again on
// the same port.
type Server struct {
	URL  string
	Port int

	t       testing.TB
	command []string
	process *exec.Cmd
	ended   chan struct{}
}

// StartPostgres runs a PostgreSQL with a data folder of its own. It needs no
// shared one, but skips or fails like Postgres where there are no servers.
func StartPostgres(t testing.TB) *Server {
	t.Helper()
	Postgres(t)
	port := freePort(t)
	folder := filepath.Join(enterable(t), "postgres")
	url := fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", port)
	return startServer(t, url, port, "postgres", folder, strconv.Itoa(port))
}

// StartRedis runs a Redis with these extra options, such as "--maxmemory", "1mb".
func StartRedis(t testing.TB, options ...string) *Server {
	t.Helper()
	Redis(t)
	port := freePort(t)
	url := fmt.Sprintf("redis://127.0.0.1:%d/0", port)
	return startServer(t, url, port, "redis", append([]string{strconv.Itoa(port)}, options...)...)
}

// The superuser of StartElasticsearch.
const (
	ElasticsearchUser     = "hybridge"
	ElasticsearchPassword = "a password of tests"
)

// StartElasticsearch runs an Elasticsearch that is secured as one is by default: it
// answers by https with a certificate of the authority, and to users with a password.
func StartElasticsearch(t testing.TB, by *Authority) *Server {
	t.Helper()
	Elasticsearch(t)
	folder := filepath.Join(enterable(t), "elasticsearch")
	chain, key := by.Issue("127.0.0.1", "localhost")
	for name, content := range map[string][]byte{"http.crt": chain, "http.key": key} {
		path := filepath.Join(folder, "config", name)
		err := os.MkdirAll(filepath.Dir(path), 0o755) //nolint:gosec // another user has to read it
		if err == nil {
			err = os.WriteFile(path, content, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	port := freePort(t)
	return startServer(t, fmt.Sprintf("https://127.0.0.1:%d", port), port, "elasticsearch",
		folder, strconv.Itoa(port), strconv.Itoa(freePort(t)), ElasticsearchUser+":"+ElasticsearchPassword)
}

func startServer(t testing.TB, url string, port int, script string, args ...string) *Server {
	t.Helper()
	path := filepath.Join(root(t), "scripts", script)
	s := &Server{URL: url, Port: port, t: t, command: append([]string{path}, args...)}
	s.Start()
	t.Cleanup(s.Stop)
	return s
}

// root is the folder of the module: tests run in that of their package, and a binary does not know where it was built.
func root(t testing.TB) string {
	t.Helper()
	folder, err := os.Getwd()
	for err == nil {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			return folder
		}
		above := filepath.Dir(folder)
		if above == folder {
			break
		}
		folder = above
	}
	t.Fatalf("no go.mod above the test's folder (%v)", err)
	return ""
}

// Patience is how long a test waits for what has to come: a machine that is busy with other work
// may be ten times as slow as one that is not.
const Patience = 15 * time.Minute

// Start runs the server, until it listens. One that ends at once, because parts
// of a killed one are still there, is started again.
func (s *Server) Start() {
	s.t.Helper()
	deadline := time.Now().Add(Patience)
	for s.run(); !s.listens(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Fatalf("%s does not listen on port %d", s.command[0], s.Port)
		}
		if syscall.Kill(-s.process.Process.Pid, 0) != nil {
			s.run()
		}
	}
}

func (s *Server) run() {
	s.t.Helper()
	process := exec.Command(s.command[0], s.command[1:]...) //nolint:gosec // a script of ours
	process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := process.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.process, s.ended = process, make(chan struct{})
	go func(ended chan struct{}) {
		defer close(ended)
		_ = process.Wait()
	}(s.ended)
}

// Stop ends the server and waits for that; what its clients do fails.
func (s *Server) Stop() { s.end(syscall.SIGTERM) }

// Kill ends it without a chance to tidy up.
func (s *Server) Kill() {
	s.t.Helper()
	s.end(syscall.SIGKILL)
	MustNotAnswer(s.t, "killed", s.URL)
}

// Pause stops its processes where they are; nothing is refused and nothing answered.
func (s *Server) Pause() {
	s.t.Helper()
	pids := signalTree(s.process.Process.Pid, syscall.SIGSTOP)
	for _, pid := range pids {
		MustStop(s.t, pid)
	}
	MustNotAnswer(s.t, "paused", s.URL)
}

// MustStop waits until a process that got SIGSTOP is stopped: it may run on for a moment.
func MustStop(t testing.TB, pid int) {
	t.Helper()
	for deadline := time.Now().Add(unanswered); !isStopped(pid); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Errorf("paused: process %d goes on; want it stopped", pid)
			return
		}
	}
}

// Resume lets them go on.
func (s *Server) Resume() { signalTree(s.process.Process.Pid, syscall.SIGCONT) }

// signalTree reaches a process and all that it started, whichever of its threads did: those of PostgreSQL leave its
// group, and Elasticsearch's Java is started by a thread of its launcher.
func signalTree(pid int, signal syscall.Signal) (reached []int) {
	_ = syscall.Kill(pid, signal)
	reached = []int{pid}
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, list := range lists {
		children, _ := os.ReadFile(list) //nolint:gosec // of /proc
		for child := range strings.FieldsSeq(string(children)) {
			if n, err := strconv.Atoi(child); err == nil {
				reached = append(reached, signalTree(n, signal)...)
			}
		}
	}
	return reached
}

// isStopped reports whether a process is where SIGSTOP left it, or gone.
func isStopped(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true
	}
	_, state, _ := strings.Cut(string(stat), ") ") // the name before it may hold anything
	return strings.HasPrefix(state, "T") || strings.HasPrefix(state, "Z")
}

// Restart stops it and starts it again.
func (s *Server) Restart() {
	s.t.Helper()
	s.Stop()
	s.Start()
}

// end waits for the whole process group: the server may outlive the script that
// runs it by a moment.
func (s *Server) end(signal syscall.Signal) {
	if s.process == nil {
		return
	}
	group := -s.process.Process.Pid
	_ = syscall.Kill(group, signal)
	<-s.ended
	for syscall.Kill(group, 0) == nil {
		time.Sleep(10 * time.Millisecond)
	}
	s.process = nil
}

func (s *Server) listens() bool {
	conn, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(s.Port)))
	if err != nil {
		return false
	}
	return conn.Close() == nil
}

// enterable gives a folder that another user can enter, because PostgreSQL
// refuses to run as root; t.TempDir's parent is closed to others.
func enterable(t testing.TB) string {
	t.Helper()
	folder := t.TempDir()
	for _, f := range []string{filepath.Dir(folder), folder} {
		if err := os.Chmod(f, 0o755); err != nil { //nolint:gosec // a test's folder
			t.Fatal(err)
		}
	}
	return folder
}

func freePort(t testing.TB) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().(*net.TCPAddr).Port
}
