package main

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hybridge-search/hybridge/config"
	"github.com/hybridge-search/hybridge/evaluation"
	"github.com/hybridge-search/hybridge/evaluation/exchange"
	"github.com/hybridge-search/hybridge/evaluation/library"
	"github.com/hybridge-search/hybridge/evaluation/runs"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway/quality"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/internal/devservices"
	"github.com/hybridge-search/hybridge/search"
)

func TestEvaluationsEmbedded(t *testing.T) {
	t.Parallel()
	evaluations(t, settingsIn(t.TempDir()))
}

func TestEvaluationsElasticsearch(t *testing.T) {
	t.Parallel()
	evaluations(t, withElasticsearch(t, settingsIn(t.TempDir())))
}

func TestEvaluationsPostgres(t *testing.T) {
	t.Parallel()
	c := settingsIn(t.TempDir())
	c.Postgres.URL = devservices.Postgres(t)
	c.Postgres.Schema = strings.ToLower(t.Name())
	evaluations(t, c)
}

// judgedShop is a gateway with a knowledge base, a query set and judgments of it.
type judgedShop struct{ *running }

const shopTexts = `{"id": "hours#0", "document_id": "hours", "content": "The shop opens at nine and closes at six."}
{"id": "refunds#0", "document_id": "refunds", "content": "A refund is paid back within a week."}
{"id": "refunds#1", "document_id": "refunds", "content": "Who asks for a refund needs the receipt of the shop."}
{"id": "parcels#0", "document_id": "parcels", "content": "Parcels are sent on the next working day."}`

// evaluations measures two systems on a knowledge base in use, and goes on after texts have moved and changed.
func evaluations(t *testing.T, c *config.Config) {
	s := judgedShop{run(t, c)}
	s.must(http.MethodPost, "/v1/knowledge-bases", map[string]any{"id": "shop", "dimensions": 0}, nil)
	s.must(http.MethodPost, cli.BasePath("shop")+"/documents?refresh=true", shopTexts, nil)
	s.files()
	s.judge()

	first := s.evaluate("text", "narrow")
	want := map[string]float64{
		"text ndcg@2": 1, "text recall@1": .75, "text judged@2": 1,
		"narrow ndcg@2": .5, "narrow recall@1": .5, "narrow judged@2": .5,
	}
	s.reached(first, want)
	text := &first.Results[0]
	if text.Queries != 2 || text.Failed != 0 || *text.RightlyRefused != 1 || *text.WronglyRefused != 0 || text.MedianMS <= 0 {
		t.Errorf("%+v; want text.Queries 2 and text.Failed 0 and *text.RightlyRefused 1 and *text.WronglyRefused 0 and text.MedianMS above 0", text)
	}
	if narrow := &first.Results[1]; *narrow.WronglyRefused != .5 {
		t.Errorf("%+v; want *narrow.WronglyRefused .5", narrow)
	}
	if c := first.Comparisons; len(c) != 1 || c[0].System != "narrow" || c[0].Queries != 2 || c[0].Differences[0].Less != 1 {
		t.Errorf(`%+v; want 1 c and c[0].System "narrow" and c[0].Queries 2 and c[0].Differences[0].Less 1`, c)
	}
	s.comparesByAnyMetric(first)
	s.showsAnswers(first)

	// The same text under another id keeps its judgment; another text under an id does not get it.
	s.must(http.MethodDelete, cli.BasePath("shop")+"/documents/refunds", nil, nil)
	s.must(http.MethodPost, cli.BasePath("shop")+"/documents?refresh=true",
		`{"id": "money#4", "document_id": "money", "content": "A refund is paid back within a week."}
{"id": "hours#0", "document_id": "hours", "content": "Nobody opens anything any more."}`, nil)
	second := s.evaluate("text")
	s.reached(second, map[string]float64{"text recall@1": .25})
	if second.Results[0].Changed != 1 {
		t.Errorf("%d hits have changed; want second.Results[0].Changed 1", second.Results[0].Changed)
	}
	var unjudged quality.UnjudgedHits
	s.must(http.MethodGet, "/v1/evaluations/"+second.ID+"/unjudged", nil, &unjudged)
	changed := runs.Unjudged{
		Query: "open", Text: "when does it open: opens", KnowledgeBase: "shop", DocumentID: "hours", ChunkID: "hours#0",
		Changed: true, Ranks: map[string]int{"text": 1},
	}
	if !slices.ContainsFunc(unjudged.Unjudged, func(u runs.Unjudged) bool { return cmp.Equal(u, changed) }) {
		t.Errorf("to be judged: %+v, want among them %+v", unjudged.Unjudged, changed)
	}
	var compared evaluation.Comparison
	s.must(http.MethodGet, "/v1/evaluations/"+second.ID+"/comparison?system=text&against=text&baseline="+first.ID, nil, &compared)
	if d := compared.Differences[0]; d.Less != 2 || d.More != 0 {
		t.Errorf("against the first: %+v; want d.Less 2 and d.More 0", d)
	}
	s.refusesWhatCannotBeMeasured()

	s.stop()
	s.running = run(t, c)
	var list quality.EvaluationList
	s.must(http.MethodGet, "/v1/evaluations", nil, &list)
	if len(list.Evaluations) != 2 || list.Evaluations[0].ID != second.ID || list.Evaluations[1].State != runs.Done {
		t.Errorf("after a restart there are %+v", list.Evaluations)
	}
	for _, e := range list.Evaluations {
		s.must(http.MethodDelete, "/v1/evaluations/"+e.ID, nil, nil)
	}
	s.must(http.MethodDelete, "/v1/query-sets/faq", nil, nil)
	if status, _ := s.ask(http.MethodGet, "/v1/judgments/people", ""); status != http.StatusNotFound {
		t.Errorf("judgments of a set that was deleted: %d; want status StatusNotFound", status)
	}
	s.must(http.MethodDelete, cli.BasePath("shop"), nil, nil)
}

