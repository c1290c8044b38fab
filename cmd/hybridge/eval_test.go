package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/engine/enginetest"
	"github.com/hybridge-search/hybridge/engine/postgres"
	"github.com/hybridge-search/hybridge/evaluation"
	"github.com/hybridge-search/hybridge/internal/devservices"
)

// smallSet writes a retrieval set of two passages and one question.
func smallSet(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "small")
	files := map[string]string{
		"corpus.jsonl": `{"_id":"a","title":"Refunds","text":"Money comes back within a week."}
{"_id":"b","title":"Delivery","text":"Parcels leave on Mondays."}
`,
		"queries.jsonl": `{"_id":"q","text":"when do parcels leave"}` + "\n",
		"qrels.tsv":     "query-id\tcorpus-id\tscore\nq\tb\t1\n",
		"corpus.e5.f32": "\x00\x00\x80\x3f\x00\x00\x00\x00" + "\x00\x00\x00\x00\x00\x00\x80\x3f", // (1, 0), (0, 1)
		// (1, 0): the vector leg prefers the wrong passage.
		"queries.e5.f32": "\x00\x00\x80\x3f\x00\x00\x00\x00",
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// evaluated runs eval and gives its exit code and what it printed.
func evaluated(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, complaints strings.Builder
	p := &program{stdin: strings.NewReader(""), stdout: &out, stderr: &complaints}
	code = p.run(t.Context(), append([]string{"eval"}, args...))
	return code, out.String(), complaints.String()
}

func TestEvalMeasuresASet(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	page := filepath.Join(dir, "page.md")
	markers := "before\n<!-- relevance embedded -->\nold\n<!-- end of relevance embedded -->\nafter\n"
	if err := os.WriteFile(page, []byte(markers), 0o644); err != nil {
		t.Fatal(err)
	}
	code, out, complaints := evaluated(t, "--data", smallSet(t), "--presets", "text,vector", "--json",
		"--system", `one={"preset":"rrf","top_k":1,"weights":{"text":1,"vector":0}}`,
		"--runs", filepath.Join(dir, "runs"), "--per-query", filepath.Join(dir, "rows.jsonl"), "--into", page)
	if code != exitOK {
		t.Fatalf("exit code %d: %s", code, complaints)
	}
	var report evaluation.Report
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatal(err)
	}
	f := func(system int, name string, want float64) {
		t.Helper()
		figure := report.Sets[0].Figures[system]
		if figure.System != name || figure.NDCG10.Mean != want {
			t.Errorf("%s: nDCG@10 %v, want %s: %v", figure.System, figure.NDCG10.Mean, name, want)
		}
	}
	f(0, "text", 1)
	f(1, "vector", 1/math.Log2(3)) // found second
	f(2, "one", 1)

	for file, want := range map[string]string{
		"runs/small.text.run": "q Q0 b 1 1 text\n",
		"rows.jsonl":          `"query":"q","ndcg@10":1`,
		"page.md":             "| small | 1.0000 | 0.6309 | 1.0000 |",
	} {
		content, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil || !strings.Contains(string(content), want) {
			t.Errorf("%s holds %q (%v), want %q in it", file, content, err, want)
		}
	}
	content, _ := os.ReadFile(page)
	if s := string(content); !strings.HasPrefix(s, "before\n") || !strings.HasSuffix(s, "after\n") || strings.Contains(s, "old") {
		t.Errorf("only what stands between the markers is replaced, got %q", s)
	}
}

// TestEvalOfAnswers runs the reports that are not about one set's ranking.
func TestEvalOfAnswers(t *testing.T) {
	t.Parallel()
	one, other := smallSet(t), smallSet(t)
	renamed := filepath.Join(filepath.Dir(other), "other")
	if err := os.Rename(other, renamed); err != nil {
		t.Fatal(err)
	}
	f := func(want string, args ...string) {
		t.Helper()
		code, out, complaints := evaluated(t, append(args, "--data", one, "--data", renamed, "--presets", "text,balanced")...)
		if code != exitOK || !strings.Contains(out, want) {
			t.Errorf("%v: exit code %d, %q; want %q in\n%s", args, code, complaints, want, out)
		}
	}
	f("Passages of small, other; questions of small, other:", "--together")
	f("| text | 50.00 | 50.00 | +0.00 | +0.00 small |", "--together", "--passages", "small")
	f("By preset text, 6 questions to 2 sets, nothing known of 0;", "--answerability")
	f("By preset balanced nothing is known of the answers to 6 questions.", "--answerability") // vectors of two numbers
	code, _, complaints := evaluated(t, "--data", one, "--together", "--passages", "none")
	if code != exitUsage || !strings.Contains(complaints, "passages") {
		t.Errorf("passages of no set: exit code %d, %q", code, complaints)
	}
}

// On PostgreSQL the figures are the same, and nothing of the set stays there.
func TestEvalMeasuresOnPostgres(t *testing.T) {
	t.Parallel()
	database := devservices.NewDatabase(t)
	code, out, complaints := evaluated(t, "--data", smallSet(t), "--presets", "text,vector",
		"--engine", "postgres", "--postgres-url", database.URL)
	if code != exitOK || !strings.Contains(out, "Engine postgres") || !strings.Contains(out, "| small | 1.0000 | 0.6309 |") {
		t.Errorf("exit code %d, %s\n%s", code, complaints, out)
	}
	e, err := postgres.Open(t.Context(), postgres.Options{
		URL: database.URL, Schema: "eval_hybridge", Tokenizer: enginetest.Words{},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	if left, err := e.KnowledgeBases(t.Context()); err != nil || len(left) != 0 {
		t.Errorf("%+v left, %v", left, err)
	}
}

// TestEvalReranks has the passages ordered by another gateway's /v1/rerank, as a configured reranker.
func TestEvalReranks(t *testing.T) {
	t.Parallel()
	settings := filepath.Join(t.TempDir(), "hybridge.yaml")
	url := run(t, settingsIn(t.TempDir())).url
	if err := os.WriteFile(settings, []byte("reranker: {url: "+url+"/v1/rerank, model: fusion}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	code, out, complaints := evaluated(t, "--data", smallSet(t), "--presets", "vector", "--config", settings,
		"--system", `reranked={"preset":"vector","rerank":"default"}`)
	if code != exitOK || !strings.Contains(out, "| small | 0.6309 | 1.0000 |") {
		t.Errorf("exit code %d, %s\n%s", code, complaints, out)
	}
}

func TestEvalRefuses(t *testing.T) {
	t.Parallel()
	set := smallSet(t)
	f := func(want string, args ...string) {
		t.Helper()
		code, _, complaints := evaluated(t, args...)
		if code != exitUsage || !strings.Contains(complaints, want) {
			t.Errorf("%v: exit code %d, %q; want %d and %q", args, code, complaints, exitUsage, want)
		}
	}
	f("--data is missing; it must be the folder")
	f("corpus.jsonl", "--data", t.TempDir())
	f("engine is", "--data", set, "--engine", "sqlite")
	f("did you mean postgres?", "--data", set, "--engine", "postgrs")
	f("did you mean rrf?", "--data", set, "--presets", "rff")
	f("needs --postgres-url", "--data", set, "--engine", "postgres")
	f("system", "--data", set, "--system", "rrf")
	f("unknown field", "--data", set, "--system", `a={"presets":"rrf"}`)
	f("has no lines", "--data", set, "--into", filepath.Join(set, "corpus.jsonl"))
	f("per-query", "--data", set, "--per-query", set)
}
