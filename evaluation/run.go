package evaluation

import (
	"context"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/evaluation/metric"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/search"
)

// Searcher answers searches; *search.Searcher is one.
type Searcher interface {
	Search(ctx context.Context, scope access.Scope, req search.Request) (*search.Response, error)
}

// Result has the answers of one system on one set, a row for every judged query.
type Result struct {
	Set    string
	System string
	Rows   []Row
}

// Row is a system's answer to one query.
type Row struct {
	Set    string `json:"set"`
	System string `json:"system"`
	Query  string `json:"query"`
	Metrics
	Ranking []string `json:"ranking"` // ids, best first, at most 100
}

// Run sends every judged query of the set to the searcher, which must search stored: the
// passages, or the pairs if the system can search only these. A degraded answer is an error,
// as it would measure something else.
func Run(ctx context.Context, s Searcher, stored *StoredSet, set *Set, system System) (*Result, error) {
	result := &Result{Set: set.Name, System: system.Name}
	queries := set.judged()
	if len(queries) == 0 {
		return result, nil
	}
	base, err := stored.searchable(func(kb string) error {
		_, err := s.Search(ctx, access.Scope{Tenant: tenant}, set.request(&system, kb, queries[0]))
		return err
	})
	if err != nil {
		return nil, fault.Wrap(fault.KindOf(err), err, "%s by %s", set.Name, system.Name)
	}
	vectors := make(map[string][]float32, len(set.Corpus))
	for i := range set.Corpus {
		vectors[set.Corpus[i].ID] = set.Corpus[i].Vector
	}
	result.Rows = make([]Row, len(queries))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, q := range queries {
		group.Go(func() error {
			ranking, err := rank(ctx, s, set.request(&system, base, q))
			if err != nil {
				return fault.Wrap(fault.KindOf(err), err, "query %s of %s by %s", q.ID, set.Name, system.Name)
			}
			ranking = set.counted(q.ID, ranking)
			measured := Measure(ranking, set.Judgments[q.ID])
			measured.Alike = Alike(ranking, vectors, 10)
			result.Rows[i] = Row{Set: set.Name, System: system.Name, Query: q.ID, Metrics: measured, Ranking: ranking}
			return nil
		})
	}
	return result, group.Wait()
}

func rank(ctx context.Context, s Searcher, req search.Request) ([]string, error) {
	response, err := s.Search(ctx, access.Scope{Tenant: tenant}, req)
	if err != nil {
		return nil, err
	}
	if len(response.Degraded) > 0 {
		d := response.Degraded[0]
		return nil, fault.New(fault.Unavailable, "leg %s took no part: %s", d.Leg, d.Reason)
	}
	ranking := make([]string, len(response.Hits))
	for i := range response.Hits {
		ranking[i] = response.Hits[i].ID
	}
	return ranking, nil
}

// values returns one metric of every row.
func (r *Result) values(metric func(*Metrics) float64) []float64 {
	values := make([]float64, len(r.Rows))
	for i := range r.Rows {
		values[i] = metric(&r.Rows[i].Metrics)
	}
	return values
}

func ndcg10(m *Metrics) float64 { return m.NDCG10 }

// NDCG10 is the mean over the queries.
func (r *Result) NDCG10() float64 { return mean(r.values(ndcg10)) }

// Mean of a metric over the rows, which are of the set; 0 without rows.
func (r *Result) Mean(m *metric.Metric, set *Set) float64 {
	values, scale := make([]float64, len(r.Rows)), set.Scale()
	for i := range r.Rows {
		values[i] = m.Of(r.Rows[i].Ranking, set.Judgments[r.Rows[i].Query], scale)
	}
	return mean(values)
}

// judged are the queries that have judgments.
func (s *Set) judged() []*Query {
	queries := make([]*Query, 0, len(s.Queries))
	for i := range s.Queries {
		if s.Judgments[s.Queries[i].ID] != nil {
			queries = append(queries, &s.Queries[i])
		}
	}
	return queries
}
