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
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/cli"
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
	p := &cli.Program{Groups: groups, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &complaints}
	code = p.Run(t.Context(), append([]string{"eval"}, args...))
	return code, out.String(), complaints.String()
}

func TestEvalMeasuresASet(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	code, out, complaints := evaluated(t, "--data", smallSet(t), "--presets", "text,vector", "--json",
		"--system", `one={"preset":"rrf","top_k":1,"weights":{"text":1,"vector":0}}`,
		"--runs", filepath.Join(dir, "runs"), "--per-query", filepath.Join(dir, "rows.jsonl"))
	if code != cli.ExitOK {
		t.Fatalf("exit code %d: %s; want code exitOK", code, complaints)
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
	} {
		content, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil || !strings.Contains(string(content), want) {
			t.Errorf("%s holds %q (%v), want %q in it", file, brief.Of(content), err, want)
		}
	}
}

// What is odd about the files of a set is told, by line, and costs no more than its row.
func TestEvalTellsWhatIsOdd(t *testing.T) {
	t.Parallel()
	f := func(file, content string, ndcg float64, want ...string) {
		t.Helper()
		dir := smallSet(t)
		if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		code, out, told := evaluated(t, "--data", dir, "--presets", "text", "--vectors=", "--json")
		var report evaluation.Report
		if err := json.Unmarshal([]byte(out), &report); err != nil || code != cli.ExitOK {
			t.Fatalf("exit code %d, %v: %s; want no error and code exitOK", code, err, told)
		}
		if got := report.Sets[0].Figures[0].NDCG10.Mean; math.Abs(got-ndcg) > 1e-4 {
			t.Errorf("%s %q: nDCG@10 %v, want %v", file, content, got, ndcg)
		}
		inJSON, err := json.Marshal(report.Sets[0].Oddities)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range want {
			if !strings.Contains(told, want) {
				t.Errorf("%s %q: the report lacks %q: %s", file, content, want, told)
			}
			if of, _, _ := strings.Cut(want, " ("); !strings.Contains(string(inJSON), of) && !strings.HasPrefix(want, "line") {
				t.Errorf("%s %q: the JSON lacks %q: %s", file, content, of, brief.Of(inJSON))
			}
		}
	}
	const header = "query-id\tcorpus-id\tscore\n"
	corpus := `{"_id":"a","title":"Refunds","text":"Money comes back within a week."}
{"_id":"b","title":"Delivery","text":"Parcels leave on Mondays."}
`
	f("qrels.tsv", header+"q\tb\t1.0\nq\tgone\t1\n", 0.6131, "judged documents that the corpus lacks (1): above grade 0 they count",
		`line 3: document "gone" of query "q": 1`)
	f("qrels.tsv", header+"q\tb\t1\nq\tb\t0\nq\ta\t1\n", 0, "pairs judged twice with different grades (1): the last grade counts",
		`line 3: document "b" of query "q": 1 in line 2, then 0`)
	f("qrels.tsv", header+"nobody\tb\t1\nq\tb\t1\n", 1, "judgments of queries that are not there (1): left out", `line 2: query "nobody"`)
	f("corpus.jsonl", corpus+`{"_id":"b","text":"Nothing of that."}`+"\n", 0, "documents of an id that was there (1): the last one counts",
		`line 3: document "b" was in line 2`)
	f("corpus.jsonl", strings.Replace(corpus, `"a"`, `"q"`, 1), 1, "queries that are documents of the corpus, under their own id (1): that hit is dropped",
		`line 1: query "q" is in line 1 of corpus.jsonl`)
	f("queries.jsonl", `{"_id":"x","text":"all"}`+"\n"+`{"_id":"q","text":"when do parcels leave"}`+"\n", 1, "queries without judgments (1): not measured",
		`line 1: query "x"`)
}

// A query's own document takes no place, unless somebody judged it relevant.
func TestEvalDropsTheQueryItself(t *testing.T) {
	t.Parallel()
	f := func(own, want, told string) {
		t.Helper()
		dir, qrels := smallSet(t), "q\tb\t1\n"
		if own != "" {
			qrels += "q\t" + "q\t" + own + "\n" // its own document
		}
		for name, content := range map[string]string{
			"corpus.jsonl": `{"_id":"q","text":"When do parcels leave?"}` + "\n" + `{"_id":"b","text":"Parcels leave on Mondays."}` + "\n",
			"qrels.tsv":    "query-id\tcorpus-id\tscore\n" + qrels,
		} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		rows := filepath.Join(dir, "rows.jsonl")
		code, _, complaints := evaluated(t, "--data", dir, "--presets", "text", "--vectors=", "--per-query", rows)
		content, err := os.ReadFile(rows)
		if err != nil || code != cli.ExitOK || !strings.Contains(string(content), want) || !strings.Contains(complaints, told) {
			t.Errorf("%q: exit code %d, %s\n%s, want %q", qrels, code, complaints, brief.Of(content), want)
		}
	}
	f("", `"ranking":["b"]`, "that hit is dropped")
	f("0", `"ranking":["b"]`, "that hit is dropped")
	f("1", `"ranking":["q","b"]`, "that hit counts, while BEIR's evaluation would drop it")
}

