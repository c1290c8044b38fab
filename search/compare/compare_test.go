package compare_test

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/filter"
	"github.com/hybridge-search/hybridge/search"
	"github.com/hybridge-search/hybridge/search/compare"
)

// canned answers each preset by a ranking, or by an error.
type canned struct {
	rankings map[string]string
	failures map[string]error
	requests []search.Request
	refused  error
}

func (c *canned) Together(_ context.Context, _ access.Scope, requests []search.Request) ([]search.Outcome, error) {
	c.requests = requests
	if c.refused != nil {
		return nil, c.refused
	}
	outcomes := make([]search.Outcome, len(requests))
	for i := range requests {
		preset := requests[i].Preset
		if err := c.failures[preset]; err != nil {
			outcomes[i].Err = err
			continue
		}
		response := &search.Response{Preset: preset, Engine: "embedded"}
		for _, id := range list(c.rankings[preset]) {
			response.Hits = append(response.Hits, search.Hit{ID: id})
		}
		outcomes[i].Response = response
	}
	return outcomes, nil
}

func columns(presets ...string) []compare.Column {
	list := make([]compare.Column, len(presets))
	for i, preset := range presets {
		list[i].Preset = preset
	}
	return list
}

func TestRun(t *testing.T) {
	s := &canned{
		rankings: map[string]string{"text": "abc", "vector": "acd"},
		failures: map[string]error{"rrf": fault.New(fault.Unavailable, "the engine is away")},
	}
	q := &compare.Question{Query: "q", KnowledgeBases: []string{"kb"}, Columns: columns("text", "vector", "rrf")}
	q.Columns[1].Label = "mine"
	q.Columns[1].KnowledgeBases = []string{"copy"}
	got, err := compare.Run(t.Context(), s, access.Scope{}, q)
	if err != nil {
		t.Fatal(err)
	}
	if got.TopK != compare.DefaultTopK || got.Columns[0].Label != "text · embedded" || got.Columns[1].Label != "mine" {
		t.Errorf(`labels %q, %q, top_k %d; want got.TopK DefaultTopK and got.Columns[0].Label "text · embedded" and got.Columns[1].Label "mine"`, got.Columns[0].Label, got.Columns[1].Label, got.TopK)
	}
	near(t, "overlap", *got.Overlap[0][1], 2.0/3)
	near(t, "tau", *got.KendallTau[1][0], 1)
	if got.RBO[0][2] != nil || got.Overlap[2][2] != nil {
		t.Error("a column without an answer was measured")
	}
	if f := got.Columns[2].Error; f == nil || f.Code != fault.Unavailable || f.Detail != "the engine is away" {
		t.Errorf(`the failed column says %+v; want a f and f.Code Unavailable and f.Detail "the engine is away"`, f)
	}
	if kbs := s.requests[1].KnowledgeBases; kbs[0] != "copy" || s.requests[0].KnowledgeBases[0] != "kb" {
		t.Errorf(`the second column searched %v; want kbs[0] "copy" and s.requests[0].KnowledgeBases[0] "kb"`, kbs)
	}
}

func TestRunNamesTheColumnAtFault(t *testing.T) {
	f := func(field, want string, kbs ...string) {
		t.Helper()
		s := &canned{refused: &search.RefusedError{Index: 1, Err: fault.Invalid(field, "x", "better")}}
		q := &compare.Question{Columns: columns("text", "vector")}
		q.Columns[1].KnowledgeBases = kbs
		_, err := compare.Run(t.Context(), s, access.Scope{}, q)
		var got *fault.Error
		if !errors.As(err, &got) || got.Field != want {
			t.Errorf("a fault in %s is told as %+v, want field %s", field, got, want)
		}
	}
	f("query", "query")
	f("filter.date", "filter.date")
	f("knowledge_bases", "knowledge_bases")
	f("knowledge_bases", "columns[1].knowledge_bases", "other")
	f("weights.text", "columns[1].weights.text")
	f("engine", "columns[1].engine")
	for _, n := range []int{0, 1, 7} {
		_, err := compare.Run(t.Context(), &canned{}, access.Scope{}, &compare.Question{Columns: make([]compare.Column, n)})
		if !fault.Is(err, fault.InvalidArgument) {
			t.Errorf("%d columns: %v; want an error of kind InvalidArgument", n, err)
		}
	}
}

func TestRunHidesInternalFaults(t *testing.T) {
	s := &canned{failures: map[string]error{"text": errors.New("secret"), "vector": fault.New(fault.Internal, "secret")}}
	got, err := compare.Run(t.Context(), s, access.Scope{}, &compare.Question{Columns: columns("text", "vector")})
	if err != nil {
		t.Fatal(err)
	}
	for i := range got.Columns {
		if f := got.Columns[i].Error; f.Code != fault.Internal || f.Detail != "this column could not be answered" {
			t.Errorf(`the failed column says %+v; want f.Code Internal and f.Detail "this column could not be answered"`, f)
		}
	}
}

// TestEveryColumnAsksTheQuestion: all members of the question reach each column, with
// what the column overrides.
func TestEveryColumnAsksTheQuestion(t *testing.T) {
	s := &canned{}
	q := &compare.Question{
		Query: "q", Plain: true, KnowledgeBases: []string{"kb"}, TopK: new(7), User: new("u"), Vector: []float32{1},
		Filter: filter.Expression{"a": []byte("1")}, Highlight: &search.Highlight{Fragments: new(0)},
		Columns: columns("text", "rrf"),
	}
	q.Columns[1].Engine = "embedded"
	q.Columns[1].Overrides = search.Overrides{RRFK: new(9.0), Rerank: &search.Rerank{Name: "best"}}
	if _, err := compare.Run(t.Context(), s, access.Scope{}, q); err != nil {
		t.Fatal(err)
	}
	want := search.Request{
		Query: q.Query, Plain: true, KnowledgeBases: q.KnowledgeBases, TopK: q.TopK, User: q.User, Vector: q.Vector,
		Filter: q.Filter, Highlight: q.Highlight, Preset: "text",
	}
	if !reflect.DeepEqual(s.requests[0], want) {
		t.Errorf("the first column asks %+v, want %+v", s.requests[0], want)
	}
	want.Preset, want.Engine, want.Overrides = "rrf", "embedded", q.Columns[1].Overrides
	if !reflect.DeepEqual(s.requests[1], want) {
		t.Errorf("the second column asks %+v, want %+v", s.requests[1], want)
	}
}

// TestBoostsOfColumns: a column's own stand in place of the question's, which are not for
// other knowledge bases.
func TestBoostsOfColumns(t *testing.T) {
	s := &canned{rankings: map[string]string{"text": "a"}}
	q := &compare.Question{
		Query: "q", KnowledgeBases: []string{"a", "b"}, Boosts: map[string]float64{"a": 2}, Copies: search.CopiesKeep,
		Columns: columns("text", "text", "text"),
	}
	q.Columns[1].Boosts = map[string]float64{"b": 3}
	q.Columns[2].KnowledgeBases = []string{"c"}
	if _, err := compare.Run(t.Context(), s, access.Scope{}, q); err != nil {
		t.Fatal(err)
	}
	for i, want := range []map[string]float64{{"a": 2}, {"b": 3}, nil} {
		if got := s.requests[i]; !reflect.DeepEqual(got.Boosts, want) || got.Copies != search.CopiesKeep {
			t.Errorf("column %d: boosts %v, copies %q; want %v", i, got.Boosts, got.Copies, want)
		}
	}
}
