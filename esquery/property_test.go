package esquery

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/hybridge-search/hybridge/internal/brief"
	_ "github.com/hybridge-search/hybridge/internal/properties" // fewer cases in make test
	"github.com/hybridge-search/hybridge/lib/smile"
)

// object is a clause as encoding/json writes it.
type object = map[string]any

// TestAnyClauseIsWhatEncodingJSONWrites draws clauses within clauses, of strings
// that hold quotes, controls and what is not UTF-8.
func TestAnyClauseIsWhatEncodingJSONWrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q, want := drawQuery(t, 3)
		got, err := Marshal(Search{Query: q})
		if err != nil {
			t.Fatal(err)
		}
		wanted, err := json.Marshal(object{"query": want, "size": 0, "_source": false, "track_total_hits": false})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(decoded(t, wanted), decoded(t, got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", brief.Of(got), diff)
		}
		got, err = MarshalSmile(Search{Query: q})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(inSmile(decoded(t, wanted)), decodedSmile(t, string(got))); diff != "" {
			t.Errorf("%q (-want +got):\n%s", brief.Of(got), diff)
		}
	})
}

func decoded(t *rapid.T, data []byte) (v any) {
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatalf("%s: %v", brief.Of(data), err)
	}
	return v
}

func drawQuery(t *rapid.T, depth int) (Query, object) {
	if depth == 0 || rapid.Bool().Draw(t, "leaf") {
		return drawLeaf(t)
	}
	common, members := drawCommon(t)
	switch rapid.IntRange(0, 4).Draw(t, "compound") {
	case 0:
		q := Bool{Common: common, MinimumShouldMatch: rapid.IntRange(1, 9).Draw(t, "minimum")}
		members["minimum_should_match"] = q.MinimumShouldMatch
		q.Filter, members["filter"] = drawQueries(t, depth)
		q.Must, members["must"] = drawQueries(t, depth)
		q.Should, members["should"] = drawQueries(t, depth)
		q.MustNot, members["must_not"] = drawQueries(t, depth)
		return q, object{"bool": members}
	case 1:
		q := DisMax{Common: common}
		q.Queries, members["queries"] = drawQueries(t, depth)
		return q, object{"dis_max": members}
	case 2:
		q := ConstantScore{Common: common}
		q.Filter, members["filter"] = drawQuery(t, depth-1)
		return q, object{"constant_score": members}
	case 3:
		q := ScriptScore{Common: common, Script: CosineScript(drawText(t), []float32{-0.25, 0, 1e9})}
		members["script"] = object{"source": q.Script.Source, "params": object{"vector": q.Script.Params.Vector}}
		q.Query, members["query"] = drawQuery(t, depth-1)
		return q, object{"script_score": members}
	default:
		q := KNN{Common: common, Field: drawText(t), Vector: []float32{0.5, -2}, K: 3, NumCandidates: 9}
		members["field"], members["query_vector"] = q.Field, q.Vector
		members["k"], members["num_candidates"] = q.K, q.NumCandidates
		q.Filter, members["filter"] = drawQueries(t, depth)
		return q, object{"knn": members}
	}
}

// drawQueries draws at least one.
func drawQueries(t *rapid.T, depth int) (all []Query, want []any) {
	for range rapid.IntRange(1, 3).Draw(t, "clauses") {
		q, members := drawQuery(t, depth-1)
		all, want = append(all, q), append(want, members)
	}
	return all, want
}

