package main

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/internal/devservices"
	"github.com/hybridge-search/hybridge/search"
)

const (
	alertRules = "../../deploy/prometheus/hybridge.rules.yml"
	alertTests = "../../deploy/prometheus/hybridge.rules.test.yml"
	dashboard  = "../../deploy/grafana/hybridge.json"
)

func promtool(t *testing.T, args ...string) {
	t.Helper()
	if output, err := exec.CommandContext(t.Context(), devservices.Promtool(t), args...).CombinedOutput(); err != nil {
		t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, brief.Of(output))
	}
}

// ruleFile is a file of alert or recording rules.
type ruleFile struct {
	Groups []ruleGroup `yaml:"groups"`
}

type ruleGroup struct {
	Name  string `yaml:"name"`
	Rules []rule `yaml:"rules"`
}

type rule struct {
	Record string `yaml:"record,omitempty"`
	Alert  string `yaml:"alert,omitempty"`
	Expr   string `yaml:"expr"`
}

func readRules(t *testing.T, path string) []rule {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var file ruleFile
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	var all []rule
	for _, group := range file.Groups {
		all = append(all, group.Rules...)
	}
	return all
}

// TestAlertRules runs their unit tests, of which every alert has one that it fires.
func TestAlertRules(t *testing.T) {
	t.Parallel()
	tests, err := os.ReadFile(alertTests)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range readRules(t, alertRules) {
		fires := regexp.MustCompile(`alertname: ` + r.Alert + `\n\s+exp_alerts:\n\s+- exp_labels`)
		if !fires.Match(tests) {
			t.Errorf("no test in %s lets %s fire", alertTests, r.Alert)
		}
	}
	promtool(t, "check", "rules", alertRules)
	promtool(t, "test", "rules", alertTests)
}

// panel is a part of a dashboard, perhaps with parts of its own.
type panel struct {
	Title   string
	Targets []struct{ Expr string }
	Panels  []panel
}

// expressions are those of the dashboard, as Prometheus gets them.
func (p *panel) expressions() []string {
	var all []string
	for _, target := range p.Targets {
		all = append(all, strings.NewReplacer("$__rate_interval", "5m", "$job", ".*", "$instance", ".*").Replace(target.Expr))
	}
	for i := range p.Panels {
		all = append(all, p.Panels[i].expressions()...)
	}
	return all
}

// TestWhatIsWatchedExists: every expression of the dashboard parses, and together with those of
// the alerts they name metrics that a gateway has which has served something.
func TestWhatIsWatchedExists(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(dashboard)
	if err != nil {
		t.Fatal(err)
	}
	var board panel
	if err := json.Unmarshal(text, &board); err != nil {
		t.Fatal(err)
	}
	shown := board.expressions()
	if len(shown) < 20 {
		t.Fatalf("only %d expressions in %s; want at least 20 shown", len(shown), dashboard)
	}
	known := metricsOfUse(t)
	watched := slices.Clone(shown)
	for _, r := range readRules(t, alertRules) {
		watched = append(watched, r.Expr)
	}
	for _, expression := range watched {
		names := metricsIn(expression)
		if len(names) == 0 {
			t.Errorf("%s names no metric; want some names", expression)
		}
		for _, name := range names {
			if !known[name] {
				t.Errorf("%s names %s, which no gateway has", expression, name)
			}
		}
	}
	group := ruleGroup{Name: "dashboard"}
	for _, expression := range shown {
		group.Rules = append(group.Rules, rule{Record: "parses", Expr: expression})
	}
	written, err := yaml.Marshal(ruleFile{Groups: []ruleGroup{group}})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "dashboard.yml")
	if err := os.WriteFile(path, written, 0o600); err != nil {
		t.Fatal(err)
	}
	promtool(t, "check", "rules", "--lint=none", path)
}

var (
	// Of an expression that parses these are no names of metrics: texts, matchers, ranges, lists of labels.
	texts      = regexp.MustCompile(`"[^"]*"`)
	noMetrics  = regexp.MustCompile(`\{[^}]*\}|\[[^\]]*\]|\b(by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)`)
	identifier = regexp.MustCompile(`[a-zA-Z_:][a-zA-Z0-9_:]*(\s*\()?`)
	operators  = []string{"and", "or", "unless", "bool", "offset"}
)

// metricsIn are the metrics that an expression names.
func metricsIn(expression string) []string {
	var names []string
	for _, name := range identifier.FindAllString(noMetrics.ReplaceAllString(texts.ReplaceAllString(expression, " "), " "), -1) {
		if !strings.HasSuffix(name, "(") && !slices.Contains(operators, name) {
			names = append(names, name)
		}
	}
	return names
}

func TestMetricsIn(t *testing.T) {
	f := func(expression string, want ...string) {
		t.Helper()
		if got := metricsIn(expression); !slices.Equal(got, want) {
			t.Errorf("%s names %q, want %q", expression, got, want)
		}
	}
	f(`sum by (a, b) (rate(x_total{c=~"d{e}",f="g"}[5m])) / on (a) y > 0.5`, "x_total", "y")
	f(`histogram_quantile(0.95, sum(rate(z_bucket[5m])) by (le)) unless hybrige_typo`, "z_bucket", "hybrige_typo")
	f(`1 + vector(1)`)
}