func (s judgedShop) judge() {
	s.t.Helper()
	s.must(http.MethodPut, "/v1/query-sets/faq", map[string]any{"knowledge_bases": []string{"shop"}}, nil)
	var outcome library.Outcome
	s.must(http.MethodPost, "/v1/query-sets/faq/queries", map[string]any{"queries": []library.Query{
		{ID: "open", Text: "when does it open: opens"},
		{ID: "refund", Text: "refund"},
		{ID: "nothing", Text: "zeppelin", Unanswerable: true},
		{ID: "unjudged", Text: "parcels"},
	}}, &outcome)
	if outcome.Stored != 4 {
		s.t.Fatalf("%+v; want outcome.Stored 4", outcome)
	}
	s.must(http.MethodPut, "/v1/judgments/people", map[string]any{"query_set": "faq"}, nil)
	s.must(http.MethodPost, "/v1/judgments/people/judgments", map[string]any{"judgments": []library.Judgment{
		{QueryID: "open", ChunkID: "hours#0", Grade: 3},
		{QueryID: "refund", ChunkID: "refunds#0", Grade: 3},
		{QueryID: "refund", ChunkID: "refunds#1", Grade: 1},
		{QueryID: "nobody", ChunkID: "refunds#1", Grade: 1},
	}}, &outcome)
	if outcome.Stored != 3 || len(outcome.Failed) != 1 || outcome.Failed[0].Field != "query_id" {
		s.t.Fatalf(`%+v; want outcome.Stored 3 and 1 outcome.Failed and outcome.Failed[0].Field "query_id"`, outcome)
	}
}

