// Package evaluation measures rankings against judgments: metrics of trec_eval, bootstrap
// intervals, paired tests, and retrieval sets in BEIR's folder layout.
package evaluation

import (
	"math"
	"math/rand/v2"
	"sort"

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
type Judgments map[string]int

// Measure compares a ranking, best first, with the judgments.
func Measure(ranking []string, judged Judgments) Metrics {
	return Metrics{
		NDCG10:    NDCG(ranking, judged, 10),
		Recall10:  Recall(ranking, judged, 10),
		Recall100: Recall(ranking, judged, 100),
		MRR10:     ReciprocalRank(ranking, judged, 10),
		Unjudged:  unjudged(ranking, judged, 10),
	}
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

// NDCG is the discounted cumulative gain of the first k, divided by that of the best
// possible ranking. The gain is linear, grade/log2(rank + 1), as in trec_eval (Järvelin and
// Kekäläinen, "Cumulated gain-based evaluation of IR techniques", TOIS 2002). It is 0 for a
// query without relevant documents.
func NDCG(ranking []string, judged Judgments, k int) float64 {
	var dcg, ideal float64
	for i, id := range ranking[:min(k, len(ranking))] {
		dcg += gain(judged[id], i)
	}
	grades := make([]int, 0, len(judged))
	for _, grade := range judged {
		grades = append(grades, grade)
	}
	sort.Sort(sort.Reverse(sort.IntSlice(grades)))
	for i, grade := range grades[:min(k, len(grades))] {
		ideal += gain(grade, i)
	}
	if ideal == 0 {
		return 0
	}
	return dcg / ideal
}

func gain(grade, index int) float64 {
	if grade <= 0 {
		return 0
	}
	return float64(grade) / math.Log2(float64(index)+2)
}

// Recall is the share of the relevant documents among the first k.
func Recall(ranking []string, judged Judgments, k int) float64 {
	relevant, found := 0, 0
	for _, grade := range judged {
		if grade > 0 {
			relevant++
		}
	}
	for _, id := range ranking[:min(k, len(ranking))] {
		if judged[id] > 0 {
			found++
		}
	}
	if relevant == 0 {
		return 0
	}
	return float64(found) / float64(relevant)
}

// ReciprocalRank is 1/rank of the first relevant document among the first k.
func ReciprocalRank(ranking []string, judged Judgments, k int) float64 {
	for i, id := range ranking[:min(k, len(ranking))] {
		if judged[id] > 0 {
			return 1 / float64(i+1)
		}
	}
	return 0
}

func unjudged(ranking []string, judged Judgments, k int) float64 {
	n := min(k, len(ranking))
	if n == 0 {
		return 0
	}
	missing := 0
	for _, id := range ranking[:n] {
		if _, ok := judged[id]; !ok {
			missing++
		}
	}
	return float64(missing) / float64(n)
}

// Interval is a mean with its 95 % bootstrap interval.
type Interval struct {
	Mean float64 `json:"mean"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// resamples is how many samples are drawn.
const resamples = 1000

// Bootstrap draws values with replacement and returns the percentile interval of their mean
// (Efron, 1979). The seed is fixed, so the same values give the same interval.
func Bootstrap(values []float64) Interval {
	if len(values) == 0 {
		return Interval{}
	}
	random := rand.New(rand.NewPCG(1, uint64(len(values))))
	means := make([]float64, resamples)
	for i := range means {
		sum := 0.0
		for range values {
			sum += values[random.IntN(len(values))]
		}
		means[i] = sum / float64(len(values))
	}
	sort.Float64s(means)
	return Interval{Mean: mean(values), Low: means[resamples*25/1000], High: means[resamples*975/1000]}
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(max(1, len(values)))
}

// PairedTest returns the two-sided p-value of the difference between two systems on the same
// queries, by swapping the systems at random in each query (Smucker, Allan, Carterette, "A
// comparison of statistical significance tests for information retrieval evaluation", CIKM
// 2007).
func PairedTest(a, b []float64) float64 {
	n := min(len(a), len(b))
	observed := 0.0
	for i := range n {
		observed += a[i] - b[i]
	}
	const trials = 10_000
	random := rand.New(rand.NewPCG(2, uint64(n)))
	extreme := 1
	for range trials {
		sum := 0.0
		for i := range n {
			d := a[i] - b[i]
			if random.Uint64()&1 == 1 {
				d = -d
			}
			sum += d
		}
		if math.Abs(sum) >= math.Abs(observed)-1e-12 {
			extreme++
		}
	}
	return float64(extreme) / (trials + 1)
}
