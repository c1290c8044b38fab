package metric_test

import (
	"math"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/evaluation/metric"
)

// TestMetrics: a is the best document and b a good one; c was looked at and is neither; nobody judged x.
func TestMetrics(t *testing.T) {
	t.Parallel()
	judged := metric.Judgments{"a": 2, "b": 1, "c": 0}
	f := func(name, ranking string, want float64) {
		t.Helper()
		m, err := metric.Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Of(strings.Fields(ranking), judged, 0); math.Abs(got-want) > 1e-12 {
			t.Errorf("%s of %q is %v, want %v", name, ranking, got, want)
		}
	}
	log3, log4 := math.Log2(3), 2.0
	// Gains at ranks 2 and 3, divided by those of a b c.
	f("ndcg@10", "x b a c", (1/log3+2.0/log4)/(2+1/log3))
	f("ndcg@2", "x b a c", (1/log3)/(2+1/log3))
	f("ndcg_exp@10", "x b a c", (1/log3+3.0/log4)/(3+1/log3)) // a gains 2^2-1
	f("ndcg@10", "a b", 1)
	f("mrr@10", "x b a", 1.0/2)
	f("mrr@1", "x b a", 0)
	f("map@10", "x b a", (1.0/2+2.0/3)/2)
	f("map@2", "x b a", (1.0/2)/2)
	f("recall@2", "x b a", 1.0/2)
	f("precision@5", "x b a", 2.0/5) // of five that were asked for
	f("hit@1", "x b", 0)
	f("hit@2", "x b", 1)
	// Satisfied by b with 1/4, by a with 3/4: 1/4 at rank 2, and 3/4 of the other 3/4 at rank 3.
	f("err@10", "x b a", 1.0/4/2+3.0/4*3.0/4/3)
	f("judged@4", "x b a c", 3.0/4)
	f("unjudged@4", "x b a c", 1.0/4)

	for _, family := range metric.Families() {
		f(family+"@10", "", 0)
	}
}

// TestScale: with the grades that judges may give, err of a good document does not depend on what else was judged.
func TestScale(t *testing.T) {
	t.Parallel()
	m, err := metric.Parse("err@1")
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Of([]string{"b"}, metric.Judgments{"b": 1}, 2); got != 0.25 {
		t.Errorf("err@1 is %v, want 0.25", got)
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "ndcg", "ndcg@", "ndcg@0", "ndcg@1001", "ndcg@ten", "bleu@10", "@10", "ndcg@10@2"} {
		if _, err := metric.Parse(name); err == nil || !strings.Contains(err.Error(), "ndcg@10") {
			t.Errorf(`%q: %v; want an error and "ndcg@10" in it`, name, err)
		}
	}
	if m, err := metric.Parse("ndcg@010"); err != nil || m.Name != "ndcg@10" {
		t.Errorf(`%+v, %v; want no error and m.Name "ndcg@10"`, m, err)
	}
	if _, err := metric.ParseAll([]string{"mrr@10", "mrr@10"}); err == nil {
		t.Error("one is named twice")
	}
}