// files are whole files of other programs over HTTP: what is odd about them is in the answer, by line, and in the
// language of the caller. Texts of queries that are judged stay, unless the caller says otherwise.
func (s judgedShop) files() {
	s.t.Helper()
	f := func(path string, body map[string]any, stored, leftOut int, want ...string) {
		s.t.Helper()
		var answer exchange.Imported
		s.must(http.MethodPost, path, body, &answer)
		var told strings.Builder
		for _, o := range answer.Oddities {
			fmt.Fprintf(&told, "%s (%d): %s; line %d: %s\n", o.Is, o.Count, o.Done, o.First[0].Line, o.First[0].Seen)
		}
		if answer.Stored != stored || answer.LeftOut != leftOut {
			s.t.Errorf("%v: %d stored, %d left out, %s", body, answer.Stored, answer.LeftOut, told.String())
		}
		for _, want := range want {
			if !strings.Contains(told.String(), want) {
				s.t.Errorf("%v: the answer lacks %q: %s", body, want, told.String())
			}
		}
	}
	s.must(http.MethodPut, "/v1/query-sets/files", map[string]any{"knowledge_bases": []string{"shop"}}, nil)
	s.must(http.MethodPut, "/v1/judgments/files", map[string]any{"query_set": "files"}, nil)
	const queries, judgments = "/v1/query-sets/files/import", "/v1/judgments/files/import"
	f(queries, map[string]any{"text": `{"_id": 1, "text": "refund"}` + "\n" + `{"_id": "2"}`}, 1, 1,
		"ids that are numbers (1): read as their text; line 1: 1", `queries without a text (1): left out; line 2: query "2"`)
	f(judgments, map[string]any{"name": "ratings.csv", "text": "query,docid,rating\nrefund,refunds,3\nrefund,hours,10\nnobody,hours,1\n"}, 1, 2,
		"grades above the scale of the list (1): not stored: list files has grades 0 to 3; one that is made with --max-grade 10 (max_grade) holds them all; line 3",
		`rows that the gateway refused (1): not stored; line 4: query set "files" has no query "nobody"`)
	changed := map[string]any{"text": `{"_id": 1, "text": "opening hours"}`}
	f(queries, changed, 0, 1, `line 1: query "1" is "refund" and has judgments in list "files"`)
	s.must(http.MethodPost, queries, changed, nil)
	var outcome library.Outcome
	row := map[string]any{"queries": []library.Query{{ID: "1", Text: "opening hours"}}}
	s.must(http.MethodPost, "/v1/query-sets/files/queries", row, &outcome)
	if len(outcome.Failed) != 1 || outcome.Failed[0].Code != fault.Conflict || outcome.Failed[0].Field != "text" {
		s.t.Errorf(`%+v; want 1 outcome.Failed and outcome.Failed[0].Code Conflict and outcome.Failed[0].Field "text"`, outcome)
	}
	changed["replace"] = true
	f(queries, changed, 1, 0, `queries that had another text (1): replaced; line 1: query "1" was "refund"`)
	f(queries, changed, 1, 0)
	for path, body := range map[string]string{
		queries:                        `{"format": "xml", "text": ""}`,
		"/v1/judgments/nosuch/import":  `{"text": ""}`,
		"/v1/query-sets/nosuch/import": `{"text": ""}`,
		judgments:                      `{"format": "csv", "text": "a,b\n"}`,
	} {
		if status, _ := s.ask(http.MethodPost, path, body); status != http.StatusBadRequest && status != http.StatusNotFound {
			s.t.Errorf("%s %s: %d; want status StatusBadRequest or status StatusNotFound", path, brief.Of(body), status)
		}
	}
	s.must(http.MethodDelete, "/v1/query-sets/files", nil, nil)
}

// systems are searches by their names.
var systems = map[string]string{
	"text":   `{"name": "text", "request": {"preset": "text"}}`,
	"narrow": `{"name": "narrow", "request": {"preset": "text", "filter": {"document_id": ["hours", "parcels"]}}}`,
}

// evaluate measures some of the systems and waits.
func (s judgedShop) evaluate(names ...string) *runs.Evaluation {
	s.t.Helper()
	var asked []string
	for _, name := range names {
		asked = append(asked, systems[name])
	}
	e := &runs.Evaluation{}
	s.must(http.MethodPost, "/v1/evaluations", fmt.Sprintf(`{"query_set": "faq", "judgments": "people",
		"systems": [%s], "metrics": ["ndcg@2", "recall@1", "judged@2"]}`, strings.Join(asked, ",")), e)
	eventually(s.t, "the evaluation has ended", func() bool {
		*e = runs.Evaluation{Work: runs.Work{ID: e.ID}}
		s.must(http.MethodGet, "/v1/evaluations/"+e.ID, nil, e)
		return e.State != runs.Running
	})
	if e.State != runs.Done || e.Answered != e.Searches || e.Searches != 3*len(names) || len(e.Results) != len(names) {
		s.t.Fatalf("%+v", e)
	}
	return e
}

