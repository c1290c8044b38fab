package mappings

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/golden"
	_ "github.com/hybridge-search/hybridge/internal/properties" // fewer cases in make test
)

func knowledgeBase(change func(*engine.KnowledgeBase)) *engine.KnowledgeBase {
	kb := &engine.KnowledgeBase{
		Ref: engine.Ref{Tenant: "t", ID: "manuals"}, Kind: engine.KindChunks, Dimensions: 3,
		EmbeddingModel: "e5", Analyzer: engine.AnalyzerJieba,
	}
	if change != nil {
		change(kb)
	}
	return kb
}

// several vector fields beside vector.
var several = []engine.VectorField{{Name: "title_vector", Source: engine.SourceTitle}, {Name: "summary_vector"}}

// TestEveryVectorFieldIsIndexedAlike: by each of the options.
func TestEveryVectorFieldIsIndexedAlike(t *testing.T) {
	for _, kind := range append(VectorIndexes(), "") {
		kb := knowledgeBase(func(kb *engine.KnowledgeBase) { kb.VectorFields, kb.VectorIndex, kb.Dimensions = several, kind, 64 })
		index, err := Desired(kb, "words/1")
		if err != nil {
			t.Fatal(err)
		}
		of := index.Mappings.Properties
		for _, field := range []string{"title_vector", "summary_vector"} {
			if of[field].Type != "dense_vector" || !reflect.DeepEqual(of[field], of["vector"]) {
				t.Errorf("%q: %s is %+v, vector %+v", kind, field, of[field], of["vector"])
			}
		}
	}
}

// TestSearchAnalyzers go with each other and with nothing else.
func TestSearchAnalyzers(t *testing.T) {
	for search, analyzer := range map[string]string{"ik_smart": "jieba", "jieba": "ik_smart", "nosuch": "ik_max_word"} {
		kb := knowledgeBase(func(kb *engine.KnowledgeBase) { kb.Analyzer, kb.SearchAnalyzer = analyzer, search })
		if _, err := Desired(kb, "words/1"); !fault.Is(err, fault.InvalidArgument) {
			t.Errorf("%s for %s: %v; want an error of kind InvalidArgument", search, analyzer, err)
		}
	}
	shared := knowledgeBase(func(kb *engine.KnowledgeBase) {
		kb.Shared, kb.Analyzer, kb.SearchAnalyzer = true, AnalyzerIKMax, AnalyzerIKSmart
	})
	if _, err := Desired(shared, "words/1"); !fault.Is(err, fault.InvalidArgument) {
		t.Errorf("shared: %v; want an error of kind InvalidArgument", err)
	}
}

func TestDesired(t *testing.T) {
	for name, change := range map[string]func(*engine.KnowledgeBase){
		"chunks":   nil,
		"qa":       func(kb *engine.KnowledgeBase) { kb.Kind = engine.KindQA },
		"keywords": func(kb *engine.KnowledgeBase) { kb.Dimensions, kb.EmbeddingModel = 0, "" },
		"shared":   func(kb *engine.KnowledgeBase) { kb.Shared = true },
		"standard": func(kb *engine.KnowledgeBase) { kb.Analyzer = AnalyzerStandard },
		"cjk":      func(kb *engine.KnowledgeBase) { kb.Analyzer = AnalyzerCJK },
		"ik":       func(kb *engine.KnowledgeBase) { kb.Analyzer = AnalyzerIKMax },
		"ik-search": func(kb *engine.KnowledgeBase) {
			kb.Analyzer, kb.SearchAnalyzer = AnalyzerIKMax, AnalyzerIKSmart
		},
		"vectors": func(kb *engine.KnowledgeBase) { kb.VectorFields = several },
		"vectors-unindexed": func(kb *engine.KnowledgeBase) {
			kb.VectorFields, kb.VectorIndex = several, VectorNone
		},
	} {
		index, err := Desired(knowledgeBase(change), "words/1")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		golden.JSON(t, "index-"+name+".json", index)
	}
}

func TestDesiredRefusesWhatNoIndexCanBe(t *testing.T) {
	f := func(field string, change func(*engine.KnowledgeBase)) {
		t.Helper()
		_, err := Desired(knowledgeBase(change), "")
		wants(t, err, fault.InvalidArgument, field)
	}
	f("analyzer", func(kb *engine.KnowledgeBase) { kb.Analyzer = "klingon" })
	f("dimensions", func(kb *engine.KnowledgeBase) { kb.Dimensions = -1 })
	f("dimensions", func(kb *engine.KnowledgeBase) { kb.Dimensions = 4097 })
	f("kind", func(kb *engine.KnowledgeBase) { kb.Kind = "" })
	f("vector_fields[0].name", func(kb *engine.KnowledgeBase) { kb.VectorFields = []engine.VectorField{{Name: "text_ltks"}} })
}

// wants checks the kind of an error and that it names what is at fault.
func wants(t *testing.T, err error, kind fault.Kind, named string) {
	t.Helper()
	if !fault.Is(err, kind) || !strings.Contains(err.Error(), named) {
		t.Errorf("got %v, want %s that names %q", err, kind, named)
	}
}

