package kubetest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// binary is the gateway, which HYBRIDGE_TEST_BINARY names; it is built when not set.
var binary = os.Getenv("HYBRIDGE_TEST_BINARY")

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	if binary == "" {
		folder, err := os.MkdirTemp("", "kubetest")
		if err != nil {
			panic(err)
		}
		defer func() { _ = os.RemoveAll(folder) }()
		binary = filepath.Join(folder, "hybridge")
		build := exec.Command("go", "build", "-o", binary, "./cmd/hybridge")
		build.Dir = root
		if out, err := build.CombinedOutput(); err != nil {
			panic(fmt.Sprintf("%v: %s", err, out))
		}
	}
	return m.Run()
}

const key = "a-key-of-more-than-16-letters"

// secret is what the tests' Secrets hold, by the variable that it is read from.
var secret = map[string]string{
	"HYBRIDGE_KEYS":                   "[{name: operator, key: " + key + "}]",
	"HYBRIDGE_ELASTICSEARCH_USERNAME": "elastic",
	"HYBRIDGE_ELASTICSEARCH_PASSWORD": "a password",
	"HYBRIDGE_ELASTICSEARCH_API_KEY":  "YTpi",
	"HYBRIDGE_POSTGRES_URL":           "postgres://hybridge:password@database:5432/hybridge",
	"HYBRIDGE_REDIS_URL":              "redis://:password@redis:6379/0",
	"HYBRIDGE_EMBEDDING_API_KEY":      "a key",
	"HYBRIDGE_EMBEDDINGS":             "{bge-zh: {url: http://models:8080/v1, api_key: a key}}",
	"HYBRIDGE_LLM_API_KEY":            "a key",
	"HYBRIDGE_RERANKER_API_KEY":       "a key",
	"HYBRIDGE_RERANKERS":              "{second: {url: http://models:8080/rerank, api_key: a key}}",
	"HYBRIDGE_INGEST_CONVERTER_KEY":   "a key",
}

// command is the program as its container runs it, with the configuration in a folder of the test.
func command(t *testing.T, all objects, args ...string) *exec.Cmd {
	t.Helper()
	_, container := all.gateway(t)
	folder := t.TempDir()
	for name, text := range all.config[0].Data {
		text = strings.ReplaceAll(text, "/etc/hybridge", folder)
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), binary, args...) // a gateway ends after the context
	cmd.Env = []string{}
	for _, variable := range container.Env {
		value := strings.Replace(variable.Value, "/etc/hybridge", folder, 1)
		if variable.ValueFrom != nil {
			value = secret[variable.Name]
		}
		cmd.Env = append(cmd.Env, variable.Name+"="+value)
	}
	return cmd
}

// TestTheProgramTakesItsConfiguration: file and variables, each of which would end the start if it were misspelt.
func TestTheProgramTakesItsConfiguration(t *testing.T) {
	used := map[string]bool{}
	forAll(t, func(t *testing.T, all objects) {
		out, err := command(t, all, "config", "check").CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		var inEffect map[string]any
		if err := yaml.Unmarshal(out, &inEffect); err != nil {
			t.Fatal(err)
		}
		w, container := all.gateway(t)
		wantEngine(t, w, inEffect)
		for _, variable := range container.Env {
			if variable.ValueFrom != nil {
				used[variable.Name] = true
			}
		}
	})
	for name := range secret {
		if !used[name] && name != "HYBRIDGE_ELASTICSEARCH_USERNAME" { // which is not beside an API key
			t.Errorf("no values file takes %s from a Secret", name)
		}
	}
}

// wantEngine: without a volume new knowledge bases are elsewhere, which is what the chart decides by.
func wantEngine(t *testing.T, w workload, inEffect map[string]any) {
	t.Helper()
	set := func(group string) bool {
		url := inEffect[group].(map[string]any)["url"]
		return url != nil && fmt.Sprint(url) != "" && fmt.Sprint(url) != "[]"
	}
	if outside := set("elasticsearch") || set("postgres"); outside != (w.kind == "Deployment") {
		t.Errorf("a %s, and there is an engine outside: %v", w.kind, outside)
	}
}

// serve runs the program on a free port of this machine until the end of the test, and gives its URL.
func serve(t *testing.T, all objects) string {
	t.Helper()
	folder := t.TempDir()
	_, container := all.gateway(t)
	cmd := command(t, all, append(container.Args, "--listen=127.0.0.1:0", "--data-dir="+folder)...)
	var log strings.Builder
	cmd.Stderr = &log
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	found := []string(nil)
	for found == nil && lines.Scan() {
		found = regexp.MustCompile(`serves on (http://\S+)`).FindStringSubmatch(lines.Text())
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_, _ = io.Copy(io.Discard, out)
		if err := cmd.Wait(); err != nil {
			t.Errorf("the gateway ended with %v: %s", err, log.String())
		}
	})
	if found == nil {
		t.Fatal("the gateway did not say where it serves")
	}
	return found[1]
}