// metricsOfUse are the metrics of a gateway that has been used a little, and up, which
// Prometheus makes.
func metricsOfUse(t *testing.T) map[string]bool {
	t.Helper()
	r := run(t, settingsIn(t.TempDir()))
	r.must(http.MethodPost, "/v1/knowledge-bases", map[string]any{"id": "k", "dimensions": 2}, nil)
	r.must(http.MethodPost, cli.BasePath("k")+"/documents?refresh=true",
		`{"id": "a", "document_id": "d", "content": "a refund", "vector": [0.6, 0.8]}`, nil)
	if answer := r.search(search.Request{Query: "refund", KnowledgeBases: []string{"k"}}); len(answer.Degraded) == 0 {
		t.Fatal("the answer is not degraded, although no model is configured")
	}
	known := map[string]bool{"up": true}
	_, text := r.ask(http.MethodGet, "/metrics", "")
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "#") {
			known[identifier.FindString(line)] = true
		}
	}
	r.checkLabels(string(text))
	return known
}

// checkLabels holds the metrics of searches to what they count.
func (r *running) checkLabels(metrics string) {
	r.t.Helper()
	for _, line := range []string{
		`hybridge_searches_total{outcome="degraded",preset="balanced"} 1`,
		`hybridge_search_duration_seconds_count{preset="balanced"} 1`,
		`hybridge_engine_requests_total{engine="embedded",outcome="ok",request="search"} 1`,
		`hybridge_engine_writes_total{engine="embedded",operation="write",outcome="ok"} 1`,
		`hybridge_legs_total{engine="embedded",leg="text",outcome="ok"} 1`,
		`hybridge_legs_total{engine="embedded",leg="vector",outcome="unavailable"} 1`,
		`hybridge_leg_duration_seconds_count{engine="embedded",leg="text"} 1`,
	} {
		if !strings.Contains(metrics, line+"\n") {
			r.t.Errorf("the metrics lack %s", line)
		}
	}
}

// TestSlowSearchesAreLoggedWithTheirPlans: with the question only where that is configured.
func TestSlowSearchesAreLoggedWithTheirPlans(t *testing.T) {
	t.Parallel()
	f := func(slow time.Duration, queries bool, lines int) {
		t.Helper()
		c := settingsIn(t.TempDir())
		c.Log.SlowSearch, c.Log.Queries = slow, queries
		r := run(t, c)
		defer r.stop()
		r.must(http.MethodPost, "/v1/knowledge-bases", map[string]any{"id": "k", "dimensions": 0}, nil)
		answer := r.search(search.Request{Query: "my private refund", KnowledgeBases: []string{"k"}})
		text := r.log.String()
		if got := strings.Count(text, "a search was slow"); got != lines {
			t.Errorf("slow from %s: %d lines, want %d\n%s", slow, got, lines, text)
		}
		if strings.Contains(text, "private") != queries {
			t.Errorf("log.queries is %v:\n%s", queries, text)
		}
		for _, part := range []string{
			"query_id=" + answer.QueryID, "request_id=", "preset=balanced", "engine=embedded", "took_ms=",
			`timings_ms="{\"analyze\":`, `plan="{\"preset\":\"balanced\",\"legs\":[`,
		} {
			if lines > 0 && !strings.Contains(slowLine(text), part) {
				t.Errorf("the line lacks %s: %s", part, slowLine(text))
			}
		}
	}
	f(time.Nanosecond, false, 1)
	f(time.Nanosecond, true, 1)
	f(0, false, 0)
}

func slowLine(log string) string {
	for line := range strings.Lines(log) {
		if strings.Contains(line, "a search was slow") {
			return line
		}
	}
	return ""
}

// TestReadyAsSoonAsKeywordSearchServes: without its model, and not without the engine of new
// knowledge bases. Neither is an error in the log.
func TestReadyAsSoonAsKeywordSearchServes(t *testing.T) {
	t.Parallel()
	away := httptest.NewServer(nil)
	away.Close()
	f := func(defaultEngine, status string) {
		t.Helper()
		c := settingsIn(t.TempDir())
		c.Elasticsearch.URL, c.DefaultEngine = []string{away.URL}, defaultEngine
		c.Embedding.URL, c.Embedding.Model, c.Redis.URL = away.URL, "m", strings.Replace(away.URL, "http", "redis", 1)
		r := run(t, c)
		defer r.stop()
		want := map[string]string{
			"embedded": "ok", "elasticsearch": "unavailable", "embedding": "unavailable", "redis": "unavailable",
		}
		if status == "unready" {
			clear(want) // the keys are there too: whether one is needed is not known, so all are strangers
		}
		if ready := r.readiness(); ready.Status != status || !maps.Equal(ready.BackEnds, want) {
			t.Errorf("new knowledge bases on %q: %+v, want %s", defaultEngine, ready, status)
		}
		if log := r.log.String(); strings.Contains(log, "level=ERROR") {
			t.Errorf("a probe is an error:\n%s; want no \"level=ERROR\" in it", brief.Of(log))
		}
	}
	f("embedded", "ready")
	f("", "unready") // on Elasticsearch
}
