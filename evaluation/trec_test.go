package evaluation_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/evaluation"
	"github.com/hybridge-search/hybridge/evaluation/exchange"
	"github.com/hybridge-search/hybridge/evaluation/metric"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/brief"
)

// The run, the judgments and the values of testdata/trec.* were made once with pytrec-eval-terrier 0.5.11: ndcg_cut,
// map_cut, P, success, recall, and recip_rank of the first few.
//
// Promise: "it equals pytrec_eval's" (docs/relevance.md).
// Promise: "the tests hold every one" (docs/guide/en/evaluation.md).
func TestMetricsEqualTrecEval(t *testing.T) {
	judged := judgmentsOf(t, "testdata/trec.qrels.tsv")
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

// judgmentsOf reads a file of judgments.
func judgmentsOf(t *testing.T, path string) map[string]evaluation.Judgments {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file := exchange.File{Name: path}
	all, err := file.Judgments(bytes.NewReader(content), exchange.Reading{})
	if err != nil {
		t.Fatal(err)
	}
	judged := map[string]evaluation.Judgments{}
	for i := range all {
		if judged[all[i].QueryID] == nil {
			judged[all[i].QueryID] = evaluation.Judgments{}
		}
		judged[all[i].QueryID][all[i].Of()] = all[i].Grade
	}
	return judged
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
		t.Errorf("run file\n%swant\n%s", brief.Of(out.String()), want)
	}
	for _, row := range []evaluation.Row{{Query: "q 1", Ranking: []string{"a"}}, {Query: "q", Ranking: []string{"a\tb"}}} {
		err := evaluation.WriteRun(&out, &evaluation.Result{Rows: []evaluation.Row{row}})
		if !fault.Is(err, fault.InvalidArgument) || !strings.Contains(err.Error(), "without spaces") {
			t.Errorf(`%+v is written, %v; want an error of kind InvalidArgument and "without spaces" in it`, row, err)
		}
	}
	// Other spaces of Unicode are letters of an id to trec_eval.
	if err := evaluation.WriteRun(&out, &evaluation.Result{Rows: []evaluation.Row{{Query: "q", Ranking: []string{"全\u3000角"}}}}); err != nil {
		t.Error(err)
	}
}