// ask gives the status that a path has for a host name, without or with the key.
func ask(t *testing.T, url, host, key string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Host, request.Close = host, true
	if key != "" {
		request.Header.Set("Authorization", "Bearer "+key)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	return answer.StatusCode
}

func objectsOf(t *testing.T, path string) objects {
	t.Helper()
	rendered, err := render(t, read(t, path))
	if err != nil {
		t.Fatal(err)
	}
	return decode(t, rendered)
}

// TestProbesAreAnswered: under the pod's address, without a key, and with an embedding service that is away.
func TestProbesAreAnswered(t *testing.T) {
	for _, path := range []string{plain + "/embedded/values.yaml", "testdata/open.yaml"} {
		all := objectsOf(t, path)
		url := serve(t, all)
		_, c := all.gateway(t)
		for _, probe := range []*corev1.Probe{c.StartupProbe, c.LivenessProbe, c.ReadinessProbe} {
			if status := ask(t, url+probe.HTTPGet.Path, "10.1.2.3:8080", ""); status != http.StatusOK {
				t.Errorf("%s: the probe %s is answered with %d", path, probe.HTTPGet.Path, status)
			}
		}
		if never := ask(t, url+"/never", "localhost", key); never != http.StatusNotFound {
			t.Errorf("any path is answered: %d", never)
		}
	}
}

// TestWhoIsLetIn: with keys whoever has one, under every name; without them who calls the Service by its names.
func TestWhoIsLetIn(t *testing.T) {
	const bases = "/v1/knowledge-bases"
	var url string
	f := func(path, host, key string, want int) {
		t.Helper()
		if got := ask(t, url+path, host, key); got != want {
			t.Errorf("%s as %q with the key %q: %d, want %d", path, host, key, got, want)
		}
	}
	url = serve(t, objectsOf(t, plain+"/embedded/values.yaml"))
	f(bases, "hybridge", "", http.StatusUnauthorized)
	f(bases, "hybridge", "another-key-of-16-letters", http.StatusUnauthorized)
	f(bases, "hybridge", key, http.StatusOK)
	f(bases, "search.example", key, http.StatusOK)

	url = serve(t, objectsOf(t, "testdata/open.yaml"))
	f(bases, "hybridge", "", http.StatusOK)
	f(bases, "hybridge.hybridge", "", http.StatusOK)
	f(bases, "hybridge.hybridge.svc", "", http.StatusOK)
	f(bases, "hybridge.hybridge.svc.cluster.example:80", "", http.StatusOK)
	f(bases, "localhost:8080", "", http.StatusOK) // kubectl port-forward
	f(bases, "search.intern", "", http.StatusOK)
	f(bases, "attacker.example", "", http.StatusForbidden)
}

// TestMetricsAreThere: what the ServiceMonitor asks for, with a key of the configuration, which has every role.
func TestMetricsAreThere(t *testing.T) {
	url := serve(t, objectsOf(t, plain+"/embedded/values.yaml"))
	monitors := objectsOf(t, "testdata/everything.yaml").monitors
	if len(monitors) != 1 {
		t.Fatalf("%d monitors, want 1", len(monitors))
	}
	endpoints, _, err := unstructured.NestedSlice(monitors[0].Object, "spec", "endpoints")
	if err != nil || len(endpoints) != 1 {
		t.Fatalf("%v, %v; want one endpoint", endpoints, err)
	}
	endpoint := endpoints[0].(map[string]any)
	if endpoint["port"] != "http" || endpoint["scheme"] != "https" {
		t.Errorf("the endpoint is %v", endpoint)
	}
	path := endpoint["path"].(string)
	if with, without := ask(t, url+path, "hybridge", key), ask(t, url+path, "hybridge", ""); with != http.StatusOK ||
		without != http.StatusUnauthorized {
		t.Errorf("%s: %d with the key, %d without", path, with, without)
	}
}

// TestVariablesOfServicesEndTheStart: which is why pods get none.
func TestVariablesOfServicesEndTheStart(t *testing.T) {
	cmd := command(t, objectsOf(t, plain+"/embedded/values.yaml"), "config", "check")
	cmd.Env = append(cmd.Env, "HYBRIDGE_SERVICE_HOST=10.0.0.1")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "HYBRIDGE_SERVICE_HOST") {
		t.Errorf("%v: %s; want an error that names the variable", err, out)
	}
}
