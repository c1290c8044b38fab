package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/evaluation"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/cli"
)

// TestEvalAgainstAnEarlierRun: keywords find what is asked first, vectors second.
func TestEvalAgainstAnEarlierRun(t *testing.T) {
	t.Parallel()
	set, folder := smallSet(t), t.TempDir()
	rows, runs := filepath.Join(folder, "rows.jsonl"), filepath.Join(folder, "runs")
	if code, _, complaints := evaluated(t, "--data", set, "--presets", "text", "--per-query", rows, "--runs", runs); code != 0 {
		t.Fatal(complaints)
	}
	page, junit := filepath.Join(folder, "page.html"), filepath.Join(folder, "junit.xml")
	code, out, complaints := evaluated(t, "--data", set, "--presets", "vector", "--json", "--baseline", rows,
		"--metrics", "mrr@10,hit@1", "--fail-if", "mrr@10 < -0.4", "--fail-if", "ndcg@5 < -0.9", "--report", page, "--report", junit)
	if code != cli.ExitFailed || !strings.Contains(complaints, "mrr@10 < -0.4 of vector on small: mrr@10 0.5000, was 1.0000") {
		t.Errorf(`exit %d: %s; want code exitFailed and "mrr@10 < -0.4 of vector on small: mrr@10 0.5000, was 1.0000" in it`, code, complaints)
	}
	var told struct {
		evaluation.Report
		evaluation.Comparisons
	}
	if err := json.Unmarshal([]byte(out), &told); err != nil || len(told.Sets) != 1 || len(told.All) != 1 || len(told.All[0].Differences) != 3 {
		t.Fatalf("%v: %s; want no error and 1 told.Sets and 1 told.All and 3 told.All[0].Differences", err, brief.Of(out))
	}
	if checks := told.Checks; len(checks) != 2 || !checks[0].Broken || checks[1].Broken {
		t.Errorf("%+v; want 2 checks and checks[0].Broken and not checks[1].Broken", checks)
	}
	for _, name := range []string{page, junit} {
		if content, err := os.ReadFile(name); err != nil || !strings.Contains(string(content), "mrr@10") {
			t.Errorf(`%s: %v, %s; want no error and "mrr@10" in it`, name, err, brief.Of(content))
		}
	}

	// A run file of trec_eval does as well, and what holds ends with 0.
	run := filepath.Join(runs, "small.text.run")
	code, out, complaints = evaluated(t, "--data", set, "--presets", "text", "--baseline", run, "--fail-if", "mrr@10 < 0 p<0.05")
	if code != 0 || !strings.Contains(out, "| `mrr@10 < 0 p<0.05` | small | text | holds |") {
		t.Errorf("exit %d: %s%s; want code 0 and \"| `mrr@10 < 0 p<0.05` | small | text | holds |\" in it", code, brief.Of(out), complaints)
	}
	// So does another system of the same evaluation.
	code, out, complaints = evaluated(t, "--data", set, "--presets", "text,vector", "--against", "text", "--metrics", "mrr@10")
	if code != 0 || !strings.Contains(out, "small, vector against text, 1 queries") {
		t.Errorf(`exit %d: %s%s; want code 0 and "small, vector against text, 1 queries" in it`, code, brief.Of(out), complaints)
	}
}

func TestEvalRefusesComparisonsInTime(t *testing.T) {
	t.Parallel()
	set := smallSet(t)
	f := func(says string, args ...string) {
		t.Helper()
		code, _, complaints := evaluated(t, append([]string{"--data", set, "--presets", "text"}, args...)...)
		if code != cli.ExitUsage || !strings.Contains(complaints, says) {
			t.Errorf("%q: exit %d, %s; want a word of %q", args, code, complaints, says)
		}
	}
	f("given with --baseline", "--fail-if", "mrr@10 < 0")
	f("given with --baseline", "--report", "x.md")
	f("omitted with --baseline", "--baseline", "x", "--against", "text")
	f("METRIC <", "--against", "text", "--fail-if", "worse")
	f("ndcg@10", "--against", "text", "--metrics", "ndcg")
	f("did you mean ndcg@10?", "--against", "text", "--metrics", "ndgc@10")
	f("ends in .md", "--against", "text", "--report", "x.pdf")
	f("no such file", "--baseline", filepath.Join(t.TempDir(), "rows.jsonl"))
	f("measured", "--against", "vector")
}
