package evaluation_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/evaluation"
)

// The run, the judgments and the values of testdata/trec.* were made once with
// pytrec-eval-terrier 0.5.11: ndcg_cut_10, recall_10, recall_100, and recip_rank of
// the first ten.
func TestMetricsEqualTrecEval(t *testing.T) {
	judged, err := evaluation.ReadJudgments("testdata/trec.qrels.tsv")
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile("testdata/trec.json")
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]evaluation.Metrics
	if err := json.Unmarshal(content, &want); err != nil {
		t.Fatal(err)
	}
	if len(want) != 11 {
		t.Fatalf("%d queries in the golden file, want 11", len(want))
	}
	for query, ranking := range rankings(t) {
		got := evaluation.Measure(ranking, judged[query])
		near(t, query+" nDCG@10", got.NDCG10, want[query].NDCG10)
		near(t, query+" recall@10", got.Recall10, want[query].Recall10)
		near(t, query+" recall@100", got.Recall100, want[query].Recall100)
		near(t, query+" MRR@10", got.MRR10, want[query].MRR10)
	}
}

// rankings reads testdata/trec.run, whose lines are best first.
func rankings(t *testing.T) map[string][]string {
	t.Helper()
	content, err := os.ReadFile("testdata/trec.run")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][]string{}
	for line := range strings.Lines(string(content)) {
		fields := strings.Fields(line)
		found[fields[0]] = append(found[fields[0]], fields[2])
	}
	return found
}

func TestWriteRun(t *testing.T) {
	result := &evaluation.Result{System: "rrf of 15", Rows: []evaluation.Row{
		{Query: "q1", Ranking: []string{"b", "a"}}, {Query: "q2"}, {Query: "q3", Ranking: []string{"c"}},
	}}
	var out strings.Builder
	if err := evaluation.WriteRun(&out, result); err != nil {
		t.Fatal(err)
	}
	want := "q1 Q0 b 1 2 rrf_of_15\nq1 Q0 a 2 1 rrf_of_15\nq3 Q0 c 1 1 rrf_of_15\n"
	if out.String() != want {
		t.Errorf("run file\n%swant\n%s", out.String(), want)
	}
}