// Judgments and runs of other programs are read in place of the set's own.
func TestEvalByOtherFiles(t *testing.T) {
	t.Parallel()
	set := smallSet(t)
	file := func(name, content string) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	f := func(qrels, run string, want ...string) {
		t.Helper()
		code, out, told := evaluated(t, "--data", set, "--presets", "text", "--qrels", qrels, "--baseline", run, "--metrics", "ndcg@10")
		for _, want := range want {
			if code != cli.ExitOK || !strings.Contains(out+told, want) {
				t.Errorf("%s, %s: exit code %d, %s%s; want %q", filepath.Base(qrels), filepath.Base(run), code, brief.Of(out), told, want)
			}
		}
	}
	f(file("a.csv", "query,docid,rating\nwhen do parcels leave,a,1\n"), file("old.csv", "query,docid,score\nq,b,2\nq,a,1\n"), "text against old")
	f(file("a.json", `{"q": {"b": 1}}`), file("old.json", `{"q": {"a": 1, "b": 0.5}}`), "text against old", "+0.3691")
	f(file("a.txt", "q 0 b 1\n"), file("old.run", "q Q0 b 1 x old\nq Q0 b 1 1 old\nq Q0 b 1 2 old\n"),
		"old.run: scores that are no numbers (1): left out", "old.run: documents that were there for their query (1): the last score counts")
	code, out, told := evaluated(t, "--data", set, "--presets", "text", "--json", "--baseline", file("old.run", "q Q0 b 1 1 old\nq Q0 b 1\n"))
	if code != cli.ExitOK || !strings.Contains(out, `"baseline_oddities": [`) || !strings.Contains(told, "old.run: rows of another number of columns (1)") {
		t.Errorf("exit code %d, %s%s; want code exitOK and `\"baseline_oddities\": [` in it and \"old.run: rows of another number of columns (1)\" in it", code, brief.Of(out), told)
	}
	code, _, told = evaluated(t, "--data", set, "--data", smallSet(t), "--qrels", "x")
	if code != cli.ExitUsage || !strings.Contains(told, "--data of one set") {
		t.Errorf(`exit code %d, %s; want code exitUsage and "--data of one set" in it`, code, told)
	}
}

// On PostgreSQL the figures are the same, and nothing of the set stays there.
func TestEvalMeasuresOnPostgres(t *testing.T) {
	t.Parallel()
	database := devservices.NewDatabase(t)
	code, out, complaints := evaluated(t, "--data", smallSet(t), "--presets", "text,vector",
		"--engine", "postgres", "--postgres-url", database.URL)
	if code != cli.ExitOK || !strings.Contains(out, "Engine postgres") || !strings.Contains(out, "| small | 1.0000 | 0.6309 |") {
		t.Errorf("exit code %d, %s\n%s; want code exitOK and \"Engine postgres\" in it and \"| small | 1.0000 | 0.6309 |\" in it", code, complaints, brief.Of(out))
	}
	e, err := postgres.Open(t.Context(), postgres.Options{
		Settings: postgres.Settings{Schema: "eval_hybridge"},
		URL:      database.URL, Tokenizer: enginetest.Words{},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	if left, err := e.KnowledgeBases(t.Context()); err != nil || len(left) != 0 {
		t.Errorf("%+v left, %v; want no error and no left", left, err)
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
	if code != cli.ExitOK || !strings.Contains(out, "| small | 0.6309 | 1.0000 |") {
		t.Errorf("exit code %d, %s\n%s; want code exitOK and \"| small | 0.6309 | 1.0000 |\" in it", code, complaints, brief.Of(out))
	}
}

func TestEvalRefuses(t *testing.T) {
	t.Parallel()
	set := smallSet(t)
	f := func(want string, args ...string) {
		t.Helper()
		code, _, complaints := evaluated(t, args...)
		if code != cli.ExitUsage || !strings.Contains(complaints, want) {
			t.Errorf("%v: exit code %d, %q; want %d and %q", args, code, complaints, cli.ExitUsage, want)
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
	f("per-query", "--data", set, "--per-query", set)
}
