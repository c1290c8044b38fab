package esquery

import (
	"encoding/json"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/golden"
)

// queries are all clauses; each has its JSON in testdata/query-NAME.json and is
// run by the real server in live_test.go.
var queries = map[string]Query{
	"bool": Bool{
		Filter:             []Query{Term{Field: "kb", Value: "manuals"}},
		Must:               []Query{Exists{Field: "text"}},
		Should:             []Query{Term{Field: "text", Value: "refund", Common: Common{Boost: new(0.0)}}, MatchAll{}},
		MustNot:            []Query{Term{Field: "available", Value: false}},
		MinimumShouldMatch: 1,
		Common:             Common{Name: "all", Boost: new(0.5)},
	},
	"term":                Term{Field: "kb", Value: "<a & \"b\">", Common: Common{Boost: new(2.0), Name: "t"}},
	"term-number":         Term{Field: "ordinal", Value: 3},
	"terms":               Terms{Field: "kb", Values: []any{"a", "b"}, Common: Common{Boost: new(2.0)}},
	"terms-none":          Terms{Field: "kb"},
	"match":               Match{Field: "text", Query: "AND (refund", Operator: And, Common: Common{Boost: new(1.5)}},
	"match-minimum":       Match{Field: "text", Query: "how to refund", MinimumShouldMatch: "30%"},
	"match_phrase":        MatchPhrase{Field: "text", Query: "machine learning", Slop: 2, Common: Common{Boost: new(1.5)}},
	"range":               Range{Field: "ordinal", GTE: 0, LT: 7},
	"range-dates":         Range{Field: "created", GTE: "2026-06-10T20:00:00.000Z", Format: "strict_date_time"},
	"range-strings":       Range{Field: "meta.date", GT: "s:2026", LTE: "s:2027"},
	"prefix":              Prefix{Field: "text", Value: "ref", Common: Common{Boost: new(2.0)}},
	"combined_fields":     CombinedFields{Query: "refund", Fields: []WeightedField{{"text", 1}, {"title", 1.5}}, Common: Common{Boost: new(2.0)}},
	"fuzzy":               Fuzzy{Field: "text", Value: "refnud", Distance: 1, PrefixLength: 1},
	"span_first":          SpanFirst{Field: "text", Terms: []string{"refund", "return"}, End: 4},
	"exists":              Exists{Field: "vector"},
	"ids":                 IDs{Values: []string{"a", "b"}},
	"ids-none":            IDs{},
	"dis_max":             DisMax{Queries: []Query{Term{Field: "text", Value: "ml"}, MatchPhrase{Field: "text", Query: "machine learning"}}},
	"constant_score":      ConstantScore{Filter: Exists{Field: "vector"}, Common: Common{Boost: new(0.5)}},
	"match_all":           MatchAll{},
	"match_none":          MatchNone{Common{Name: "nothing"}},
	"random":              RandomScore{Query: Exists{Field: "vector"}, Seed: 7, Field: "id"},
	"script_score-cosine": ScriptScore{Query: MatchAll{}, Script: CosineScript("vector", []float32{0.25, -1}), Common: Common{Name: "v"}},
	"script": ScriptFilter{Script: Script{
		Source: "doc['ordinal'].size() > params.least", Params: Params{Others: []Param{{Name: "least", Value: 0}}},
	}},
	"script_score-saturation": ScriptScore{
		Query: Match{Field: "text", Query: "refund", Common: Common{Name: "raw"}}, Script: SaturationScript(5),
	},
	"knn": KNN{
		Field: "vector", Vector: []float32{0.25, -1}, K: 3, NumCandidates: 10,
		Filter: []Query{Term{Field: "kb", Value: "a"}}, Oversample: 3,
	},
}

