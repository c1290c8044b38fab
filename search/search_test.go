package search_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/analysis/tokens"
	"github.com/hybridge-search/hybridge/catalog"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic"
	"github.com/hybridge-search/hybridge/engine/embedded"
	"github.com/hybridge-search/hybridge/engine/postgres"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/devservices"
	"github.com/hybridge-search/hybridge/internal/realtokens"
	"github.com/hybridge-search/hybridge/presets"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var scope = access.Scope{Tenant: "acme"}

// bench is a searcher over a real engine.
type bench struct {
	*testing.T
	searcher *search.Searcher
	catalog  *catalog.Catalog
	engine   engine.Engine
}

// TestPipeline holds the pipeline to its contract on each engine.
func TestPipeline(t *testing.T) {
	tests := map[string]func(*bench){
		"EveryPresetAnswersInBothLanguages": testEveryPresetAnswersInBothLanguages,
		"Answers":                           testAnswers,
		"RelaxationSaysWhichRungAnswered":   testRelaxationSaysWhichRungAnswered,
		"Highlights":                        testHighlights,
		"MarkedTitles":                      testMarkedTitles,
		"MarkedPhrases":                     testMarkedPhrases,
		"NearestSentence":                   testNearestSentence,
		"PagesChangeNoScore":                testPagesChangeNoScore,
		"CountsAreOverTheAnswerSet":         testCountsAreOverTheAnswerSet,
		"DisjunctiveCounts":                 testDisjunctiveCounts,
		"WithoutVectorsTheAnswerDegrades":   testWithoutVectorsTheAnswerDegrades,
		"SeveralKnowledgeBases":             testSeveralKnowledgeBases,
		"SeveralAreOne":                     testSeveralAreOne,
		"ScopeHidesOthers":                  testScopeHidesOthers,
		"BadRequests":                       testBadRequests,
		"Explain":                           testExplain,
		"EverythingIsListed":                testEverythingIsListed,
		"AnalyzeShowsTheQuery":              testAnalyzeShowsTheQuery,
		"Neighbours":                        testNeighbours,
		"EveryHitHasItsCosine":              testEveryHitHasItsCosine,
		"PairsAreFoundOnFourPaths":          testPairsAreFoundOnFourPaths,
		"CopiesOfAPairAreShownOnce":         testCopiesOfAPairAreShownOnce,
		"CopiesAreFolded":                   testCopiesAreFolded,
		"CopiesOfPairs":                     testCopiesOfPairs,
		"PagesOfFoldedCopies":               testPagesOfFoldedCopies,
		"Boosts":                            testBoosts,
		"PairsNeedTheirKind":                testPairsNeedTheirKind,
		"TogetherAsksOnce":                  testTogetherAsksOnce,
		"Observe":                           testObserve,
		"ObserveRefuses":                    testObserveRefuses,
		"SeveralVectors":                    testSeveralVectors,
		"Relevance":                         testRelevance,
		"CutByRelevance":                    testCutByRelevance,
		"EvidenceAcrossLanguages":           testEvidenceAcrossLanguages,
		"ForeignAmongMany":                  testForeignAmongMany,
		"RelevanceByWords":                  testRelevanceByWords,
		"SynonymsOfUnknownWords":            testSynonymsOfUnknownWords,
		"SynonymsOfSeveralAreOne":           testSynonymsOfSeveralAreOne,
		"Parents":                           testParents,
		"Phrasings":                         testPhrasings,
		"Rewritten":                         testRewritten,
		"Fields":                            testFields,
		"SecondStage":                       testSecondStage,
		"Signals":                           testSignals,
		"Diversity":                         testDiversity,
		"Reranked":                          testReranked,
		"NestedFilters":                     testNestedFilters,
		"FacetsCalledAsWhatJoins":           testFacetsCalledAsWhatJoins,
		"Suggestions":                       testSuggestions,
		"SuggestionsAreOfWhatIsSeen":        testSuggestionsAreOfWhatIsSeen,
		"SuggestionsOfSeveral":              testSuggestionsOfSeveral,
		"DidYouMean":                        testDidYouMean,
		"Pins":                              testPins,
		"PinnedDocuments":                   testPinnedDocuments,
		"Hides":                             testHides,
		"RulesMatch":                        testRulesMatch,
		"PinsAreOfWhatIsSeen":               testPinsAreOfWhatIsSeen,
		"PagesOfPins":                       testPagesOfPins,
		"PinsOfSeveral":                     testPinsOfSeveral,
		"ThresholdsSparePins":               testThresholdsSparePins,
		"PinsStayInFront":                   testPinsStayInFront,
		"ManyRules":                         testManyRules,
		"PinnedPairs":                       testPinnedPairs,
		"ExplainedRules":                    testExplainedRules,
		"PinsAreCounted":                    testPinsAreCounted,
		"Models":                            testModels,
		"WeightsPerQuery":                   testWeightsPerQuery,
	}
	engines := map[string]func(*testing.T, *tokens.Analyzer) engine.Engine{
		"embedded": openEmbedded, "elasticsearch": openElasticsearch, "postgres": openPostgres,
	}
	for engine, open := range engines {
		for name, test := range tests {
			t.Run(engine+"/"+name, func(t *testing.T) { test(newBench(t, open)) })
		}
	}
}

