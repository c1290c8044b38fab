package recall

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/hybridge-search/hybridge/engine"
)

// Field is the recall of a vector field.
type Field struct {
	Field   string `json:"field"`
	Vectors int    `json:"vectors" doc:"Chunks with a vector in the field."`
	// Methods are the methods that answered legs: exact, or an index.
	Methods       map[string]int `json:"methods" doc:"How many queries were answered how: exact, or by an index (knn, hnsw)."`
	Depth         int            `json:"depth" doc:"Hits that the index was asked for, of which the first k are compared."`
	Recall        Share          `json:"recall" doc:"Of the k exact nearest, those among the first k of the usual answer."`
	ApproximateMS float64        `json:"approximate_ms" doc:"Median time of the usual answer."`
	ExactMS       float64        `json:"exact_ms" doc:"Median time of the exact one."`
	Moments       *Moments       `json:"moments,omitempty" doc:"Of sampled against exact cosines; left out where the sample has all vectors."`
}

// Moments compares mean and deviation of the cosines between a query and a sample with those over every vector,
// over all queries.
type Moments struct {
	Sample    int     `json:"sample" doc:"Vectors that moments are usually taken over."`
	Mean      float64 `json:"mean" doc:"Distance of the means, in exact deviations: the mean over the queries."`
	WorstMean float64 `json:"worst_mean" doc:"The largest of them."`
	Deviation float64 `json:"deviation" doc:"Sampled deviation over the exact one: the mean over the queries."`
	WorstBy   float64 `json:"worst_deviation" doc:"The ratio that is farthest from 1."`
}

// fieldTally adds up the outcomes of the queries for a field.
type fieldTally struct {
	name               string
	depth              int // hits that a leg of the preset asks for
	vectors, sample    int
	recall             share
	methods            map[string]int
	approximate, exact []float64 // ms
	means, ratios      []float64
}

// tie is the difference at which cosines still count as equal: engines compute in float32.
const tie = 1e-6

// fieldOutcome is the result of one query on a field.
type fieldOutcome struct {
	method             string
	approximate, exact float64 // ms
	recall             float64
	compared           bool    // the moments
	mean               float64 // distance of the means, in exact deviations
	deviationRatio     float64
}

// measureField asks a field twice.
func (run *measurement) measureField(ctx context.Context, f *fieldTally, q *query, out *fieldOutcome) error {
	approximate, approximateMS, err := run.timed(ctx, run.approximate(f, q))
	if err != nil {
		return err
	}
	exact, exactMS, err := run.timed(ctx, run.exact(f, q, nil))
	if err != nil {
		return err
	}
	out.method, out.approximate, out.exact = approximate.Legs[0].Method, approximateMS, exactMS
	if out.recall, err = run.recall(ctx, f, q, run.others(q, approximate), run.others(q, exact)); err != nil {
		return err
	}
	return run.compareMoments(ctx, f, q, out)
}

// add adds the outcome of a query.
func (f *fieldTally) add(q *query, of *fieldOutcome) {
	if f.methods == nil {
		f.methods = map[string]int{}
	}
	f.methods[of.method]++
	f.approximate, f.exact = append(f.approximate, of.approximate), append(f.exact, of.exact)
	f.recall.add(q, of.recall)
	if of.compared {
		f.means, f.ratios = append(f.means, of.mean), append(f.ratios, of.deviationRatio)
	}
}

// approximate is the preset's request on a field: a sum of its own where its legs are ranked jointly.
func (run *measurement) approximate(f *fieldTally, q *query) *engine.Request {
	req := run.exact(f, q, nil)
	req.Exact, req.Legs[0].K = false, f.depth
	if run.subject.Plan.Joint {
		req.Sum = &engine.Sum{Candidates: max(run.subject.Plan.Candidates, run.hits()), Weights: []float64{1}}
	}
	return req
}

// others gives the k nearest chunks, without the query's own.
func (run *measurement) others(q *query, r *engine.Result) []near {
	all := nearest(r, run.hits())
	if q.chunk {
		all = slices.DeleteFunc(all, func(n near) bool { return n.id == q.name })
	}
	return all[:min(len(all), run.k)]
}

