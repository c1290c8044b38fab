package evaluation_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/hybridge-search/hybridge/evaluation"
	"github.com/hybridge-search/hybridge/evaluation/exchange"
	"github.com/hybridge-search/hybridge/evaluation/metric"
)

// twoRuns are a set of forty questions, and a run that finds three of four second where the other finds them first.
func twoRuns(t *testing.T) (set *evaluation.Set, now, before *evaluation.Result) {
	t.Helper()
	set = &evaluation.Set{Name: "s<1>", Judgments: map[string]evaluation.Judgments{}}
	now, before = &evaluation.Result{Set: set.Name, System: "new"}, &evaluation.Result{Set: set.Name, System: "old"}
	for i := range 40 {
		query := string(rune('A'+i/10)) + string(rune('0'+i%10))
		set.Judgments[query] = evaluation.Judgments{"right": 1}
		first, second := []string{"right", "wrong"}, []string{"wrong", "right"}
		if i%4 == 0 {
			second = first
		}
		before.Rows = append(before.Rows, evaluation.Row{Set: set.Name, System: "old", Query: query, Ranking: first})
		now.Rows = append(now.Rows, evaluation.Row{Set: set.Name, System: "new", Query: query, Ranking: second})
	}
	return set, now, before
}

func metrics(t *testing.T, names ...string) []metric.Metric {
	t.Helper()
	all, err := metric.ParseAll(names)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestCompare(t *testing.T) {
	t.Parallel()
	set, now, before := twoRuns(t)
	now.Rows = now.Rows[:39] // one was not asked
	c, err := evaluation.Compare(set, now, before, metrics(t, "mrr@10", "recall@10"))
	if err != nil {
		t.Fatal(err)
	}
	if c.Queries != 39 || c.Missing != 1 || len(c.Differences) != 2 {
		t.Errorf("%d queries, %d missing, %d differences", c.Queries, c.Missing, len(c.Differences))
	}
	d := c.Differences[0]
	near(t, "now", d.System, (10+29*0.5)/39)
	near(t, "before", d.Against, 1)
	near(t, "difference", d.Mean.Mean, d.System-d.Against)
	near(t, "corrected for two", d.Holm, 2*d.P)
	if d.Less != 29 || d.More != 0 || d.P > 0.001 || d.Mean.High >= 0 || d.Effect > -1 {
		t.Errorf("%s; want d.Less 29 and d.More 0 and d.P at most 0.001 and d.Mean.High below 0 and d.Effect at most -1", &d)
	}
	if first := d.Queries[0]; first.System != 0.5 || first.Against != 1 {
		t.Errorf("the worst query is %+v; want first.System 0.5 and first.Against 1", first)
	}
	if same := c.Differences[1]; same.Mean.Mean != 0 || same.Holm < 0.99 {
		t.Errorf("what did not change is %s", &same)
	}
	other := &evaluation.Result{System: "other", Rows: []evaluation.Row{{Query: "elsewhere"}}}
	if _, err := evaluation.Compare(set, now, other, metrics(t, "mrr@10")); err == nil {
		t.Error("nothing in common is compared")
	}
}

func TestRules(t *testing.T) {
	t.Parallel()
	set, now, before := twoRuns(t)
	c, err := evaluation.Compare(set, now, before, metrics(t, "mrr@10", "recall@10", "unjudged@1"))
	if err != nil {
		t.Fatal(err)
	}
	f := func(text string, broken bool) {
		t.Helper()
		rule, err := evaluation.ParseRule(text)
		if err != nil {
			t.Fatal(err)
		}
		checks, err := evaluation.CheckAll([]evaluation.Rule{rule}, []*evaluation.Comparison{c})
		if err != nil || len(checks) != 1 || checks[0].Broken != broken {
			t.Errorf("%q: %+v, %v; want broken: %v", text, checks, err, broken)
		}
	}
	f("mrr@10 < -0.1", true) // it is -0.375
	f("mrr@10 < -0.1 p<0.05", true)
	f("mrr@10<-0.375", false)
	f("mrr@10 < -0.5 p<0.05", false)
	f("recall@10 < 0 p<0.05", false)
	f("recall@10 < 0.001", true)
	f("recall@10 < 0.001 p < .05", false) // by chance
	f("unjudged@1 > 0.5", true)           // 30 of 40 hits nobody judged
	f("unjudged@1 > 0.8", false)

	refused := func(text, says string) {
		t.Helper()
		if _, err := evaluation.ParseRule(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want a word of %q", text, err, says)
		}
	}
	refused("", "METRIC <")
	refused("mrr@10", "METRIC <")
	refused("mrr@10 <= 1", "METRIC <")
	refused("mrr@10 < -0.1 q<0.05", "METRIC <")
	refused("mrr@10 < -2", "-1 to 1")
	refused("mrr@10 < -0.1 p<2", "up to 1")
	refused("bleu@10 < 0", "ndcg")
}

func TestReadRun(t *testing.T) {
	t.Parallel()
	read := func(content string) ([]*evaluation.Result, error) {
		path := filepath.Join(t.TempDir(), "run")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return evaluation.ReadRun(path, &exchange.Report{})
	}
	row := func(set, query string, ranking ...string) string {
		line, err := json.Marshal(evaluation.Row{Set: set, System: "rrf", Query: query, Ranking: ranking})
		if err != nil {
			t.Fatal(err)
		}
		return string(line) + "\n"
	}
	runs, err := read(row("s", "q1", "a", "b") + "\n" + row("s", "q2", "c") + row("other", "q1", "d"))
	if err != nil || len(runs) != 2 || len(runs[0].Rows) != 2 || runs[0].Rows[0].Ranking[1] != "b" || runs[1].Set != "other" {
		t.Errorf(`%+v, %v; want no error and 2 runs and 2 runs[0].Rows and runs[0].Rows[0].Ranking[1] "b" and runs[1].Set "other"`, runs, err)
	}
	// trec_eval goes by the score, whatever the rank; of the same score the later id is first.
	runs, err = read("q Q0 a 1 1.5 mine\nq Q0 b 2 3 mine\nq Q0 c 3 1.5 mine\n")
	if err != nil || len(runs) != 1 || strings.Join(runs[0].Rows[0].Ranking, " ") != "b c a" {
		t.Errorf(`%+v, %v; want no error and 1 runs and strings.Join(runs[0].Rows[0].Ranking, " ") "b c a"`, runs, err)
	}
	refused := func(content, says string) {
		t.Helper()
		_, err := read(content)
		if says == "" && err == nil {
			return
		}
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want a word of %q", content, err, says)
		}
	}
	refused("", "no rows")
	refused("a b c", "another number of columns (1), the first in line 1 3 of 6")
	refused("q Q0 a 1 1 mine\nq Q0 b 1 high mine", "") // a row costs itself
	refused("q Q0 a 1 high mine", "high")
	refused(`{"ranking": []}`, "no system")
	refused(`{"ranking": [}`, "cannot be read (1), the first in line 1")
	refused(strings.Repeat("x", 5<<20), "4 MiB")
	// trec_eval keeps 32 bits of a score: these are a tie.
	runs, err = read("q Q0 a 1 0.10000000001 mine\nq Q0 b 2 0.1 mine\n")
	if err != nil || strings.Join(runs[0].Rows[0].Ranking, " ") != "b a" {
		t.Errorf(`%+v, %v; want no error and strings.Join(runs[0].Rows[0].Ranking, " ") "b a"`, runs, err)
	}
	// A document counts once in a ranking, and the last row of a query counts.
	runs, err = read(row("s", "q", "a") + row("s", "q", "b", "b", "c"))
	if err != nil || len(runs[0].Rows) != 1 || strings.Join(runs[0].Rows[0].Ranking, " ") != "b c" {
		t.Errorf(`%+v, %v; want no error and 1 runs[0].Rows and strings.Join(runs[0].Rows[0].Ranking, " ") "b c"`, runs, err)
	}
}

