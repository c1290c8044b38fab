package evaluation_test

import (
	"math"
	"testing"

	"github.com/hybridge-search/hybridge/evaluation"
)

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9 {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

func TestMetrics(t *testing.T) {
	judged := evaluation.Judgments{"a": 2, "b": 1, "c": 0}
	ranking := []string{"x", "b", "a", "c"}
	// gains at ranks 2 and 3: 1/log2(3) + 2/log2(4); ideal 2/log2(2) + 1/log2(3).
	near(t, "nDCG@10", evaluation.NDCG(ranking, judged, 10), (1/math.Log2(3)+1)/(2+1/math.Log2(3)))
	near(t, "nDCG@2", evaluation.NDCG(ranking, judged, 2), (1/math.Log2(3))/(2+1/math.Log2(3)))
	near(t, "recall@2", evaluation.Recall(ranking, judged, 2), 0.5)
	near(t, "recall@10", evaluation.Recall(ranking, judged, 10), 1)
	near(t, "MRR", evaluation.ReciprocalRank(ranking, judged, 10), 0.5)
	near(t, "unjudged", evaluation.Measure(ranking, judged).Unjudged, 0.25)
}

func TestMetricsOfNothing(t *testing.T) {
	near(t, "nDCG without judgments", evaluation.NDCG([]string{"a"}, nil, 10), 0)
	near(t, "recall without hits", evaluation.Recall(nil, evaluation.Judgments{"a": 1}, 10), 0)
	near(t, "interval of nothing", evaluation.Bootstrap(nil).Mean, 0)
}

func TestBootstrapHoldsTheMean(t *testing.T) {
	values := make([]float64, 200)
	for i := range values {
		values[i] = float64(i%4) / 4
	}
	interval := evaluation.Bootstrap(values)
	near(t, "mean", interval.Mean, 0.375)
	if interval.Low >= interval.Mean || interval.High <= interval.Mean || interval.High-interval.Low > 0.1 {
		t.Errorf("interval %+v should hold the mean closely", interval)
	}
	if again := evaluation.Bootstrap(values); again != interval {
		t.Errorf("the same values gave %+v, then %+v", interval, again)
	}
}

func TestPairedTest(t *testing.T) {
	same := make([]float64, 50)
	better := make([]float64, 50)
	for i := range better {
		better[i] = same[i] + 0.1
	}
	if p := evaluation.PairedTest(same, same); p < 0.99 {
		t.Errorf("equal systems: p = %v, want 1", p)
	}
	if p := evaluation.PairedTest(better, same); p > 0.001 {
		t.Errorf("always better: p = %v, want under 0.001", p)
	}
}
