// Package evaluation measures rankings against judgments: metrics of trec_eval, bootstrap
// intervals, paired tests, comparisons with an earlier run, and retrieval sets in BEIR's folder layout.
package evaluation

import (
	"github.com/hybridge-search/hybridge/evaluation/metric"
	"github.com/hybridge-search/hybridge/lib/vector"
)

// Metrics of one query, all in [0, 1].
type Metrics struct {
	NDCG10    float64 `json:"ndcg@10"`
	Recall10  float64 `json:"recall@10"`
	Recall100 float64 `json:"recall@100"`
	MRR10     float64 `json:"mrr@10"`
	// Unjudged is the share of the first ten hits without a judgment.
	Unjudged float64 `json:"unjudged@10"`
	// Alike is the mean cosine between the first ten hits, 0 without vectors.
	Alike float64 `json:"alike@10,omitempty"`
}

// Judgments are the grades of the documents of one query; above 0 means relevant.
type Judgments = metric.Judgments

// measured are the metrics that every row has.
var measured = func() []metric.Metric {
	all, err := metric.ParseAll([]string{"ndcg@10", "recall@10", "recall@100", "mrr@10", "unjudged@10"})
	if err != nil {
		panic(err) // the names are constants and valid
	}
	return all
}()

// Measure compares a ranking, best first, with the judgments.
func Measure(ranking []string, judged Judgments) (m Metrics) {
	for i, into := range []*float64{&m.NDCG10, &m.Recall10, &m.Recall100, &m.MRR10, &m.Unjudged} {
		*into = measured[i].Of(ranking, judged, 0)
	}
	return m
}

// Alike is the mean cosine between the first k of a ranking, by their vectors of length 1; 0
// where no two have one.
func Alike(ranking []string, vectors map[string][]float32, k int) float64 {
	sum, pairs := 0.0, 0
	first := ranking[:min(k, len(ranking))]
	for i := range first {
		for j := range i {
			if a, b := vectors[first[i]], vectors[first[j]]; a != nil && b != nil {
				sum += float64(vector.Dot(a, b))
				pairs++
			}
		}
	}
	if pairs == 0 {
		return 0
	}
	return sum / float64(pairs)
}
