package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/gateway/quality"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/cli"
)

// What a team does from a file of questions to a gate in its continuous integration.
func TestEvaluationCommands(t *testing.T) {
	t.Parallel()
	settings := settingsIn(t.TempDir())
	settings.Judge.URL, settings.Judge.Model = scriptedJudge(t), "scripted"
	r := run(t, settings)
	r.must(http.MethodPost, "/v1/knowledge-bases", map[string]any{"id": "shop", "dimensions": 0}, nil)
	r.must(http.MethodPost, cli.BasePath("shop")+"/documents?refresh=true", shopTexts, nil)
	c := command{t: t, folder: t.TempDir(), environ: []string{"HYBRIDGE_SERVER=" + r.url}}
	file := func(name, text string) string {
		path := filepath.Join(c.folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	questions := file("questions.csv", "query\nwhen opens the shop\nhow long takes a refund\n")
	ratings := file("ratings.csv", "query,docid,rating\nwhen opens the shop,hours#0,3\nhow long takes a refund,refunds#0,3\n")

	c.want(cli.ExitUsage, "", "query-sets create faq", "--kb")
	c.want(cli.ExitNotFound, "", "query-sets create faq --kb nope", "nope")
	c.want(cli.ExitOK, "", "query-sets create faq --kb shop", "created faq")
	c.want(cli.ExitFailed, "", "query-sets create faq --kb shop", "exists already")
	c.want(cli.ExitOK, "", "query-sets import faq "+questions, "2 stored, 0 refused")
	c.want(cli.ExitFailed, "{\"id\": \"x\"}\n", "query-sets import faq -", "0 stored, 1 refused",
		"standard input: queries without a text (1): left out", `line 1: query "x"`)
	c.want(cli.ExitUsage, "", "query-sets import faq "+questions+" --format xml", "format", "jsonl, csv or rre")
	c.want(cli.ExitOK, "", "query-sets list", "faq", "shop")
	c.want(cli.ExitOK, "", "query-sets export faq --format csv", "id,query", "how long takes a refund")

	c.want(cli.ExitUsage, "", "judgments create people", "--query-set")
	c.want(cli.ExitOK, "", "judgments create people --query-set faq", "created people")
	c.want(cli.ExitOK, "", "judgments import people --chunks "+ratings, "2 stored, 0 refused")
	c.want(cli.ExitOK, "", "judgments export people --format beir", "how long takes a refund\trefunds#0\t3")
	c.want(cli.ExitUsage, "", "judgments export people --format trec", "ids without spaces")
	c.want(cli.ExitOK, "", "judgments export people", `"hash":"`, `"document_id":"refunds"`)
	c.want(cli.ExitOK, "", "judgments list", "people", "0-3")

	c.want(cli.ExitOK, "", "judgments create model --query-set faq --source model", "created model")
	c.want(cli.ExitUsage, "", "judgments grade people --like model", "source is model")
	c.want(cli.ExitUsage, "", "judgments grade model", "at least one system")
	c.want(cli.ExitOK, "", "judgments grade model --like people --presets text --depth 2", "graded model")
	c.want(cli.ExitOK, "", "judgments export model", `"judge":"scripted, rubric `, `"note":"it says so"`)
	c.want(cli.ExitUsage, "", "judgments agreement model", "--with")
	c.want(cli.ExitOK, "", "judgments agreement model --with people", "2 judgments in both, 50.0 % of them equal", "kappa", "-1.50 higher")
	c.want(cli.ExitUsage, "", "evaluations run --query-set faq", "--judgments")
	c.want(cli.ExitNotFound, "", "evaluations run --query-set fag --judgments people --presets text", "fag")
	c.want(cli.ExitUsage, "", "evaluations run --query-set faq --judgments people --presets nosuch", "nosuch")
	report := filepath.Join(c.folder, "report.html")
	code, out, errs := c.run("", "evaluations", "run", "--query-set", "faq", "--judgments", "people", "--presets", "text",
		"--system", `narrow={"preset":"text","filter":{"document_id":"hours"}}`, "--against", "text", "--metrics", "hit@1",
		"--fail-if", "hit@1 < -0.1", "--report", report)
	if code != cli.ExitFailed || !strings.Contains(out, `"how long takes a refund" -1.000`) || !strings.Contains(errs, "hit@1 < -0.1 of narrow") {
		t.Errorf("exit code %d: %s %s; want code exitFailed and `\"how long takes a refund\" -1.000` in it and \"hit@1 < -0.1 of narrow\" in it", code, brief.Of(out), errs)
	}
	if page, err := os.ReadFile(report); err != nil || !strings.Contains(string(page), "narrow") {
		t.Errorf(`%s, %v; want no error and "narrow" in it`, brief.Of(page), err)
	}
	c.want(cli.ExitOK, "", "evaluations list", "text, narrow", "done")
	var all quality.EvaluationList
	r.must(http.MethodGet, "/v1/evaluations", nil, &all)
	id := all.Evaluations[0].ID
	c.want(cli.ExitOK, "", "evaluations show "+id, "HIT@1", "faq, narrow against text")
	c.want(cli.ExitOK, "", "evaluations unjudged "+id+" --limit 1", `"chunk_id"`)
	c.want(cli.ExitOK, "", "evaluations run --query-set faq --judgments people --presets text --metrics hit@1 --baseline "+id,
		"faq, text against text", "+0.0000")
	c.want(cli.ExitFailed, "", "evaluations resume "+id, "is done")
	c.want(cli.ExitUsage, "", "tunings run --query-set faq", "--judgments")
	c.want(cli.ExitUsage, "", "tunings run --query-set faq --judgments people --folds 3", "at least 3 queries")
	c.want(cli.ExitNotFound, "", "tunings show nope", "does not exist")
	c.want(cli.ExitOK, "", "tunings list", "VERDICT")
	c.want(cli.ExitOK, "", "evaluations delete --yes "+id, "deleted")
	c.want(cli.ExitNotFound, "", "evaluations show "+id, "does not exist")
	c.want(cli.ExitOK, "", "query-sets delete --yes faq", "deleted faq")
	c.want(cli.ExitNotFound, "", "judgments export people", "does not exist")
}

// scriptedJudge grades 3 what has the word refund, and 0 all else.
func scriptedJudge(t *testing.T) (url string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var completion struct{ Messages []struct{ Content string } }
		var asked struct {
			Passages []struct{ Title, Text string }
		}
		if err := json.NewDecoder(r.Body).Decode(&completion); err != nil || len(completion.Messages) != 2 {
			t.Errorf("asked %+v, %v; want no error and 2 completion.Messages", completion, err)
			return
		}
		if err := json.Unmarshal([]byte(completion.Messages[1].Content), &asked); err != nil {
			t.Error(err)
		}
		said := struct {
			Grades []map[string]any `json:"grades"`
		}{}
		for _, p := range asked.Passages {
			grade := 0
			if strings.Contains(strings.ToLower(p.Title+p.Text), "refund") {
				grade = 3
			}
			said.Grades = append(said.Grades, map[string]any{"grade": grade, "reason": "it says so"})
		}
		text, err := json.Marshal(said)
		if err != nil {
			t.Error(err)
		}
		answer := map[string]any{"choices": []any{map[string]any{"message": map[string]any{"content": string(text)}}}}
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// A folder as BEIR's are downloaded is one command.
func TestImportOfAFolder(t *testing.T) {
	t.Parallel()
	r := run(t, settingsIn(t.TempDir()))
	r.must(http.MethodPost, "/v1/knowledge-bases", map[string]any{"id": "faq", "dimensions": 0}, nil)
	c := command{t: t, folder: t.TempDir(), environ: []string{"HYBRIDGE_SERVER=" + r.url}}
	folder := filepath.Join(c.folder, "set")
	for name, text := range map[string]string{
		"queries.jsonl":   `{"_id": "1", "text": "退款要多久", "metadata": {}}` + "\n" + `{"_id": "2", "text": "hours"}`,
		"qrels/test.tsv":  "query-id\tcorpus-id\tscore\n1\td1\t2\n2\td2\t1\n",
		"qrels/train.tsv": "query-id\tcorpus-id\tscore\n",
	} {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c.want(cli.ExitOK, "", "query-sets import beir "+folder+" --kb faq --judgments beir",
		"queries: 2 stored, 0 refused", "judgments: 2 stored, 0 refused")
	c.want(cli.ExitOK, "", "query-sets import beir "+folder+" --judgments beir", "2 stored")
	c.want(cli.ExitOK, "", "judgments list", "0-2")
	c.want(cli.ExitUsage, "", "query-sets import beir "+c.folder, "queries.jsonl")

	odd := filepath.Join(c.folder, "odd")
	for name, text := range map[string]string{
		"corpus.jsonl":  `{"_id": "1", "text": "x"}` + "\n" + `{"_id": "d1", "text": "x"}`,
		"queries.jsonl": `{"_id": 1, "text": "退款要多久"}` + "\n" + `{"_id": "2", "text": "opening hours"}` + "\n" + `{"_id": "3"}`,
		"qrels.tsv":     "query-id\tcorpus-id\tscore\n1\td1\t10\n1\tgone\t7\n2\td1\t-1\n2\td1\t4\nnobody\td1\t1\n",
	} {
		if err := os.MkdirAll(odd, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(odd, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// The list beir has grades 0 to 2, and a judgment of query 2.
	c.want(cli.ExitFailed, "", "query-sets import beir "+odd+" --judgments beir",
		"queries: 1 stored, 2 refused", "judgments: 0 stored, 4 refused",
		"queries.jsonl: ids that are numbers (1): read as their text", "queries without a text (1): left out",
		"rows that the gateway refused (1): not stored", `line 2: query "2" is "hours" and has judgments in list "beir"`,
		"qrels.tsv: grades above the scale of the list (3): not stored: list beir has grades 0 to 2; one that is made with --max-grade 10 (max_grade) holds them all",
		`line 2: document "d1" of query "1": 10`, "judged documents that the corpus lacks (1)", `query set "beir" has no query "nobody"`,
		"pairs judged twice with different grades (1): the last grade counts", "evaluations of the gateway count that hit")
	c.want(cli.ExitFailed, "", "query-sets import beir "+odd+" --judgments wide --replace",
		"queries: 2 stored, 1 refused", "queries that had another text (1): replaced", `line 2: query "2" was "hours"`,
		"judgments: 3 stored, 1 refused")
	c.want(cli.ExitOK, "", "judgments list", "0-10")
	c.want(cli.ExitFailed, "2 0 d1 11\n2 0 d2 1.5\n2 0 d3 2\n", "judgments import wide - --format trec", "judgments: 1 stored, 2 refused",
		"standard input: grades above the scale of the list (1): not stored: list wide has grades 0 to 10, and --max-grade (max_grade) is at most 10")
	c.want(cli.ExitOK, `{"query_placeholder": "$q", "queries": [{"placeholders": {"$q": "opening hours"}, "relevant_documents": {"2": ["d9"]}}]}`,
		"judgments import wide - --format rre", "judgments: 1 stored, 0 refused")
	c.want(cli.ExitOK, "", "judgments export wide --format trec", "2 0 d9 2\n")
}
