package elastic_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic"
	"github.com/hybridge-search/hybridge/engine/enginetest"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/filter"
	"github.com/hybridge-search/hybridge/internal/devservices"
	"github.com/hybridge-search/hybridge/mappings"
	"github.com/hybridge-search/hybridge/textquery"
)

func refundOnly() *textquery.Query {
	return &textquery.Query{Terms: []textquery.Term{{Text: "refund", Weight: 1}}}
}

// create makes a knowledge base with chunks.
func create(t *testing.T, e *elastic.Engine, kb engine.KnowledgeBase, chunks ...engine.Chunk) {
	t.Helper()
	if err := e.CreateKnowledgeBase(t.Context(), kb); err != nil {
		t.Fatal(err)
	}
	outcomes, err := e.Write(t.Context(), engine.WriteRequest{KB: kb, Chunks: chunks, Refresh: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range outcomes {
		if o.Err != nil {
			t.Fatalf("%s: %v; want no error", o.ID, o.Err)
		}
	}
}

// TestKNNAgreesWithExact: above the limit, the same legs by kNN. A sum over
// the union of candidates is the sum over everything when each chunk that could
// be among the best is a candidate of its vector leg or matches.
func TestKNNAgreesWithExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	vector := func() []float32 {
		v := make([]float32, 16)
		for i := range v {
			v[i] = float32(rng.NormFloat64())
		}
		return v
	}
	var chunks []engine.Chunk
	for i := range 300 {
		c := engine.Chunk{
			ID: fmt.Sprintf("c%03d", i), DocumentID: "d", Available: true, Content: fmt.Sprint("w", i%7, " w", i%11),
			Metadata: map[string]any{"half": float64(i % 2)},
		}
		if i%10 != 0 {
			c.Vectors = map[string][]float32{engine.FieldVector: vector()}
		}
		chunks = append(chunks, c)
	}
	kb := manuals()
	kb.Dimensions = 16
	exact, prefix := open(t)
	create(t, exact, kb, chunks...)
	byKNN := another(t, prefix, 1)
	text := engine.Leg{Name: "text", Field: engine.FieldText, K: 20, Text: &textquery.Query{Terms: []textquery.Term{
		{Text: "w3", Weight: 1}, {Text: "w5", Weight: 2},
	}}}
	for name, req := range map[string]engine.Request{
		"legs": {Legs: []engine.Leg{text, {Name: "v", Field: engine.FieldVector, K: 20, Vector: vector()}}},
		"filtered": {
			Legs:   []engine.Leg{{Name: "v", Field: engine.FieldVector, K: 150, Vector: vector()}},
			Filter: engine.Filter{Conditions: []filter.Condition{{Field: "half", In: []filter.Value{{V: 1.0}}}}},
		},
		"more than there are": {Legs: []engine.Leg{{Name: "v", Field: engine.FieldVector, K: 500, Vector: vector()}}},
		"sum": {
			Legs: []engine.Leg{text, {Name: "v", Field: engine.FieldVector, Vector: vector()}},
			Sum:  &engine.Sum{Candidates: 250, Weights: []float64{0.05, 0.95}},
		},
		"required": {
			Legs: []engine.Leg{
				{Name: "text", Field: engine.FieldText, Text: text.Text, Required: true},
				{Name: "v", Field: engine.FieldVector, Vector: vector()},
			},
			Sum: &engine.Sum{Candidates: 250, Weights: []float64{0.5, 0.5}, Pivot: 3},
		},
	} {
		req.KB = kb
		want, err := exact.Search(t.Context(), &req)
		if err != nil {
			t.Fatal(err)
		}
		got, err := byKNN.Search(t.Context(), &req)
		if err != nil {
			t.Fatal(err)
		}
		if want.Method != "exact" || got.Method == "exact" && name != "more than there are" && name != "filtered" {
			t.Errorf(`%s: methods %q and %q; want want.Method "exact" and got.Method other than "exact" or name "more than there are" or name "filtered"`, name, want.Method, got.Method)
		}
		compare(t, name, got, want)
	}
}

// another is an engine over the same indices with a limit of its own.
func another(t *testing.T, prefix string, limit int) *elastic.Engine {
	t.Helper()
	options := optionsOf(t, prefix)
	options.ExactLimit = limit
	e, err := elastic.New(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

// compare fails unless both have the same hits with the same observations.
func compare(t *testing.T, name string, got, want *engine.Result) {
	t.Helper()
	if len(got.Hits) != len(want.Hits) {
		t.Errorf("%s: %d hits, want %d", name, len(got.Hits), len(want.Hits))
		return
	}
	for i := range want.Hits {
		if shown(&got.Hits[i]) != shown(&want.Hits[i]) {
			t.Errorf("%s, hit %d: %s, want %s", name, i, shown(&got.Hits[i]), shown(&want.Hits[i]))
		}
	}
}

// shown prints what matters of a hit, scores to four places.
func shown(hit *engine.Hit) string {
	text := hit.ID
	for _, o := range hit.Observations {
		text += fmt.Sprintf(" #%d %.4f", o.Rank, o.Raw)
	}
	return text
}

// TestAnalyzersOfElasticsearch: words as the gateway asks for them, stemmed and
// cut, find the text that Elasticsearch analysed.
func TestAnalyzersOfElasticsearch(t *testing.T) {
	for _, analyzer := range []string{mappings.AnalyzerStandard, mappings.AnalyzerCJK} {
		kb := manuals()
		kb.Analyzer, kb.Dimensions = analyzer, 0
		e, _ := open(t)
		create(t, e, kb,
			engine.Chunk{ID: "en", DocumentID: "d", Available: true, Content: "All Refunds are paid back."},
			engine.Chunk{ID: "zh", DocumentID: "d", Available: true, Content: "如何申请退款？请联系客服。"},
			engine.Chunk{ID: "ja", DocumentID: "d", Available: true, Content: "毎朝コーヒーを飲みます。"},
			engine.Chunk{ID: "ko", DocumentID: "d", Available: true, Content: "오늘 서울 날씨는 맑습니다."},
		)
		f := func(q *textquery.Query, want string) {
			t.Helper()
			result, err := e.Search(t.Context(), &engine.Request{
				KB: kb, Legs: []engine.Leg{{Name: "text", Field: engine.FieldText, K: 5, Text: q}},
			})
			if err != nil {
				t.Fatal(err)
			}
			if len(result.Hits) != 1 || result.Hits[0].ID != want {
				t.Errorf("%s, %+v: found %+v, want %s", analyzer, q, result.Hits, want)
			}
		}
		f(refundOnly(), "en")
		f(&textquery.Query{Terms: []textquery.Term{{Text: "退款", Weight: 1}}}, "zh")
		f(&textquery.Query{Terms: []textquery.Term{{Text: "money", Weight: 1, Synonyms: []textquery.Phrase{
			{Terms: []string{"申请", "退款"}, Weight: 0.8},
		}}}}, "zh")
		quoted := func(terms ...string) *textquery.Query {
			synonym := []textquery.Phrase{{Terms: terms, Weight: 0.8}}
			return &textquery.Query{Terms: []textquery.Term{{Text: "money", Weight: 1, Synonyms: synonym}}}
		}
		f(quoted("コー", "ーヒ", "ヒー"), "ja")
		f(quoted("날씨", "씨는"), "ko")
	}
}

func TestMissingPluginIsNamed(t *testing.T) {
	e, _ := open(t)
	kb := manuals()
	kb.Analyzer = mappings.AnalyzerIKMax
	err := e.CreateKnowledgeBase(t.Context(), kb)
	if err != nil && (!fault.Is(err, fault.Unsupported) || detail(err) == "") { // nil: this server has it
		t.Errorf("got %v, want unsupported", err)
	}
}

// TestSharedStatisticsAreOfOneKnowledgeBase, not of those beside it.
func TestSharedStatisticsAreOfOneKnowledgeBase(t *testing.T) {
	e, _ := open(t)
	one := manuals()
	one.Shared = true
	two := one
	two.ID = "Other KB"
	content := func(id, text string) engine.Chunk {
		return engine.Chunk{ID: id, DocumentID: "d", Content: text, Available: true}
	}
	create(t, e, one, content("a", "refund"), content("b", "two words"))
	create(t, e, two, content("a", "refund"), content("c", "refund of three"))
	st, err := e.Statistics(t.Context(), &engine.StatisticsRequest{KB: one, Field: engine.FieldText, Terms: []string{"refund"}})
	if err != nil || st.Docs != 2 || st.DF[0] != 1 || st.AverageLength != 1.5 {
		t.Errorf("got %+v, %v; want no error and st.Docs 2 and st.DF[0] 1 and st.AverageLength 1.5", st, err)
	}
	if d, err := e.Describe(t.Context(), two); err != nil || d.Chunks != 2 {
		t.Errorf("described as %+v, %v; want no error and d.Chunks 2", d, err)
	}
	if err := e.DeleteKnowledgeBase(t.Context(), one.Ref); err != nil {
		t.Fatal(err)
	}
	if d, err := e.Describe(t.Context(), two); err != nil || d.Chunks != 2 {
		t.Errorf("after the other one's delete: %+v, %v; want no error and d.Chunks 2", d, err)
	}
	if _, err := e.Describe(t.Context(), one); !fault.Is(err, fault.NotFound) {
		t.Errorf("the deleted one: %v, want not_found", err)
	}
}

// TestAWriteNeverMakesAnIndex, not even when the knowledge base was deleted by
// another gateway a moment ago.
func TestAWriteNeverMakesAnIndex(t *testing.T) {
	e, prefix := open(t)
	kb := manuals()
	chunk := engine.Chunk{ID: "a", DocumentID: "d", Content: "x", Available: true}
	create(t, e, kb, chunk)
	if err := another(t, prefix, 1).DeleteKnowledgeBase(t.Context(), kb.Ref); err != nil {
		t.Fatal(err)
	}
	outcomes, err := e.Write(t.Context(), engine.WriteRequest{KB: kb, Chunks: []engine.Chunk{chunk}})
	if err == nil && outcomes[0].Status != engine.Failed {
		t.Errorf("written to nowhere: %+v; want an error or outcomes[0].Status Failed", outcomes)
	}
}

// TestPrefixesMayBeginAlike: two gateways can share a cluster even if the prefix of one
// begins with the other's.
func TestPrefixesMayBeginAlike(t *testing.T) {
	server, short := devservices.Indices(t)
	for _, prefix := range []string{short, short + "-more"} {
		e, err := elastic.New(elastic.Options{
			Settings: elastic.Settings{IndexPrefix: prefix},
			URLs:     []string{server}, Tokenizer: enginetest.Words{},
			Transport: &http.Transport{DisableKeepAlives: true},
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = e.Close() })
		kb := manuals()
		create(t, e, kb, engine.Chunk{ID: prefix, DocumentID: "d", Content: "refund", Available: true})
		all, err := e.KnowledgeBases(t.Context())
		if err != nil || len(all) != 1 {
			t.Errorf("%s sees %v, %v; want its own", prefix, all, err)
		}
	}
}

// TestLongerThanATermMayBe: Lucene refuses terms over 32,766 bytes. Names and values are
// cut and get a hash, so that different ones stay different; tokens are split.
func TestLongerThanATermMayBe(t *testing.T) {
	e, _ := open(t)
	kb := manuals()
	long := strings.Repeat("退款x", 10_000)
	chunk := engine.Chunk{
		ID: "a", DocumentID: "d", DocumentName: long, Owner: long, Content: "refund " + long, Available: true,
		Metadata: map[string]any{"value": long, long: "v"},
	}
	other := chunk
	other.ID, other.Metadata = "b", map[string]any{"value": long + "y"}
	create(t, e, kb, chunk, other)
	for field, value := range map[string]string{"value": long, long: "v"} {
		result, err := e.Search(t.Context(), &engine.Request{
			KB: kb, Legs: []engine.Leg{{Name: "text", Field: engine.FieldText, K: 5, Text: refundOnly()}},
			Filter: engine.Filter{
				Owner:      long,
				Conditions: []filter.Condition{{Field: field, In: []filter.Value{{V: value}}}},
			},
		})
		if err != nil || len(result.Hits) != 1 || result.Hits[0].ID != "a" {
			t.Errorf(`%.20s: %+v, %v; want no error and 1 result.Hits and result.Hits[0].ID "a"`, field, result, err)
		}
	}
}

// TestReplacingKeepsTheOldWhenTheNewFails: nothing is deleted before all of the
// new is there.
func TestReplacingKeepsTheOldWhenTheNewFails(t *testing.T) {
	e, _ := open(t)
	kb := manuals()
	old := engine.Chunk{ID: "old", DocumentID: "d", Content: "refund", Available: true}
	create(t, e, kb, old)
	good, bad := old, old
	good.ID = "good"
	bad.ID, bad.Vectors = "bad", map[string][]float32{engine.FieldVector: {1, 2, 3}}
	outcomes, err := e.ReplaceDocument(t.Context(), "d", engine.WriteRequest{
		KB: kb, Chunks: []engine.Chunk{good, bad}, Refresh: true,
	})
	if err != nil || outcomes[0].Status != engine.Created || outcomes[1].Status != engine.Failed {
		t.Fatalf("got %+v, %v; want no error and outcomes[0].Status Created and outcomes[1].Status Failed", outcomes, err)
	}
	chunks, err := e.Chunks(t.Context(), engine.ChunksRequest{KB: kb, IDs: []string{"old", "good", "bad"}})
	if err != nil || len(chunks) != 2 {
		t.Errorf("left: %+v, %v; want no error and 2 chunks", chunks, err)
	}
}

// TestBringsTheChunksOfAPage: they come with the ranking of a text leg alone in a small
// knowledge base, else none do.
func TestBringsTheChunksOfAPage(t *testing.T) {
	kb := manuals()
	kb.Dimensions = 2
	e, prefix := open(t)
	var chunks []engine.Chunk
	for i := range 3 {
		chunks = append(chunks, engine.Chunk{ID: fmt.Sprint("c", i), DocumentID: "d", Available: true, Content: "refund"})
	}
	create(t, e, kb, chunks...)
	small := another(t, prefix, 2)
	text := func(k int) []engine.Leg {
		return []engine.Leg{{Name: "text", Field: engine.FieldText, K: k, Text: refundOnly()}}
	}
	sum := &engine.Sum{Candidates: 10, Weights: []float64{0.5, 0.5}}
	for name, c := range map[string]struct {
		engine *elastic.Engine
		req    engine.Request
		want   int
	}{
		"text":                        {e, engine.Request{Legs: text(10), Prefetch: 2}, 2},
		"nobody knows what is shown":  {e, engine.Request{Legs: text(10)}, 0},
		"fewer candidates than shown": {e, engine.Request{Legs: text(1), Prefetch: 2}, 1},
		"many shown":                  {e, engine.Request{Legs: text(100), Prefetch: 60}, 0},
		"many chunks":                 {small, engine.Request{Legs: text(10), Prefetch: 2}, 0},
		"a vector":                    {e, engine.Request{Legs: []engine.Leg{vectorLeg()}, Prefetch: 2}, 0},
		"two legs":                    {e, engine.Request{Legs: append(text(10), vectorLeg()), Prefetch: 2}, 0},
		"a sum":                       {e, engine.Request{Legs: append(text(10), vectorLeg()), Sum: sum, Prefetch: 2}, 0},
	} {
		c.req.KB = kb
		result, err := c.engine.Search(t.Context(), &c.req)
		if err != nil || len(result.Chunks) != c.want {
			t.Fatalf("%s: %d chunks, %v; want %d", name, len(result.Chunks), err, c.want)
		}
		for i, chunk := range result.Chunks {
			if chunk.ID != result.Hits[i].ID || chunk.Content != "refund" {
				t.Errorf("%s: chunk %d is %+v, of hit %q", name, i, chunk, result.Hits[i].ID)
			}
		}
	}
}
