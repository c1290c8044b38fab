package runs

import (
	"fmt"
	"slices"

	"github.com/hybridge-search/hybridge/evaluation/judge"
	"github.com/hybridge-search/hybridge/evaluation/library"
	"github.com/hybridge-search/hybridge/evaluation/metric"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/search"
)

// Limits of an evaluation.
const (
	maxSystems   = 16
	maxMetrics   = 32
	maxQueries   = 20_000
	maxBases     = 16
	maxNameBytes = 128
)

// usual are the metrics of an evaluation that names none.
var usual = []string{"ndcg@10", "recall@10", "mrr@10", "hit@10", "judged@10"}

// System is a way to search that is measured.
type System struct {
	Name    string         `json:"name" doc:"Names it in the results; at most 128 bytes."`
	Request search.Request `json:"request" doc:"The members of a search that all queries are asked by; query, queries, vector and top_k are not among them. Without knowledge_bases they are those of the query set."`
}

// Request asks for an evaluation.
type Request struct {
	Name      string            `json:"name,omitempty" doc:"For people; at most 128 bytes."`
	QuerySet  string            `json:"query_set"`
	Judgments string            `json:"judgments" doc:"The judgment list, one of the query set."`
	Systems   []System          `json:"systems" minItems:"1" maxItems:"16" doc:"What is measured."`
	Metrics   []string          `json:"metrics,omitempty" maxItems:"32" doc:"As ndcg@10: ndcg, ndcg_exp, mrr, map, recall, precision, hit, err, judged, unjudged at a depth of 1 to 1000. The default is ndcg@10, recall@10, mrr@10, hit@10, judged@10."`
	Against   string            `json:"against,omitempty" doc:"The system that the others are compared with; the default is the first."`
	JudgedAs  map[string]string `json:"judged_as,omitempty" doc:"Knowledge base to the one whose judgments count for it, where systems search a copy of what was judged."`
}

// check refuses what cannot be measured, and adds what is left out.
func (r *Request) check() error {
	if err := checkName("name", r.Name); err != nil {
		return err
	}
	if err := library.CheckID("query_set", r.QuerySet); err != nil {
		return err
	}
	if err := library.CheckID("judgments", r.Judgments); err != nil {
		return err
	}
	if n := len(r.Systems); n < 1 || n > maxSystems {
		return fault.Invalid("systems", fault.Length(n), fmt.Sprintf("1 to %d systems", maxSystems))
	}
	var names []string
	for i := range r.Systems {
		if err := r.Systems[i].check(fmt.Sprintf("systems[%d].", i), names); err != nil {
			return err
		}
		names = append(names, r.Systems[i].Name)
	}
	if r.Against == "" {
		r.Against = names[0]
	}
	if !slices.Contains(names, r.Against) {
		return fault.Invalid("against", r.Against, "the name of one of the systems")
	}
	if len(r.JudgedAs) > maxBases {
		return fault.Invalid("judged_as", fault.Length(len(r.JudgedAs)), fmt.Sprintf("at most %d knowledge bases", maxBases))
	}
	if len(r.Metrics) == 0 {
		r.Metrics = usual
	}
	if len(r.Metrics) > maxMetrics {
		return fault.Invalid("metrics", fault.Length(len(r.Metrics)), fmt.Sprintf("at most %d metrics", maxMetrics))
	}
	_, err := metric.ParseAll(r.Metrics)
	return err
}

func (s *System) check(place string, names []string) error {
	if s.Name == "" || slices.Contains(names, s.Name) {
		return fault.Invalid(place+"name", s.Name, "a name that no other system has")
	}
	if err := checkName(place+"name", s.Name); err != nil {
		return err
	}
	req := &s.Request
	for _, own := range []struct {
		field string
		given bool
	}{
		{"query", req.Query != ""},
		{"queries", len(req.Queries) > 0},
		{"vector", len(req.Vector) > 0},
		{"top_k", req.TopK != nil},
		{"offset", req.Offset != nil},
		{"limit", req.Limit != nil},
	} {
		if own.given {
			field := place + "request." + own.field
			return &fault.Error{
				Kind: fault.InvalidArgument, Field: field,
				Detail: fmt.Sprintf("%s is of each query, or follows from the metrics; it must be left out", field),
			}
		}
	}
	return nil
}

func checkName(field, name string) error { return library.CheckName(field, name, maxNameBytes) }

// GradeRequest asks for grades of a model, for a judgment list that says so.
type GradeRequest struct {
	Systems []System     `json:"systems,omitempty" maxItems:"16" doc:"Whose best hits are graded, for every query."`
	Depth   int          `json:"depth,omitempty" minimum:"1" maximum:"100" doc:"Hits of each system that are graded; the default is 10."`
	Like    string       `json:"like,omitempty" doc:"A judgment list of the same query set: what it has grades for is graded too, so that the two can be compared."`
	Rubric  judge.Rubric `json:"rubric,omitempty" maxItems:"11" doc:"What each grade means, from 0 on; the default is one of grades 0 to 3."`
}

func (r *GradeRequest) check(list *library.JudgmentList) error {
	if list.Source != library.Model {
		return fault.Invalid("list", list.ID, "a list whose source is model: grades of people and of a model are never mixed")
	}
	if len(r.Systems) == 0 && r.Like == "" {
		return fault.Invalid("systems", "nothing", "at least one system, or a list in like")
	}
	if n := len(r.Systems); n > maxSystems {
		return fault.Invalid("systems", fault.Length(n), fmt.Sprintf("at most %d systems", maxSystems))
	}
	var names []string
	for i := range r.Systems {
		if err := r.Systems[i].check(fmt.Sprintf("systems[%d].", i), names); err != nil {
			return err
		}
		names = append(names, r.Systems[i].Name)
	}
	if r.Depth == 0 {
		r.Depth = usualDepth
	}
	if r.Depth < 1 || r.Depth > maxDepth {
		return fault.Invalid("depth", r.Depth, fmt.Sprintf("1 to %d", maxDepth))
	}
	if r.Rubric == nil {
		r.Rubric = judge.Usual
	}
	return r.Rubric.Check(list.MaxGrade)
}