// exact asks for the k nearest of all, or of some.
func (run *measurement) exact(f *fieldTally, q *query, ids []string) *engine.Request {
	return &engine.Request{
		KB: run.subject.KB, Exact: true, Filter: engine.Filter{Conditions: run.scope.Filter, IDs: ids},
		Legs: []engine.Leg{{Name: f.name, Field: f.name, K: run.hits(), Vector: q.vector}},
	}
}

func (run *measurement) timed(ctx context.Context, req *engine.Request) (*engine.Result, float64, error) {
	started := time.Now()
	result, err := run.subject.Engine.Search(ctx, req)
	if err == nil {
		err = result.Legs[0].Err
	}
	return result, milliseconds(time.Since(started)), err
}

// near is a hit with its cosine.
type near struct {
	id     string
	cosine float64
}

// nearest gives the first k hits: by their sum, or by their rank.
func nearest(r *engine.Result, k int) []near {
	hits := slices.Clone(r.Hits)
	if len(hits) > 0 && hits[0].Observations[0].Rank > 0 {
		slices.SortFunc(hits, func(a, b engine.Hit) int { return a.Observations[0].Rank - b.Observations[0].Rank })
	}
	all := make([]near, 0, k)
	for i := range hits {
		if o := hits[i].Observations[0]; len(all) < k && !math.IsNaN(o.Raw) {
			all = append(all, near{hits[i].ID, o.Raw})
		}
	}
	return all
}

// recall is the share of the exact answer that was found. A chunk as near as the last of the exact answer is no
// loss: its exact cosine is asked for, as an index of quantised vectors may overstate it.
func (run *measurement) recall(ctx context.Context, f *fieldTally, q *query, returned, exact []near) (float64, error) {
	if len(exact) == 0 {
		return 1, nil
	}
	found := 0
	var others []string
	for _, n := range returned {
		if slices.ContainsFunc(exact, func(e near) bool { return e.id == n.id }) {
			found++
		} else {
			others = append(others, n.id)
		}
	}
	if len(others) > 0 {
		result, _, err := run.timed(ctx, run.exact(f, q, others))
		if err != nil {
			return 0, err
		}
		for _, n := range nearest(result, len(others)) {
			if n.cosine >= exact[len(exact)-1].cosine-tie {
				found++
			}
		}
	}
	return min(1, float64(found)/float64(len(exact))), nil
}

// compareMoments compares the moments of the cosines over the sample with those of all.
func (run *measurement) compareMoments(ctx context.Context, f *fieldTally, q *query, out *fieldOutcome) error {
	if f.vectors <= f.sample {
		return nil
	}
	ask := engine.StatisticsRequest{KB: run.subject.KB, VectorField: f.name, Vector: q.vector}
	sampled, err := run.subject.Engine.Statistics(ctx, &ask)
	if err != nil {
		return err
	}
	ask.Exact = true
	exact, err := run.subject.Engine.Statistics(ctx, &ask)
	if err != nil {
		return err
	}
	if exact.Cosine.Deviation > 0 {
		out.compared = true
		out.mean = math.Abs(sampled.Cosine.Mean-exact.Cosine.Mean) / exact.Cosine.Deviation
		out.deviationRatio = sampled.Cosine.Deviation / exact.Cosine.Deviation
	}
	return nil
}

func (f *fieldTally) conclude() Field {
	concluded := Field{
		Field: f.name, Vectors: f.vectors, Methods: f.methods, Depth: f.depth, Recall: f.recall.conclude(),
		ApproximateMS: median(f.approximate), ExactMS: median(f.exact),
	}
	if len(f.means) == 0 {
		return concluded
	}
	m := &Moments{Sample: f.sample, WorstBy: 1}
	for i, distance := range f.means {
		m.Mean += distance / float64(len(f.means))
		m.Deviation += f.ratios[i] / float64(len(f.means))
		m.WorstMean = max(m.WorstMean, distance)
		if math.Abs(f.ratios[i]-1) > math.Abs(m.WorstBy-1) {
			m.WorstBy = f.ratios[i]
		}
	}
	concluded.Moments = m
	return concluded
}
