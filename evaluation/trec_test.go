package evaluation_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/evaluation"
	"github.com/hybridge-search/hybridge/evaluation/metric"
)

// The run, the judgments and the values of testdata/trec.* were made once with pytrec-eval-terrier 0.5.11: ndcg_cut,
// map_cut, P, success, recall, and recip_rank of the first few.
func TestMetricsEqualTrecEval(t *testing.T) {
	judged, err := evaluation.ReadJudgments("testdata/trec.qrels.tsv")
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile("testdata/trec.json")
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]map[string]float64
	if err := json.Unmarshal(content, &want); err != nil {
		t.Fatal(err)
	}
	if len(want) != 11 {
		t.Fatalf("%d queries in the golden file, want 11", len(want))
	}
	for query, ranking := range rankings(t) {
		for name, value := range want[query] {
			m, err := metric.Parse(name)
			if err != nil {
				t.Fatal(err)
			}
			near(t, query+" "+name, m.Of(ranking, judged[query], 0), value)
		}
		row := evaluation.Measure(ranking, judged[query])
		near(t, query+" nDCG@10 of a row", row.NDCG10, want[query]["ndcg@10"])
		near(t, query+" MRR@10 of a row", row.MRR10, want[query]["mrr@10"])
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