func drawLeaf(t *rapid.T) (Query, object) {
	common, members := drawCommon(t)
	field := drawText(t)
	switch rapid.IntRange(0, 8).Draw(t, "leaf kind") {
	case 0:
		members["value"] = drawValue(t)
		return Term{common, field, members["value"]}, object{"term": object{field: members}}
	case 1:
		values := rapid.SliceOfN(rapid.Custom(drawValue), 0, 3).Draw(t, "values")
		texts := rapid.SliceOfN(rapid.Custom(drawText), 0, 3).Draw(t, "texts")
		all := slices.Clone(values)
		for _, text := range texts {
			all = append(all, text)
		}
		members[field] = all
		return Terms{common, field, values, texts}, object{"terms": members}
	case 2:
		members["query"], members["operator"] = drawText(t), And
		return Match{Common: common, Field: field, Query: members["query"].(string), Operator: And},
			object{"match": object{field: members}}
	case 3:
		members["query"], members["slop"] = drawText(t), 2
		return MatchPhrase{common, field, members["query"].(string), 2}, object{"match_phrase": object{field: members}}
	case 4:
		members["gte"], members["lt"] = drawValue(t), drawValue(t)
		return Range{Common: common, Field: field, GTE: members["gte"], LT: members["lt"]},
			object{"range": object{field: members}}
	case 5:
		members["field"] = field
		return Exists{common, field}, object{"exists": members}
	case 6:
		values := rapid.SliceOfN(rapid.Custom(drawText), 0, 3).Draw(t, "ids")
		members["values"] = values
		return IDs{common, values}, object{"ids": members}
	case 7:
		members["value"] = drawText(t)
		return &Word{common, field, members["value"].(string)}, object{"term": object{field: members}}
	default:
		return MatchAll{common}, object{"match_all": members}
	}
}

func drawCommon(t *rapid.T) (common Common, members object) {
	members = object{}
	if rapid.Bool().Draw(t, "boosted") {
		boost := rapid.Float64().Draw(t, "boost")
		common.Boost, members["boost"] = &boost, boost
	}
	if common.Name = drawText(t); common.Name != "" {
		members["_name"] = common.Name
	}
	return common, members
}

func drawValue(t *rapid.T) any {
	return rapid.OneOf(
		rapid.Custom(drawText).AsAny(), rapid.Float64().AsAny(), rapid.IntRange(-1<<50, 1<<50).AsAny(), rapid.Bool().AsAny(),
	).Draw(t, "value")
}

func drawText(t *rapid.T) string {
	return rapid.OneOf(
		rapid.String(), rapid.StringOfN(rapid.RuneFrom([]rune("\"\\/\x00\n\x7f<&\u2028退{}[]:,")), 0, 6, -1),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 6), func(b []byte) string { return string(b) }),
	).Draw(t, "text")
}

// TestVectorsKeepEveryBit: what Elasticsearch reads is the number that was written.
func TestVectorsKeepEveryBit(t *testing.T) {
	f := func(t interface{ Errorf(string, ...any) }, x float32) {
		w := &writer{}
		w.vector("v", []float32{x})
		text := string(w.buf[len(`"v":[`) : len(w.buf)-1])
		if got, err := strconv.ParseFloat(text, 32); err != nil || float32(got) != x || !json.Valid([]byte(text)) {
			t.Errorf("%g is written as %s (%v)", x, text, err)
		}
	}
	for ten := 1e-8; ten <= 100; ten *= 10 { // the numbers around those that change their number of zeros
		least := math.Float32bits(float32(ten)) - 50
		for i := range uint32(100) {
			f(t, math.Float32frombits(least+i))
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		f(t, rapid.OneOf(rapid.Float32(), rapid.Float32Range(-1, 1)).Draw(t, "x"))
	})
}

func TestEightDigits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64Range(0, 99_999_999).Draw(t, "n")
		got := binary.LittleEndian.AppendUint64(nil, eightDigits(n))
		if want := fmt.Sprintf("%08d", n); string(got) != want {
			t.Fatalf("%s, want %s", brief.Of(got), want)
		}
	})
}

// decodedSmile gives a value in SMILE as encoding/json gives it in JSON.
func decodedSmile(t *rapid.T, text string) any {
	r := smile.New(text)
	v := r.Members()
	if err := r.End(); err != nil || strings.Contains(text, "\xff") {
		t.Fatalf(`%q: %v; want no error and no "\xff" in it`, text, err)
	}
	return v
}

// inSmile returns whole numbers beyond int64 as text.
func inSmile(v any) any {
	switch v := v.(type) {
	case object:
		for name := range v {
			v[name] = inSmile(v[name])
		}
	case []any:
		for i := range v {
			v[i] = inSmile(v[i])
		}
	case float64:
		if math.Abs(v) >= 1<<63 && math.Abs(v) < 1e21 {
			return strconv.FormatFloat(v, 'f', -1, 64)
		}
	}
	return v
}