func TestVerify(t *testing.T) {
	index, err := Desired(knowledgeBase(nil), "words/1")
	if err != nil {
		t.Fatal(err)
	}
	if err := Verify(knowledgeBase(nil), &index.Mappings); err != nil {
		t.Errorf("its own index is refused: %v", err)
	}
	f := func(field string, change func(*engine.KnowledgeBase)) {
		t.Helper()
		wants(t, Verify(knowledgeBase(change), &index.Mappings), fault.Conflict, field)
	}
	f("dimensions", func(kb *engine.KnowledgeBase) { kb.Dimensions = 4 })
	f("embedding_model", func(kb *engine.KnowledgeBase) { kb.EmbeddingModel = "other" })
	f("analyzer", func(kb *engine.KnowledgeBase) { kb.Analyzer = AnalyzerCJK })
	f("kind", func(kb *engine.KnowledgeBase) { kb.Kind = engine.KindQA })
	wants(t, Verify(knowledgeBase(nil), &Mappings{}), fault.Conflict, "attach")
}

func TestEncodedNumbersSortLikeNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Float64().Draw(t, "a"), rapid.Float64().Draw(t, "b")
		x, _ := EncodeValue(a)
		y, _ := EncodeValue(b)
		if (a < b) != (x < y) || (a == b) != (x == y) {
			t.Fatalf("%v and %v became %q and %q", a, b, x, y)
		}
		for _, term := range []string{x, y} {
			if term < TagNumber || term >= After(TagNumber) {
				t.Fatalf("%q is outside its type", term)
			}
		}
	})
}

func TestDecodeValue(t *testing.T) {
	f := func(value any, want string) {
		t.Helper()
		term, ok := EncodeValue(value)
		if got := DecodeValue(term); got != want || !ok {
			t.Errorf("%v came back as %q (term %q)", value, got, term)
		}
	}
	f("billing", "billing")
	f("", "")
	f(2024.0, "2024")
	f(2025.5, "2025.5")
	f(math.Copysign(0, -1), "0")
	f(-1e300, "-1e+300")
	f(7, "7")
	f(true, "true")
	for _, broken := range []string{"", "x", "n:", "n:zz"} {
		_ = DecodeValue(broken) // must not panic
	}
}

// TestKeys: different keys stay different when encoded, and have no characters that mean
// something to Elasticsearch.
func TestKeys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.String().Draw(t, "a"), rapid.String().Draw(t, "b")
		x, y := EncodeKey(a), EncodeKey(b)
		if (a == b) != (x == y) {
			t.Fatalf("%q and %q became %q and %q", a, b, x, y)
		}
		if x == "" || strings.ContainsAny(x, ".* \x00\n\t") {
			t.Fatalf("%q became %q", a, x)
		}
	})
	if long := EncodeKey(strings.Repeat(".", 100_000)); len(long) > 3*maxKey {
		t.Errorf("a long key has %d bytes; want at most 3 * maxKey long", len(long))
	}
}

func TestClip(t *testing.T) {
	long := strings.Repeat("退款", 10_000)
	cut := ClipValue(long)
	if len(cut) > maxValue || !utf8.ValidString(cut) || !strings.HasPrefix(cut, "退款") {
		t.Errorf("cut to %d bytes, valid: %t", len(cut), utf8.ValidString(cut))
	}
	if ClipValue(long) != cut || ClipValue(long+"x") == cut {
		t.Error("equal strings must stay equal and different ones different")
	}
	if ClipValue("short") != "short" {
		t.Error("a short string was changed")
	}
}

func TestEncodeMetadata(t *testing.T) {
	got := EncodeMetadata(map[string]any{
		"a.b": []any{"x", 1.0, true, nil, map[string]any{}}, "none": []any{}, "nil": nil, "deep": map[string]any{"x": 1.0},
		"strings": []string{"y"}, "numbers": []float64{0}, "flags": []bool{false},
	})
	if len(got) != 4 || !slices.Equal(got["a%2Eb"], []string{"s:x", "n:bff0000000000000", "b:true"}) ||
		!slices.Equal(got["strings"], []string{"s:y"}) || !slices.Equal(got["flags"], []string{"b:false"}) {
		t.Errorf(`got %v; want 4 got and {"s:x", "n:bff0000000000000", "b:true"} and {"s:y"} and {"b:false"}`, got)
	}
}

// TestEncodedMomentsSortLikeMoments: within the terms that an open range goes to.
func TestEncodedMomentsSortLikeMoments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Int64().Draw(t, "a"), rapid.Int64().Draw(t, "b")
		x, y := EncodeMoment(a), EncodeMoment(b)
		if (a < b) != (x < y) || (a == b) != (x == y) || x < FirstMoment || x >= BehindMoment {
			t.Fatalf("%d and %d became %q and %q", a, b, x, y)
		}
	})
}

// TestMomentsAreKeptApart: of times alone, under keys that no metadata have.
func TestMomentsAreKeptApart(t *testing.T) {
	got := EncodeMoments([]any{"2026-06-10", "soon", 2026.0, true, "1970-01-01T01:00+01:00", "2026-02-30"})
	if !slices.Equal(got, []string{EncodeMoment(1781049600000000), "8000000000000000"}) {
		t.Errorf(`got %q; want {EncodeMoment(1781049600000000), "8000000000000000"}`, got)
	}
	if EncodeMoments([]any{"soon", 1.0}) != nil {
		t.Error("what is no time has moments")
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.String().Draw(t, "a"), rapid.String().Draw(t, "b")
		if x, y := KeyMoments(a), KeyMoments(b); (a == b) != (x == y) || !IsMoments(x) || IsMoments(EncodeKey(a)) || strings.Contains(x, ".") {
			t.Fatalf("%q and %q became %q and %q", a, b, x, y)
		}
	})
}