func TestBaseline(t *testing.T) {
	t.Parallel()
	r := func(set, system string) *evaluation.Result { return &evaluation.Result{Set: set, System: system} }
	f := func(now *evaluation.Result, want string, runs ...*evaluation.Result) {
		t.Helper()
		got, err := evaluation.Baseline(runs, now)
		if err != nil && want != "" || err == nil && got.System != want {
			t.Errorf("%+v, %v; want %q", got, err, want)
		}
	}
	f(r("s", "new"), "new", r("s", "new"), r("s", "old"), r("other", "new"))
	f(r("s", "new"), "old", r("s", "old"))
	f(r("s", "new"), "old", r("", "old")) // a run file names no set
	f(r("s", "new"), "", r("s", "old"), r("s", "older"))
	f(r("s", "new"), "", r("other", "new"))
}

func TestReportsOfComparisons(t *testing.T) {
	t.Parallel()
	set, now, before := twoRuns(t)
	c, err := evaluation.Compare(set, now, before, metrics(t, "mrr@10"))
	if err != nil {
		t.Fatal(err)
	}
	report := &evaluation.Comparisons{All: []*evaluation.Comparison{c}}
	for _, text := range []string{"mrr@10 < -0.1", "mrr@10 < -0.9"} {
		rule, err := evaluation.ParseRule(text)
		if err != nil {
			t.Fatal(err)
		}
		checks, err := evaluation.CheckAll([]evaluation.Rule{rule}, report.All)
		if err != nil {
			t.Fatal(err)
		}
		report.Checks = append(report.Checks, checks...)
	}
	var tables, junit, page strings.Builder
	for _, err := range []error{report.WriteTables(&tables), report.WriteJUnit(&junit), report.WriteHTML(&page)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	has := func(what, text string, parts ...string) {
		t.Helper()
		for _, part := range parts {
			if !strings.Contains(text, part) {
				t.Errorf("%s has no %q:\n%s", what, part, text)
			}
		}
	}
	has("Markdown", tables.String(), "| mrr@10 | 0.6250 | 1.0000 | -0.3750 [", "Less mrr@10: A1 -0.500 (0.500, was 1.000)", "**broken**")
	has("JUnit", junit.String(), `tests="2" failures="1"`, `classname="s&lt;1&gt;.new" name="mrr@10 &lt; -0.1"`, "<failure message=")
	has("the page", page.String(), "s&lt;1&gt;: new against old", `class="broken"`)
	if n := len(elements(t, page.String(), "rect")); n != 30 {
		t.Errorf("the page has %d bars, want 30", n)
	}
	if n := len(elements(t, page.String(), "tr")); n != 2+1+1+1 { // two checks, one metric, two heads
		t.Errorf("the page's tables have %d rows, want 5", n)
	}
	if strings.Contains(page.String(), "http") || strings.Contains(page.String(), "<script") {
		t.Error("the page loads something")
	}
}

// elements are those of a page, as a browser reads it.
func elements(t *testing.T, page, name string) (found []*html.Node) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		if n.Type == html.ElementNode && n.Data == name {
			found = append(found, n)
		}
	}
	return found
}