// reached compares means, by system and metric.
func (s judgedShop) reached(e *runs.Evaluation, want map[string]float64) {
	s.t.Helper()
	got := map[string]float64{}
	for _, r := range e.Results {
		for _, m := range r.Metrics {
			if _, asked := want[r.System+" "+m.Metric]; asked {
				got[r.System+" "+m.Metric] = m.Mean
			}
			if m.Low > m.Mean || m.Mean > m.High {
				s.t.Errorf("%s: %+v", r.System, m)
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		s.t.Error(diff)
	}
}

func (s judgedShop) comparesByAnyMetric(e *runs.Evaluation) {
	s.t.Helper()
	var c evaluation.Comparison
	s.must(http.MethodGet, "/v1/evaluations/"+e.ID+"/comparison?system=narrow&against=text&metric=hit@1&metric=map@10", nil, &c)
	if len(c.Differences) != 2 || c.Differences[0].Metric != "hit@1" || c.Differences[0].Mean.Mean != -.5 {
		s.t.Errorf(`%+v; want 2 c.Differences and c.Differences[0].Metric "hit@1" and c.Differences[0].Mean.Mean -.5`, c.Differences)
	}
}

func (s judgedShop) showsAnswers(e *runs.Evaluation) {
	s.t.Helper()
	var rows quality.EvaluationRows
	s.must(http.MethodGet, "/v1/evaluations/"+e.ID+"/rows?system=text&query=refund", nil, &rows)
	if len(rows.Rows) != 1 || len(rows.Rows[0].Hits) < 2 || rows.Rows[0].Hits[0].Grade == nil || len(rows.Rows[0].Hits[0].Legs) == 0 {
		s.t.Fatalf("%+v; want 1 rows.Rows and at least 2 rows.Rows[0].Hits and a rows.Rows[0].Hits[0].Grade and some rows.Rows[0].Hits[0].Legs", rows)
	}
	s.must(http.MethodGet, "/v1/evaluations/"+e.ID+"/rows?system=text&limit=2", nil, &rows)
	if len(rows.Rows) != 2 || rows.Next != "open" {
		s.t.Errorf(`%d rows, next %q; want 2 rows.Rows and rows.Next "open"`, len(rows.Rows), rows.Next)
	}
}

func (s judgedShop) refusesWhatCannotBeMeasured() {
	s.t.Helper()
	f := func(body string, status int, field string) {
		s.t.Helper()
		got, answer := s.ask(http.MethodPost, "/v1/evaluations", body)
		if got != status || !strings.Contains(string(answer), `"field":"`+field+`"`) {
			s.t.Errorf("%s: %d %s, want %d about %s", brief.Of(body), got, brief.Of(answer), status, field)
		}
	}
	of := func(systems, more string) string {
		return `{"query_set": "faq", "judgments": "people", "systems": [` + systems + `]` + more + `}`
	}
	text := systems["text"]
	f(of("", ""), 400, "systems")
	f(of(text+","+text, ""), 400, "systems[1].name")
	f(of(`{"name": "a", "request": {"preset": "nosuch"}}`, ""), 400, "systems[0].request.preset")
	f(of(`{"name": "a", "request": {"query": "x"}}`, ""), 400, "systems[0].request.query")
	f(of(text, `, "metrics": ["ndcg"]`), 400, "metric")
	f(of(text, `, "against": "another"`), 400, "against")
	f(of(text+`,{"name": "b", "request": {"knowledge_bases": ["nope"]}}`, ""), 404, "systems[1].request.knowledge_base")
}

// What is found on judged questions is recommended only where it is better beyond chance; it is saved by one call,
// and answers as it was measured.
func TestTuning(t *testing.T) {
	t.Parallel()
	s := judgedShop{run(t, settingsIn(t.TempDir()))}
	s.must(http.MethodPost, "/v1/knowledge-bases", map[string]any{"id": "shop", "dimensions": 0}, nil)
	s.manyJudged()
	const dated = `{"definition": {"base": "linear", "weights": {"text": 1, "vector": 0},
		"signals": [{"recency": {"field": "published", "half_life": "365d"}, "weight": 0.01}]}}`
	s.must(http.MethodPut, "/v1/presets/dated", dated, nil)
	tuning := s.tuned(`"preset": "dated", "metric": "hit@1", "space": ["signals.recency:published=0.01..3:log"]`)
	r := tuning.Result
	if !r.Recommended || r.Start != 0 || r.Unseen != 1 || tuning.Definition == nil {
		t.Fatalf("%+v, %+v; want r.Recommended and r.Start 0 and r.Unseen 1 and a tuning.Definition", r, tuning.Definition)
	}
	if d := tuning.Definition; d.Base != "linear" || d.Provenance == nil || d.Provenance.Base != "dated" || *d.Provenance.Mean != 1 {
		t.Errorf(`%+v; want d.Base "linear" and a d.Provenance and d.Provenance.Base "dated" and *d.Provenance.Mean 1`, d)
	}
	ask := func(preset string) string {
		return s.search(search.Request{Query: "word7", KnowledgeBases: []string{"shop"}, Preset: preset}).Hits[0].ID
	}
	if got := ask("dated"); got != "old7" {
		t.Errorf(`before: %s; want got "old7"`, got)
	}
	s.must(http.MethodPut, "/v1/presets/dated", map[string]any{"definition": tuning.Definition, "base_version": 1}, nil)
	if got := ask("dated"); got != "new7" {
		t.Errorf(`after: %s; want got "new7"`, got)
	}
	s.must(http.MethodPost, "/v1/presets/dated/rollback", `{"version": 1}`, nil)
	if got := ask("dated"); got != "old7" {
		t.Errorf(`taken back: %s; want got "old7"`, got)
	}
	c := command{t: t, folder: t.TempDir(), environ: []string{"HYBRIDGE_SERVER=" + s.url}}
	c.want(cli.ExitOK, "", "tunings run --query-set faq --judgments people --preset dated --metric hit@1 --trials 200 --save newer "+
		"--space signals.recency:published=0.01..3:log", `"base": "linear"`, "saved preset newer")
	if got := ask("newer"); got != "new7" {
		t.Errorf(`by command: %s; want got "new7"`, got)
	}
	c.want(cli.ExitOK, "", "tunings show "+tuning.ID, "done", `"data_hash": "sha256:`)
	c.want(cli.ExitOK, "", "tunings delete --yes "+tuning.ID, "deleted")
	if none := s.tuned(`"preset": "text", "metric": "hit@1", "retrieval": ["candidates=50,100"]`); none.Result.Recommended {
		t.Errorf("where nothing helps it recommends %+v", none.Definition)
	}
	s.tuningRefuses()
}

// manyJudged are questions whose newer answer is right, while the older one says the word more often.
func (s judgedShop) manyJudged() {
	s.t.Helper()
	const questions = 60
	var chunks strings.Builder
	var queries []library.Query
	var judgments []library.Judgment
	for i := range questions {
		fmt.Fprintf(&chunks, `{"id": "old%d", "document_id": "a%d", "content": "word%d word%d", "metadata": {"published": "2015-01-01"}}`+"\n",
			i, i, i, i)
		fmt.Fprintf(&chunks, `{"id": "new%d", "document_id": "b%d", "content": "word%d", "metadata": {"published": "2026-01-01"}}`+"\n", i, i, i)
		queries = append(queries, library.Query{ID: fmt.Sprintf("q%02d", i), Text: fmt.Sprintf("word%d", i)})
		judgments = append(judgments, library.Judgment{QueryID: queries[i].ID, ChunkID: fmt.Sprintf("new%d", i), Grade: 1})
	}
	s.must(http.MethodPost, cli.BasePath("shop")+"/documents?refresh=true", chunks.String(), nil)
	s.must(http.MethodPut, "/v1/query-sets/faq", map[string]any{"knowledge_bases": []string{"shop"}}, nil)
	s.must(http.MethodPost, "/v1/query-sets/faq/queries", map[string]any{"queries": queries}, nil)
	s.must(http.MethodPut, "/v1/judgments/people", map[string]any{"query_set": "faq"}, nil)
	s.must(http.MethodPost, "/v1/judgments/people/judgments", map[string]any{"judgments": judgments}, nil)
}

// tuned runs a tuning.
func (s judgedShop) tuned(members string) *runs.Tuning {
	s.t.Helper()
	tuning := &runs.Tuning{}
	s.must(http.MethodPost, "/v1/tunings", `{"query_set": "faq", "judgments": "people", "trials": 200, `+members+`}`, tuning)
	eventually(s.t, "the tuning has ended", func() bool {
		id := tuning.ID
		*tuning = runs.Tuning{}
		s.must(http.MethodGet, "/v1/tunings/"+id, nil, tuning)
		return tuning.State != runs.Running
	})
	if tuning.State != runs.Done || tuning.Result == nil {
		s.t.Fatalf("%+v; want tuning.State Done and a tuning.Result", tuning)
	}
	return tuning
}

func (s judgedShop) tuningRefuses() {
	s.t.Helper()
	f := func(members, field string) {
		s.t.Helper()
		got, answer := s.ask(http.MethodPost, "/v1/tunings", `{"judgments": "people", `+members+`}`)
		if got != http.StatusBadRequest || !strings.Contains(string(answer), `"field":"`+field+`"`) {
			s.t.Errorf("%s: %d %s, want one about %s", members, got, brief.Of(answer), field)
		}
	}
	f(`"query_set": "faq", "space": ["nosuch=0..1"]`, "space")
	f(`"query_set": "faq", "space": ["candidates=1,2"]`, "space")
	f(`"query_set": "faq", "preset": "nosuch"`, "preset")
	f(`"query_set": "faq", "metric": "ndcg"`, "metric")
	f(`"query_set": "faq", "method": "luck"`, "method")
	f(`"query_set": "faq", "folds": 61`, "folds")
	f(`"query_set": "faq", "knowledge_base": "other"`, "knowledge_base")
}