func newBench(t *testing.T, open func(*testing.T, *tokens.Analyzer) engine.Engine) *bench {
	t.Helper()
	analyzer, err := realtokens.Analyzer()
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{T: t, engine: open(t, analyzer)}
	b.catalog = catalog.New([]engine.Engine{b.engine}, catalog.Options{DefaultEngine: b.engine.Name()})
	b.searcher = search.New(search.Options{
		Catalog: b.catalog, Analyzer: analyzer,
		Planners: presets.Builtin(), DefaultPreset: presets.Default,
	})
	return b
}

func openEmbedded(t *testing.T, analyzer *tokens.Analyzer) engine.Engine {
	t.Helper()
	store, err := embedded.Open(t.Context(), embedded.Options{Path: t.TempDir(), Tokenizer: analyzer})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store
}

// schema is one for all tests; it stays, empty.
var schema = sync.OnceValue(func() string { return "search_test_" + strings.ToLower(rand.Text()[:10]) })

func openPostgres(t *testing.T, analyzer *tokens.Analyzer) engine.Engine {
	t.Helper()
	store, err := postgres.Open(t.Context(), postgres.Options{
		Settings: postgres.Settings{Schema: schema(), KeywordWait: 10 * time.Second, Timeout: time.Minute},
		URL:      devservices.Postgres(t), Tokenizer: analyzer,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store
}

func openElasticsearch(t *testing.T, analyzer *tokens.Analyzer) engine.Engine {
	t.Helper()
	return openElasticsearchBy(t, analyzer, &http.Transport{DisableKeepAlives: true}) // leaves no goroutine behind
}

func openElasticsearchBy(t *testing.T, analyzer *tokens.Analyzer, transport http.RoundTripper) engine.Engine {
	t.Helper()
	server, prefix := devservices.Indices(t)
	store, err := elastic.New(elastic.Options{
		Settings: elastic.Settings{IndexPrefix: prefix, Timeout: time.Minute},
		URLs:     []string{server}, Tokenizer: analyzer, Transport: transport,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store
}

// passagePresets are those that plan for a knowledge base of kind chunks.
func passagePresets() map[string]search.Planner {
	kb := engine.KnowledgeBase{Kind: engine.KindChunks, Dimensions: 4}
	suited := presets.Builtin()
	maps.DeleteFunc(suited, func(_ string, plan search.Planner) bool {
		_, err := plan(&search.Request{}, kb.Fields())
		return err != nil
	})
	return suited
}

// chunk is a short way to write one; its vector is [x, y, 1-x-y, 0].
func chunk(id, document, content string, x, y float32) engine.Chunk {
	return engine.Chunk{
		ID: id, DocumentID: document, DocumentName: document + ".md", Content: content, Available: true,
		Vectors: map[string][]float32{engine.FieldVector: {x, y, 1 - x - y, 0}},
	}
}

func (b *bench) fill(id string, chunks ...engine.Chunk) {
	b.Helper()
	b.fillKind(engine.KindChunks, id, chunks...)
}

func (b *bench) fillKind(kind engine.KnowledgeKind, id string, chunks ...engine.Chunk) {
	b.Helper()
	dimensions := 4
	kb, err := b.catalog.Create(b.Context(), scope, catalog.Spec{ID: id, Kind: kind, Dimensions: &dimensions})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = b.engine.DeleteKnowledgeBase(context.Background(), kb.Ref) })
	outcomes, err := b.engine.Write(b.Context(), engine.WriteRequest{KB: kb, Chunks: chunks, Refresh: true})
	if err != nil {
		b.Fatal(err)
	}
	for _, o := range outcomes {
		if o.Err != nil {
			b.Fatal(o.Err)
		}
	}
}

func shelf() []engine.Chunk {
	chunks := []engine.Chunk{
		chunk("refund-zh", "billing", "申请退款请在订单页面点击退款按钮，三个工作日内到账。", 0.9, 0.1),
		chunk("refund-en", "billing", "To request a refund open the order page and press the refund button.", 0.85, 0.1),
		chunk("invoice", "billing", "Invoices are sent by e-mail at the end of each month.", 0.5, 0.2),
		chunk("login", "account", "Reset your password on the login page.", 0.1, 0.8),
		chunk("wombat", "animals", "The wombat digs a burrow at night.", 0.0, 0.1),
	}
	for i := range chunks {
		chunks[i].Ordinal = i
		chunks[i].Metadata = map[string]any{"category": chunks[i].DocumentID, "page": float64(i)}
	}
	hidden := chunk("hidden", "billing", "A refund that nobody shall see.", 0.9, 0.1)
	hidden.Available = false
	bare := chunk("bare", "animals", "A refund of a burrow without a vector.", 0, 0)
	bare.Vectors = nil
	return append(chunks, hidden, bare)
}

// A question in traditional characters and a text in simplified ones find each
// other, whoever makes the tokens of the text.
func TestElasticsearchsAnalyzersSeeFoldedText(t *testing.T) {
	b := newBench(t, openElasticsearch)
	for _, analyzer := range []string{"standard", "cjk"} {
		dimensions := 0
		kb, err := b.catalog.Create(t.Context(), scope, catalog.Spec{ID: analyzer, Analyzer: analyzer, Dimensions: &dimensions})
		if err != nil {
			t.Fatal(err)
		}
		b.Cleanup(func() { _ = b.engine.DeleteKnowledgeBase(context.Background(), kb.Ref) })
		texts := []engine.Chunk{chunk("traditional", "d", "這台電腦很快。", 1, 0), chunk("simplified", "d", "这台电脑很快。", 1, 0)}
		for i := range texts {
			texts[i].Vectors = nil
		}
		if _, err := b.engine.Write(t.Context(), engine.WriteRequest{KB: kb, Chunks: texts, Refresh: true}); err != nil {
			t.Fatal(err)
		}
		for _, question := range []string{"電腦", "电脑"} {
			r := b.answer(`{"query": "` + question + `", "knowledge_bases": ["` + analyzer + `"], "preset": "text"}`)
			if len(r.Hits) != 2 || !strings.Contains(strings.Join(r.Hits[1].Highlights, ""), "<em>") {
				t.Errorf(`%s, %s: %d hits %+v; want 2 r.Hits and "<em>" in it`, analyzer, question, len(r.Hits), r.Hits)
			}
		}
	}
}

// ask decodes a request as the API takes it and searches.
func (b *bench) ask(body string) (*search.Response, error) {
	b.Helper()
	var req search.Request
	if err := json.Unmarshal([]byte(body), &req); err != nil {
		b.Fatalf("%s: %v", brief.Of(body), err)
	}
	return b.searcher.Search(b.Context(), scope, req)
}

func (b *bench) answer(body string) *search.Response {
	b.Helper()
	response, err := b.ask(body)
	if err != nil {
		b.Fatalf("%s: %v", brief.Of(body), err)
	}
	b.holds(response)
	return response
}

// holds checks the score contract on any response.
func (b *bench) holds(r *search.Response) {
	b.Helper()
	for i, hit := range r.Hits {
		sum := 0.0
		for _, leg := range hit.Legs {
			sum += leg.Contribution
		}
		if sum != hit.RawScore {
			b.Errorf("%s: raw_score %v is not the sum %v of its contributions", hit.ID, hit.RawScore, sum)
		}
		if math.IsNaN(hit.Score) || hit.Score < 0 || hit.Score > 1 {
			b.Errorf("%s: score %v outside [0, 1]", hit.ID, hit.Score)
		}
		if s := hit.TermSimilarity; s != nil && (*s < 0 || *s > 1) {
			b.Errorf("%s: term_similarity %v outside [0, 1]; want no s or *s at least 0 and *s at most 1", hit.ID, *s)
		}
		if i > 0 && hit.Score > r.Hits[i-1].Score {
			b.Errorf("%s: score %v above the hit before it", hit.ID, hit.Score)
		}
	}
	if r.Degraded == nil || r.Hits == nil {
		b.Error("an empty list must be a list")
	}
	if len(r.Hits) == 0 && r.Total.Value == 0 && r.Empty == "" {
		b.Error("an empty answer must say why")
	}
}

func ids(r *search.Response) string {
	list := make([]string, len(r.Hits))
	for i, hit := range r.Hits {
		list[i] = hit.ID
	}
	return strings.Join(list, " ")
}

func testEveryPresetAnswersInBothLanguages(b *bench) {
	b.fill("manuals", shelf()...)
	for preset := range passagePresets() {
		for _, query := range []string{"如何申请退款", "how to request a refund"} {
			r := b.answer(`{"query": "` + query + `", "knowledge_bases": ["manuals"], "preset": "` + preset + `", "vector": [1, 0, 0, 0]}`)
			if best := ids(r); !strings.HasPrefix(best, "refund-") {
				b.Errorf(`%s %q: hits %s; want one that begins with "refund-"`, preset, query, best)
			}
			if strings.Contains(ids(r), "hidden") {
				b.Errorf(`%s found a hidden chunk; want no "hidden" in it`, preset)
			}
		}
	}
}

func testAnswers(b *bench) {
	b.fill("manuals", shelf()...)
	const base = `"knowledge_bases": ["manuals"], "vector": [1, 0, 0, 0]`
	f := func(body, want string) {
		b.Helper()
		if got := ids(b.answer("{" + base + ", " + body + "}")); got != want {
			b.Errorf("%s\n got %s\nwant %s", brief.Of(body), got, want)
		}
	}
	f(`"query": "refund", "preset": "text"`, "refund-en bare")
	f(`"query": "退款", "preset": "text"`, "refund-zh")
	f(`"query": "refund", "preset": "vector", "top_k": 2`, "refund-zh refund-en")
	f(`"query": "refund -burrow", "preset": "text"`, "refund-en")
	f(`"query": "\"refund button\"", "preset": "balanced"`, "refund-en")
	f(`"query": "\"button refund\" -page", "preset": "text", "plain": true`, "refund-en login bare")
	f(`"query": "refund", "preset": "vector", "filter": {"category": "account"}`, "login")
	f(`"query": "refund", "preset": "vector", "filter": {"page": {"gte": 1, "lt": 3}}`, "refund-en invoice")
	f(`"query": "refund", "preset": "vector", "filter": {"no_such_field": "x"}`, "")
	f(`"query": "refund", "preset": "vector", "group_by": "document_id"`, "refund-zh login wombat")
	f(`"query": "refund", "preset": "vector", "threshold": {"vector": 0.9}`, "refund-zh refund-en")
	f(`"query": "refund", "preset": "rrf", "use_rerank": false, "top_k": 3`, "refund-zh refund-en invoice")
	f(`"query": "refund", "preset": "vector", "offset": 1, "limit": 1`, "refund-en")
	f(`"query": "refund", "preset": "vector", "offset": 100`, "")
	f(`"query": "！？…", "preset": "balanced", "top_k": 1`, "refund-zh")
	f(`"query": "zyzzyva", "preset": "script_score", "text_required": true`, "")
	f(`"query": "wombat refunds invoices passwords burrows nights", "preset": "script_score", "text_required": true, "minimum_should_match": "100%", "top_k": 1`, "refund-en")
}

func testRelaxationSaysWhichRungAnswered(b *bench) {
	b.fill("manuals", shelf()...)
	r := b.answer(`{"query": "wombat refunds invoices passwords burrows nights", "knowledge_bases": ["manuals"],
		"vector": [1, 0, 0, 0], "preset": "script_score", "text_required": true, "minimum_should_match": "100%"}`)
	if r.Relaxed == nil || *r.Relaxed != "10%" {
		b.Errorf("relaxed %v, want 10%%: no chunk has all six words, some have one", r.Relaxed)
	}
	r = b.answer(`{"query": "refund button", "knowledge_bases": ["manuals"], "vector": [1, 0, 0, 0], "preset": "script_score", "text_required": true}`)
	if r.Relaxed != nil {
		b.Errorf("relaxed %q without need", *r.Relaxed)
	}
}

func testHighlights(b *bench) {
	b.fill("manuals", shelf()...)
	r := b.answer(`{"query": "退款 refund", "knowledge_bases": ["manuals"], "vector": [1, 0, 0, 0], "preset": "rrf", "highlight": {"pre": "[", "post": "]"}}`)
	for _, hit := range r.Hits[:2] {
		if len(hit.Highlights) == 0 || !strings.Contains(hit.Highlights[0], "[退款]") && !strings.Contains(hit.Highlights[0], "[refund]") {
			b.Errorf(`%s: highlights %q; want some hit.Highlights and "[退款]" in it or "[refund]" in it`, hit.ID, hit.Highlights)
		}
	}
	r = b.answer(`{"query": "refund", "knowledge_bases": ["manuals"], "preset": "text", "highlight": {"fragments": 0}}`)
	if len(r.Hits[0].Highlights) != 0 {
		b.Errorf("highlights %q though none were asked for; want no r.Hits[0].Highlights", r.Hits[0].Highlights)
	}
}

func testPagesChangeNoScore(b *bench) {
	b.fill("manuals", shelf()...)
	for preset := range passagePresets() {
		body := `{"query": "refund page", "knowledge_bases": ["manuals"], "vector": [1, 0, 0, 0], "preset": "` + preset + `", "top_k": 5`
		whole := b.answer(body + "}")
		for i := range whole.Hits {
			offset, _ := json.Marshal(i)
			page := b.answer(body + `, "limit": 1, "offset": ` + string(offset) + "}")
			if len(page.Hits) != 1 || page.Hits[0].ID != whole.Hits[i].ID || page.Hits[0].Score != whole.Hits[i].Score {
				b.Errorf("%s: page %d differs from the whole answer", preset, i)
			}
		}
	}
}

func testCountsAreOverTheAnswerSet(b *bench) {
	b.fill("manuals", shelf()...)
	r := b.answer(`{"query": "refund", "knowledge_bases": ["manuals"], "vector": [1, 0, 0, 0], "preset": "vector", "top_k": 1, "facets": ["category"]}`)
	if r.Total.Value != 5 || r.Total.Relation != "eq" || len(r.Hits) != 1 {
		b.Errorf("total %+v with %d hits; want 5 eq with 1", r.Total, len(r.Hits))
	}
	if len(r.Documents) != 3 || r.Documents[0] != (search.DocumentCount{DocumentID: "billing", DocumentName: "billing.md", Count: 3}) {
		b.Errorf("documents %+v", r.Documents)
	}
	if facet := r.Facets["category"]; !slices.Equal(facet, []search.FacetCount{
		{Value: "billing", Count: 3}, {Value: "account", Count: 1}, {Value: "animals", Count: 1},
	}) {
		b.Errorf("facets %+v", r.Facets)
	}
	r = b.answer(`{"query": "refund", "knowledge_bases": ["manuals"], "vector": [1, 0, 0, 0], "preset": "vector", "top_k": 2, "candidates": 2}`)
	if r.Total != (search.Total{Value: 2, Relation: "gte"}) {
		b.Errorf("total %+v with two candidates of five, want 2 gte", r.Total)
	}
}

func testWithoutVectorsTheAnswerDegrades(b *bench) {
	b.fill("manuals", shelf()...)
	for preset := range passagePresets() {
		body := `{"query": "refund", "knowledge_bases": ["manuals"], "preset": "` + preset + `"}`
		r, err := b.ask(body)
		switch {
		case preset == "vector":
			if !fault.Is(err, fault.Unavailable) {
				b.Errorf("vector alone without an embedder: %v, want unavailable", err)
			}
		case err != nil:
			b.Errorf("%s: %v", preset, err)
		case preset == "text":
			if len(r.Degraded) != 0 {
				b.Errorf("text needs no vector: %+v", r.Degraded)
			}
		default:
			if len(r.Degraded) != 1 || r.Degraded[0].Leg != "vector" || !strings.Contains(ids(r), "refund-en") {
				b.Errorf(`%s: hits %s, degraded %+v; want 1 r.Degraded and r.Degraded[0].Leg "vector" and "refund-en" in it`, preset, ids(r), r.Degraded)
			}
			b.holds(r)
		}
	}
}

// halfBlind is an engine that cannot tell what its first leg says of hits that
// it did not return.
type halfBlind struct{ engine.Engine }

func (e halfBlind) Search(ctx context.Context, req *engine.Request) (*engine.Result, error) {
	result, err := e.Engine.Search(ctx, req)
	if err != nil {
		return nil, err
	}
	result.Legs[0].Incomplete = fault.New(fault.Timeout, "took too long")
	for i := range result.Hits {
		if o := &result.Hits[i].Observations[0]; o.Rank == 0 {
			o.Raw = math.NaN()
		}
	}
	return result, nil
}

func TestScoresThatStayUnknownAreReported(t *testing.T) {
	b := newBench(t, func(t *testing.T, analyzer *tokens.Analyzer) engine.Engine {
		return halfBlind{openEmbedded(t, analyzer)}
	})
	b.fill("manuals", shelf()...)
	r := b.answer(`{"query": "refund", "knowledge_bases": ["manuals"], "vector": [1, 0, 0, 0], "preset": "rrf", "explain": true}`)
	if len(r.Hits) == 0 || len(r.Degraded) != 1 || r.Degraded[0].KnowledgeBase != "manuals" ||
		r.Degraded[0].Leg != r.Hits[0].Legs[0].Leg || !strings.Contains(r.Degraded[0].Reason, "took too long") {
		t.Fatalf("degraded %+v", r.Degraded)
	}
	ranked := 0
	for _, hit := range r.Hits {
		if hit.Legs[0].Rank != nil {
			ranked++
			if hit.Legs[0].Contribution <= 0 {
				t.Errorf("the leg's own hit has no contribution: %+v; want hit.Legs[0].Contribution above 0", hit.Legs[0])
			}
		}
	}
	if ranked == 0 {
		t.Error("the leg's own ranking was dropped")
	}
}

func testSeveralKnowledgeBases(b *bench) {
	b.fill("one", shelf()...)
	b.fill("two", chunk("far", "billing", "A refund takes a week.", 0.2, 0.2), chunk("near", "billing", "refund", 1, 0))
	for preset := range passagePresets() {
		r := b.answer(`{"query": "refund", "knowledge_bases": ["one", "two"], "vector": [1, 0, 0, 0], "top_k": 20, "preset": "` + preset + `"}`)
		if r.MergedBy == "" || !strings.Contains(ids(r), "near") || !strings.Contains(ids(r), "refund-en") {
			b.Errorf(`%s: merged by %q, hits %s; want r.MergedBy other than "" and "near" in it and "refund-en" in it`, preset, r.MergedBy, ids(r))
		}
	}
	if _, err := b.ask(`{"query": "refund", "knowledge_bases": ["one", "three"]}`); !fault.Is(err, fault.NotFound) {
		b.Errorf("an unknown knowledge base: %v, want not_found", err)
	}
}

func testScopeHidesOthers(b *bench) {
	b.fill("manuals", shelf()...)
	req := search.Request{Query: "refund", KnowledgeBases: []string{"manuals"}}
	for _, other := range []access.Scope{{Tenant: "rival"}, {Tenant: "acme", KnowledgeBases: []string{"else"}}, {Tenant: "acme", KnowledgeBases: []string{}}} {
		if _, err := b.searcher.Search(context.Background(), other, req); !fault.Is(err, fault.NotFound) {
			b.Errorf("%+v: %v, want not_found", other, err)
		}
	}
}

func testBadRequests(b *bench) {
	b.fill("manuals", shelf()...)
	f := func(body, field string) {
		b.Helper()
		_, err := b.ask(`{"query": "refund", "knowledge_bases": ["manuals"], ` + body + `}`)
		var e *fault.Error
		if !errors.As(err, &e) || (e.Kind != fault.InvalidArgument && e.Kind != fault.TooLarge) || e.Field != field {
			b.Errorf("%s: %v, want an invalid argument at %s", brief.Of(body), err, field)
		}
	}
	f(`"query": "  \t "`, "query")
	f(`"query": "`+strings.Repeat("x", 40_000)+`"`, "query")
	f(`"knowledge_bases": []`, "knowledge_bases")
	f(`"knowledge_bases": ["manuals", "manuals"]`, "knowledge_bases")
	f(`"preset": "magic"`, "preset")
	f(`"engine": "solr"`, "engine")
	f(`"weights": {"text": -1}`, "weights.text")
	f(`"weights": {"text": 0, "vector": 0}`, "weights")
	f(`"weights": {"title": 1}`, "weights.title")
	f(`"preset": "rrf", "rrf_k": 0`, "rrf_k")
	f(`"top_k": 0`, "top_k")
	f(`"top_k": 10001`, "top_k")
	f(`"candidates": 0`, "candidates")
	f(`"offset": -1`, "offset")
	f(`"limit": 0`, "limit")
	f(`"vector": [1, 2, 3]`, "vector")
	f(`"minimum_should_match": "-3"`, "minimum_should_match")
	f(`"threshold": {"score": 1.5}`, "threshold.score")
	f(`"threshold": {"vector": -2}`, "threshold.vector")
	f(`"filter": {"a": {"near": 3}}`, "filter.a")
	f(`"filter": {"a": []}`, "filter.a")
	f(`"filter": {"a": null}`, "filter.a")
	f(`"filter": {"a": {"gte": 1, "lt": "x"}}`, "filter.a.lt")
	f(`"group_by": "author"`, "group_by")
	f(`"neighbours": 21`, "neighbours")
	f(`"client_id": "a\u0000"`, "client_id")
	f(`"session_id": "`+strings.Repeat("s", 257)+`"`, "session_id")
	f(`"highlight": {"fragment_size": 0}`, "highlight.fragment_size")
	f(`"facets": [""]`, "facets")
	f(`"facet_mode": "or"`, "facet_mode")
	f(`"copies": "drop"`, "copies")
	f(`"boosts": {"manuals": 0}`, "boosts.manuals")
	f(`"boosts": {"manuals": 100.5}`, "boosts.manuals")
	f(`"boosts": {"other": 2}`, "boosts")
	f(`"rerank": "best"`, "rerank")
	f(`"preset": "linear", "normalizer": "softmax"`, "normalizer")
}

func testExplain(b *bench) {
	b.fill("manuals", shelf()...)
	f := func(body, chunkID, outcome, detail string) {
		b.Helper()
		var req search.ExplainRequest
		if err := json.Unmarshal([]byte(`{"query": "refund", "knowledge_bases": ["manuals"], "vector": [1, 0, 0, 0], "chunk_id": "`+chunkID+`", `+body+`}`), &req); err != nil {
			b.Fatal(err)
		}
		r, err := b.searcher.Explain(b.Context(), scope, req)
		if err != nil {
			b.Errorf("%s %s: %v", brief.Of(body), chunkID, err)
			return
		}
		if r.Outcome != outcome || !strings.Contains(r.Detail, detail) {
			b.Errorf("%s %s: %s (%s), want %s (…%s…)", brief.Of(body), chunkID, r.Outcome, r.Detail, outcome, detail)
		}
	}
	f(`"preset": "rrf"`, "refund-en", search.OutcomeHit, "number 1")
	f(`"preset": "vector", "top_k": 1`, "invoice", search.OutcomeBeyondTopK, "number 3")
	f(`"preset": "vector"`, "nobody", search.OutcomeMissing, "no knowledge base")
	f(`"preset": "vector"`, "hidden", search.OutcomeHidden, "available")
	f(`"preset": "vector", "filter": {"category": "account"}`, "invoice", search.OutcomeFiltered, "category")
	f(`"preset": "text", "query": "refund -burrow"`, "bare", search.OutcomeFiltered, "excluded")
	f(`"preset": "text"`, "login", search.OutcomeCandidates, "no leg")
	f(`"preset": "vector", "threshold": {"vector": 0.9}`, "login", search.OutcomeThreshold, "threshold vector")
	f(`"preset": "vector", "threshold": {"relative": 0.95}`, "wombat", search.OutcomeThreshold, "threshold relative")
	f(`"preset": "vector", "group_by": "document_id"`, "invoice", search.OutcomeGrouped, "refund-zh")
}

func testAnalyzeShowsTheQuery(b *bench) {
	b.fill("manuals", shelf()...)
	r, err := b.searcher.Analyze(b.Context(), scope, search.Request{Query: "refund 退款 zyzzyva", KnowledgeBases: []string{"manuals"}, Preset: "script_score"})
	if err != nil {
		b.Fatal(err)
	}
	df, idf := map[string]int{}, map[string]float64{}
	for _, token := range r.Tokens {
		df[token.Text], idf[token.Text] = token.DF, token.IDF
		if token.Weight <= 0 {
			b.Errorf("token %s has weight %v; want token.Weight above 0", token.Text, token.Weight)
		}
	}
	if df["refund"] != 2 && df["refund"] != 3 || df["退款"] != 1 || r.Known <= 0 || r.Known >= 1 {
		b.Errorf(`document frequencies %v, known %v; want df["refund"] 2 or df["refund"] 3 and df["退款"] 1 and r.Known above 0 and r.Known below 1`, df, r.Known)
	}
	if !(idf["zyzzyva"] > idf["退款"] && idf["退款"] > idf["refund"] && idf["refund"] > 0) {
		b.Errorf("idf %v of document frequencies %v", idf, df)
	}
}

func testNeighbours(b *bench) {
	b.fill("manuals", shelf()...)
	r := b.answer(`{"query": "password", "knowledge_bases": ["manuals"], "preset": "text", "neighbours": 2}`)
	if len(r.Hits) != 1 || len(r.Hits[0].Neighbours) != 0 {
		b.Errorf("account has one chunk only: %+v; want 1 r.Hits and no r.Hits[0].Neighbours", r.Hits)
	}
	r = b.answer(`{"query": "invoices", "knowledge_bases": ["manuals"], "preset": "text", "neighbours": 1}`)
	if len(r.Hits) != 1 || len(r.Hits[0].Neighbours) != 1 || r.Hits[0].Neighbours[0].ID != "refund-en" || r.Hits[0].Neighbours[0].Distance != -1 {
		b.Errorf(`neighbours of invoice: %+v; want 1 r.Hits and 1 r.Hits[0].Neighbours and r.Hits[0].Neighbours[0].ID "refund-en" and r.Hits[0].Neighbours[0].Distance -1`, r.Hits)
	}
	var around []string
	r = b.answer(`{"query": "button", "knowledge_bases": ["manuals"], "preset": "text", "neighbours": 2}`)
	for _, neighbour := range r.Hits[0].Neighbours {
		around = append(around, neighbour.ID)
	}
	if got := strings.Join(around, " "); r.Hits[0].ID != "refund-en" || got != "refund-zh invoice" {
		b.Errorf("neighbours of %s: %s, want all but the hidden one", r.Hits[0].ID, got)
	}
}

// A hit that only its words found has a cosine too, and one that only its vector
// found a score of its words.
func testEveryHitHasItsCosine(b *bench) {
	b.fill("manuals", shelf()...)
	r := b.answer(`{"query": "wombat burrow", "vector": [1, 0, 0, 0], "knowledge_bases": ["manuals"], "preset": "rrf", "candidates": 3, "top_k": 3, "weights": {"text": 0.9, "vector": 0.1}}`)
	all := b.answer(`{"query": "wombat burrow", "vector": [1, 0, 0, 0], "knowledge_bases": ["manuals"], "preset": "linear", "candidates": 10}`)
	known := map[string][]scoring.Contribution{}
	for _, hit := range all.Hits {
		known[hit.ID] = hit.Legs
	}
	unranked := 0
	for _, hit := range r.Hits {
		for i, leg := range hit.Legs {
			want := known[hit.ID][i].Raw
			if leg.Rank == nil {
				unranked++
			}
			if (leg.Raw == nil) != (want == nil) || want != nil && math.Abs(*leg.Raw-*want) > 1e-5 {
				b.Errorf("%s by %s: raw %v, want %v", hit.ID, leg.Leg, leg.Raw, want)
			}
		}
	}
	if len(r.Hits) != 3 || unranked < 3 {
		b.Errorf("hits %s, %d not ranked by a leg", ids(r), unranked)
	}
}