var searches = map[string]Search{
	"empty": {},
	"page": {
		Query: MatchAll{}, Size: 10, Sort: ByScore("id"), DocValueFields: []string{"id", "meta.date"},
		TrackTotal: true, Timeout: 1500 * time.Millisecond,
	},
	"doc-values-only": {Query: MatchAll{}, Size: 3, DocValueFields: []string{"id"}, NoStored: true},
	"after": {
		Query: MatchAll{}, Size: 2, Source: []string{"chunk"},
		Sort:        []Sort{{Field: "ordinal", Order: Ascending, Unmapped: "integer"}, {Field: "id", Order: Descending}},
		SearchAfter: []any{3, "c7"},
	},
	"knn": {
		Query: Match{Field: "text", Query: "refund"}, Size: 3,
		KNN: &KNN{Field: "vector", Vector: []float32{1, 0}, K: 3, NumCandidates: 3},
	},
	"highlight": {
		Query: ScriptScore{Query: Exists{Field: "vector"}, Script: CosineScript("vector", []float32{1, 0})}, Size: 1,
		Highlight: &Highlight{
			Fields: []string{"text"}, Query: Match{Field: "text", Query: "refund"},
			FragmentSize: 120, Fragments: 5, PreTag: "<em>", PostTag: "</em>", AnyField: true,
		},
	},
	"aggregations": {Aggs: Aggregations{
		"documents": TermsAggregation{Field: "document_id", Size: 5, Aggs: Aggregations{
			"name": TopHitsAggregation{Size: 1, Sort: []Sort{{Field: "id", Order: Ascending}}, DocValueFields: []string{"kb"}},
		}},
		"terms":    FiltersAggregation{Filters: []Query{Term{Field: "text", Value: "a"}, Exists{Field: "text"}}},
		"vectors":  FilterAggregation{Filter: Exists{Field: "vector"}},
		"length":   SumAggregation{Field: "ordinal"},
		"bytes":    SumAggregation{Script: NumberScript("meta.%bytes")},
		"sized":    ValueCountAggregation{Field: "meta.%bytes"},
		"scores":   ScoreStatsAggregation{},
		"distinct": CardinalityAggregation{Field: "document_id", Precision: 40000},
		"first":    MinAggregation{Field: "ordinal"},
		"pages":    CompositeAggregation{Size: 2, Sources: []CompositeSource{{Field: "document_id"}}, After: []any{"d1"}},
		"page": CompositeAggregation{
			Size: 2, Sources: []CompositeSource{{Field: "document_id"}, {Field: "owner", Missing: true}}, After: []any{"d1", nil},
			Aggs: Aggregations{"n": SumAggregation{Field: "ordinal"}},
		},
	}},
}

var multi = MultiSearch{
	{SearchHeader{Index: "INDEX", SearchType: "dfs_query_then_fetch"}, Search{Query: MatchAll{}, Size: 1}},
	{SearchHeader{Index: "INDEX", Routing: "r"}, Search{Query: MatchNone{}}},
}

func TestGoldens(t *testing.T) {
	for name, q := range queries {
		golden.JSON(t, "query-"+name+".json", json.RawMessage(clause(t, q)))
	}
	for name, s := range searches {
		golden.JSON(t, "search-"+name+".json", json.RawMessage(marshal(t, s)))
	}
	body := DeleteByQuery{Query: Term{Field: "document_id", Value: "d1"}}
	golden.JSON(t, "delete_by_query.json", json.RawMessage(marshal(t, body)))
}

func bulkLines(t *testing.T, index string) []byte {
	t.Helper()
	add, err := BulkIndex{
		BulkTarget: BulkTarget{Index: index, ID: "a|b", Routing: "r"}, Document: json.RawMessage("{\n  \"id\": \"退款\"\n}"),
	}.NDJSON()
	if err != nil {
		t.Fatal(err)
	}
	remove, err := BulkDelete{BulkTarget{Index: index, ID: "c"}}.NDJSON()
	if err != nil {
		t.Fatal(err)
	}
	made, err := BulkIndex{BulkTarget: BulkTarget{Index: index, ID: "d"}, Document: struct{}{}, Create: true}.NDJSON()
	if err != nil {
		t.Fatal(err)
	}
	unchanged, err := BulkDelete{BulkTarget{Index: index, ID: "d", Unchanged: &Revision{PrimaryTerm: 1}}}.NDJSON()
	if err != nil {
		t.Fatal(err)
	}
	return slices.Concat(add, remove, made, unchanged)
}

func TestNDJSON(t *testing.T) {
	body, err := multi.NDJSON()
	if err != nil {
		t.Fatal(err)
	}
	golden.Bytes(t, "msearch.ndjson", body)
	golden.Bytes(t, "bulk.ndjson", bulkLines(t, "INDEX"))
}

func TestWhatJSONDoesNotHaveIsAnError(t *testing.T) {
	for name, v := range map[string]Query{
		"term":   Term{Field: "f", Value: math.NaN()},
		"terms":  Terms{Field: "f", Values: []any{math.Inf(1)}},
		"nested": Bool{Must: []Query{ConstantScore{Filter: MatchAll{}, Common: Common{Boost: new(math.NaN())}}}},
		"vector": KNN{Vector: []float32{float32(math.NaN())}},
		"kind":   Term{Field: "f", Value: []string{"a"}},
		"clause": Bool{Must: []Query{nil}},
	} {
		if out, err := Marshal(Search{Query: v}); err == nil {
			t.Errorf("%s: marshalled to %s, want an error", name, brief.Of(out))
		}
		if out, err := MarshalSmile(Search{Query: v}); err == nil {
			t.Errorf("%s: marshalled to %q, want an error", name, brief.Of(out))
		}
	}
}

// clause gives the JSON of a clause by itself.
func clause(t *testing.T, q Query) []byte {
	t.Helper()
	w := &writer{}
	if w.clause(q); w.err != nil {
		t.Fatal(w.err)
	}
	return w.buf
}

func TestMillis(t *testing.T) {
	f := func(d time.Duration, want string) {
		t.Helper()
		if got := Millis(d); got != want {
			t.Errorf("Millis(%s) = %q, want %q", d, got, want)
		}
	}
	f(0, "")
	f(-1, "")
	f(time.Microsecond, "1ms")
	f(2*time.Second, "2000ms")
}
