package search_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/analysis/tokens"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/filter"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/rules"
	"github.com/hybridge-search/hybridge/search"
)

// book has the rules of knowledge bases.
type book map[string]*rules.Set

func (b book) For(kb engine.Ref) *rules.Set { return b[kb.ID] }

// ruled gives a knowledge base these rules.
func (b *bench) ruled(kb, list string) {
	b.Helper()
	set, err := rules.Parse(list, b.searcher.Analyzer.(rules.Analyzer))
	if err != nil {
		b.Fatal(err)
	}
	if b.searcher.Rules == nil {
		b.searcher.Rules = book{}
	}
	b.searcher.Rules.(book)[kb] = set
}

const onManuals = `"knowledge_bases": ["manuals"], "vector": [1, 0, 0, 0]`

// pins are the hits, those that are pinned with their rules.
func pins(r *search.Response) string {
	var list []string
	for _, hit := range r.Hits {
		if hit.Pinned != nil {
			list = append(list, hit.Pinned.Rule+":"+hit.ID)
		} else {
			list = append(list, hit.ID)
		}
	}
	return strings.Join(list, " ")
}

// withPins searches, and holds the hits that are not pinned to the score contract; those of a
// diverse answer have an order of their own.
func (b *bench) withPins(body string) *search.Response {
	b.Helper()
	r, err := b.ask("{" + body + "}")
	if err != nil {
		b.Fatalf("%s: %v", brief.Of(body), err)
	}
	rest := *r
	rest.Hits = slices.DeleteFunc(slices.Clone(r.Hits), func(h search.Hit) bool { return h.Pinned != nil || h.Diversity != nil })
	b.holds(&rest)
	return r
}

// hasPins compares the hits.
func (b *bench) hasPins(body, want string) *search.Response {
	b.Helper()
	r := b.withPins(body)
	if got := pins(r); got != want {
		b.Errorf("%s\n got %s\nwant %s", brief.Of(body), got, want)
	}
	return r
}

func testPins(b *bench) {
	b.fill("manuals", shelf()...)
	b.ruled("manuals", `[
		{"name": "night", "when": {"match": "contains", "queries": ["refund"]}, "pin": [{"chunk_id": "wombat"}, {"document_id": "account"}]},
		{"name": "late", "when": {"match": "exact", "queries": ["Refunds!"]}, "pin": [{"chunk_id": "invoice"}, {"chunk_id": "wombat"}]},
		{"name": "off", "enabled": false, "when": {"match": "contains", "queries": ["refund"]}, "pin": [{"chunk_id": "bare"}]}]`)
	for preset := range passagePresets() {
		found := b.answer(`{` + onManuals + `, "query": "refund", "rules": false, "top_k": 20, "preset": "` + preset + `"}`)
		scores := map[string]search.Hit{}
		want := "night:wombat night:login late:invoice"
		for _, hit := range found.Hits {
			scores[hit.ID] = hit
			if id := hit.ID; id != "wombat" && id != "login" && id != "invoice" {
				want += " " + id
			}
		}
		r := b.hasPins(onManuals+`, "query": "refund", "top_k": 20, "preset": "`+preset+`"`, want)
		if most := max(len(found.Hits), 3); r.Total.Value < most || r.Total.Value != len(r.Hits) || r.MaxScore != found.MaxScore {
			b.Errorf("%s: total %+v of %d hits, max_score %v", preset, r.Total, len(r.Hits), r.MaxScore)
		}
		for _, hit := range r.Hits {
			was := scores[hit.ID] // zero where no leg found it
			sum := 0.0
			for _, leg := range hit.Legs {
				sum += leg.Contribution
			}
			if hit.Score != was.Score || hit.RawScore != was.RawScore || hit.RawScore != sum || hit.Content == "" {
				b.Errorf("%s: %s has score %v, raw %v; without rules %v, %v", preset, hit.ID, hit.Score, hit.RawScore, was.Score, was.RawScore)
			}
		}
	}
	b.hasPins(onManuals+`, "query": "refund", "preset": "text", "rules": false`, "refund-en bare")
	b.hasPins(onManuals+`, "query": "refund button", "preset": "text"`, "night:wombat night:login refund-en bare")
	b.hasPins(onManuals+`, "query": "password", "preset": "text"`, "login")
	b.hasPins(onManuals+`, "query": "refund -burrow", "preset": "text"`, "night:wombat night:login late:invoice refund-en")
}

// A pinned document shows its best chunk, also where that is pinned by itself.
func testPinnedDocuments(b *bench) {
	b.fill("manuals", shelf()...)
	rule := func(pin, hide string) {
		b.ruled("manuals", `[{"name": "r", "when": {"match": "contains", "queries": ["refund", "password"]}, "pin": `+pin+`, "hide": `+hide+`}]`)
	}
	ask := func(query, want string) {
		b.Helper()
		b.hasPins(onManuals+`, "preset": "text", "query": "`+query+`"`, want)
	}
	rule(`[{"document_id": "billing"}]`, `[]`)
	ask("refund", "r:refund-en bare")
	ask("password", "r:refund-zh login") // the first one: no leg found any
	rule(`[{"document_id": "billing"}, {"chunk_id": "refund-en"}, {"document_id": "absent"}, {"chunk_id": "absent"}]`, `[]`)
	ask("refund", "r:refund-en bare")
	rule(`[{"document_id": "billing"}]`, `[{"chunk_id": "refund-zh"}]`)
	ask("password", "r:refund-en login")
	rule(`[{"document_id": "billing"}, {"chunk_id": "hidden"}]`, `[{"chunk_id": "refund-en"}]`)
	ask("refund", "r:refund-zh bare")
}

func testHides(b *bench) {
	b.fill("manuals", shelf()...)
	b.ruled("manuals", `[
		{"name": "chunk", "when": {"match": "contains", "queries": ["refund"]}, "hide": [{"chunk_id": "refund-en"}, {"chunk_id": "absent"}]},
		{"name": "document", "when": {"match": "contains", "queries": ["burrow"]}, "hide": [{"document_id": "animals"}], "pin": [{"chunk_id": "wombat"}]}]`)
	for preset := range passagePresets() {
		without := b.answer(`{` + onManuals + `, "query": "refund burrow", "rules": false, "top_k": 20, "preset": "` + preset + `"}`)
		r := b.answer(`{` + onManuals + `, "query": "refund burrow", "top_k": 20, "preset": "` + preset + `"}`)
		gone := 0
		for _, hit := range without.Hits {
			if hit.ID == "refund-en" || hit.DocumentID == "animals" {
				gone++
			}
		}
		if gone == 0 || r.Total.Value != without.Total.Value-gone || strings.Contains(ids(r), "refund-en") ||
			slices.ContainsFunc(r.Documents, func(d search.DocumentCount) bool { return d.DocumentID == "animals" }) {
			b.Errorf("%s: hits %s of %+v; without rules %s", preset, pins(r), r.Total, ids(without))
		}
	}
	r := b.hasPins(onManuals+`, "query": "refund burrow", "preset": "text"`, "")
	if r.Empty != "filter" {
		b.Errorf(`empty says %q; want r.Empty "filter"`, r.Empty)
	}
	r = b.hasPins(onManuals+`, "query": "refund -burrow invoices", "preset": "text", "neighbours": 3`, "invoice")
	for _, n := range r.Hits[0].Neighbours {
		if n.ID == "refund-en" {
			b.Error("a hidden chunk is a neighbour")
		}
	}
}

func testRulesMatch(b *bench) {
	b.fill("manuals", shelf()...)
	b.searcher.Synonyms = thesaurus{"moneyback": "refund", "退钱": "退款"}
	f := func(match, phrase, query string, matches bool) {
		b.Helper()
		text, _ := json.Marshal(phrase)
		b.ruled("manuals", `[{"name": "r", "when": {"match": "`+match+`", "queries": [`+string(text)+`]}, "pin": [{"chunk_id": "wombat"}]}]`)
		text, _ = json.Marshal(query)
		r, err := b.ask(`{` + onManuals + `, "preset": "vector", "query": ` + string(text) + `}`)
		if err != nil {
			b.Fatal(err)
		}
		if got := r.Hits[0].Pinned != nil; got != matches {
			b.Errorf("%s %q, asked %q: matches %t", match, phrase, query, got)
		}
	}
	f("exact", "how do I return it", "How do I return it?", true)
	f("exact", "how do I return it", "ＨＯＷ do I return it", true)
	f("exact", "how do I return it", "how do I return it today", false)
	f("exact", "return", "returning", true)
	f("contains", "request a refund", "may I request a refund now?", true)
	f("contains", "request a refund", "request now a refund", false)
	f("contains", "refund", "moneyback please", false)
	f("expanded", "refund please", "moneyback please", true)
	f("expanded", "refund please", "a refund, please", true)
	f("expanded", "refund please", "moneyback now please", false)
	f("exact", "退款", "退款？", true)
	f("exact", "申請退款", "申请退款", true)
	f("contains", "退款", "如何申请退款", true)
	f("contains", "申请退款", "怎樣申請退款呢", true)
	f("contains", "退款", "如何退钱", false)
	f("expanded", "退款", "如何退钱", true)
}

// Pins never show what the caller may not see.
func testPinsAreOfWhatIsSeen(b *bench) {
	chunks := shelf()
	chunks[4].Owner = "anna" // the wombat's
	b.fill("manuals", chunks...)
	b.ruled("manuals", `[{"name": "r", "when": {"match": "contains", "queries": ["invoices"]},
		"pin": [{"chunk_id": "wombat"}, {"chunk_id": "hidden"}, {"document_id": "account"}]}]`)
	const invoices = onManuals + `, "query": "invoices", "preset": "text"`
	b.hasPins(invoices, "r:wombat r:login invoice")
	b.hasPins(invoices+`, "filter": {"category": "account"}`, "r:login")
	b.hasPins(invoices+`, "filter": {"page": {"gte": 2, "lt": 4}}`, "r:login invoice")
	b.hasPins(invoices+`, "user": "anna"`, "r:wombat")
	b.hasPins(invoices+`, "user": "bert"`, "")
	of := func(category string) string {
		b.Helper()
		bound := scope
		bound.Filter = []filter.Condition{{Field: "category", In: []filter.Value{{V: category}}}}
		r, err := b.searcher.Search(b.Context(), bound, search.Request{
			Query: "invoices", KnowledgeBases: []string{"manuals"}, Preset: "text", Explain: true,
		})
		if err != nil {
			b.Fatal(err)
		}
		if len(r.Explain.Rules) != 1 || len(r.Explain.Rules[0].Hidden) != 0 {
			b.Errorf("explain tells a bound key %+v; want 1 r.Explain.Rules and no r.Explain.Rules[0].Hidden", r.Explain.Rules)
		}
		return pins(r)
	}
	if got := of("animals"); got != "r:wombat" {
		b.Errorf(`a key for animals gets %s; want got "r:wombat"`, got)
	}
	if got := of("billing"); got != "invoice" {
		b.Errorf(`a key for billing gets %s; want got "invoice"`, got)
	}
	if _, err := b.searcher.Search(b.Context(), access.Scope{Tenant: "rival"}, search.Request{
		Query: "invoices", KnowledgeBases: []string{"manuals"},
	}); !fault.Is(err, fault.NotFound) {
		b.Errorf("another tenant: %v; want an error of kind NotFound", err)
	}
}

// Pages neither repeat nor lose a hit, and pins are part of top_k.
func testPagesOfPins(b *bench) {
	b.fill("manuals", shelf()...)
	b.ruled("manuals", `[{"name": "r", "when": {"match": "contains", "queries": ["refund"]},
		"pin": [{"chunk_id": "wombat"}, {"chunk_id": "refund-en"}, {"chunk_id": "login"}]}]`)
	for preset := range passagePresets() {
		body := onManuals + `, "query": "refund", "preset": "` + preset + `", "top_k": 4`
		whole, err := b.ask("{" + body + "}")
		if err != nil || len(whole.Hits) != 4 || !strings.HasPrefix(pins(whole), "r:wombat r:refund-en r:login ") {
			b.Fatalf(`%s: %s, %v; want no error and 4 whole.Hits and one that begins with "r:wombat r:refund-en r:login "`, preset, pins(whole), err)
		}
		var paged []string
		for offset := range 4 {
			page, err := b.ask(fmt.Sprintf(`{%s, "offset": %d, "limit": 1}`, body, offset))
			if err != nil || len(page.Hits) != 1 || page.Total != whole.Total {
				b.Fatalf("%s: page %d of %+v, %v", preset, offset, page, err)
			}
			paged = append(paged, pins(page))
		}
		if got := strings.Join(paged, " "); got != pins(whole) {
			b.Errorf("%s: pages %s of %s", preset, got, pins(whole))
		}
	}
	b.hasPins(onManuals+`, "query": "refund", "preset": "text", "top_k": 2`, "r:wombat r:refund-en")
}

func testPinsOfSeveral(b *bench) {
	b.fill("manuals", shelf()...)
	b.fill("other", chunk("far", "billing", "A refund takes a week.", 0.2, 0.2), chunk("note", "notes", "Nothing of it.", 0.1, 0.1),
		chunk("invoice", "billing", "Another invoice, of the same id.", 0.3, 0.1))
	b.ruled("other", `[{"name": "o", "when": {"match": "contains", "queries": ["refund"]}, "pin": [{"chunk_id": "note"}], "hide": [{"chunk_id": "invoice"}]}]`)
	both := `"query": "refund", "vector": [1, 0, 0, 0], "top_k": 20, "knowledge_bases": ["manuals", "other"], "preset": `
	for preset := range passagePresets() {
		r, err := b.ask(`{` + both + `"` + preset + `"}`)
		if err != nil || r.Hits[0].ID != "note" || r.Hits[0].Pinned == nil || strings.Count(pins(r), "note") != 1 {
			b.Fatalf(`%s: %s, %v; want no error and r.Hits[0].ID "note" and a r.Hits[0].Pinned and strings.Count(pins(r), "note") 1`, preset, pins(r), err)
		}
		for _, hit := range r.Hits[1:] {
			if hit.Pinned != nil || hit.ID == "invoice" && hit.KnowledgeBase == "other" {
				b.Errorf(`%s: %s of %s; want no hit.Pinned and hit.ID other than "invoice" or hit.KnowledgeBase other than "other"`, preset, hit.ID, hit.KnowledgeBase)
			}
		}
	}
	b.ruled("manuals", `[{"name": "m", "when": {"match": "contains", "queries": ["refund"]}, "pin": [{"chunk_id": "invoice"}]}]`)
	b.hasPins(both+`"text"`, "m:invoice o:note far refund-en bare")
	b.hasPins(both+`"text", "boosts": {"manuals": 5}`, "m:invoice o:note refund-en bare far")
}

func testThresholdsSparePins(b *bench) {
	b.fill("manuals", shelf()...)
	b.ruled("manuals", `[{"name": "r", "when": {"match": "contains", "queries": ["refund"]}, "pin": [{"chunk_id": "wombat"}, {"chunk_id": "bare"}]}]`)
	ask := func(preset, threshold, want string) {
		b.Helper()
		b.hasPins(onManuals+`, "query": "refund", "preset": "`+preset+`", "threshold": `+threshold, want)
	}
	ask("vector", `{"vector": 0.9}`, "r:wombat r:bare refund-zh refund-en")
	ask("vector", `{"relative": 0.95}`, "r:wombat r:bare refund-zh refund-en")
	ask("vector", `{"score": 0.99}`, "r:wombat r:bare refund-zh refund-en")
	ask("text", `{"text": 100}`, "r:wombat r:bare")
	ask("rrf", `{"vector": 0.9}`, "r:wombat r:bare refund-en refund-zh")
	b.searcher.Bank = plane{}
	ask("vector", `{"answerable": 1}`, "r:wombat r:bare")
	ask("vector", `{"relevance": 1}`, "r:wombat r:bare")
}

// What puts an answer in another order, or several chunks together, keeps pins in front.
func testPinsStayInFront(b *bench) {
	chunks := append(shelf(), chunk("refund-copy", "copies", "To request a refund open the order page and press the refund button.", 0.8, 0.1))
	b.fill("manuals", chunks...)
	rule := func(pin string) {
		b.ruled("manuals", `[{"name": "r", "when": {"match": "contains", "queries": ["refund"]}, "pin": `+pin+`}]`)
	}
	rule(`[{"chunk_id": "wombat"}, {"chunk_id": "invoice"}]`)
	b.hasPins(onManuals+`, "query": "refund", "preset": "vector", "group_by": "document_id"`, "r:wombat r:invoice refund-copy login")
	rule(`[{"chunk_id": "wombat"}, {"chunk_id": "refund-copy"}]`)
	r := b.hasPins(onManuals+`, "query": "refund", "preset": "vector", "copies": "fold"`, "r:wombat r:refund-copy refund-zh invoice login")
	if copies := r.Hits[1].Copies; len(copies) != 1 || copies[0].ID != "refund-en" {
		b.Errorf(`copies %+v; want 1 copies and copies[0].ID "refund-en"`, copies)
	}
	rule(`[{"chunk_id": "wombat"}, {"chunk_id": "login"}]`)
	r = b.withPins(onManuals + `, "query": "refund", "preset": "vector", "diversity": 0.5, "top_k": 4`)
	if !strings.HasPrefix(pins(r), "r:wombat r:login ") || r.Hits[0].Diversity != nil || r.Hits[2].Diversity == nil {
		b.Errorf(`a diverse answer: %s; want one that begins with "r:wombat r:login " and no r.Hits[0].Diversity and a r.Hits[2].Diversity`, pins(r))
	}
	b.searcher.Rerankers = map[string]search.Reranker{"by length": byLength{}}
	r = b.withPins(onManuals + `, "query": "refund", "preset": "vector", "rerank": "by length"`)
	if !strings.HasPrefix(pins(r), "r:wombat r:login ") || r.Hits[0].Rerank == nil || r.Hits[0].Score != r.Hits[0].Rerank.Score {
		b.Errorf("a reranked answer: %s, %+v", pins(r), r.Hits[0].Rerank)
	}
	b.hasPins(onManuals+`, "query": "refund", "preset": "vector", "rerank": "by length", "threshold": {"score": 1}`, "r:wombat r:login")
	b.hasPins(onManuals+`, "query": "refund", "preset": "text", "rerank": {"name": "by length", "window": 1}`, "r:wombat r:login refund-copy refund-en bare")
}

// Of pairs that are alike the pinned one stands for the others.
func testPinnedPairs(b *bench) {
	copied := func(id, question string, q float32) engine.Chunk {
		c := pair(id, question, "the answer of "+id, q, 0)
		c.DocumentID, c.Group = "faq", "g"
		return c
	}
	b.fillKind(engine.KindQA, "faq", copied("best", "refund", 0.9), copied("copy", "refund", 0.8), copied("other", "refund?", 0.6))
	b.ruled("faq", `[{"name": "r", "when": {"match": "exact", "queries": ["refund"]}, "pin": [{"chunk_id": "copy"}]}]`)
	b.hasPins(`"query": "refund", "knowledge_bases": ["faq"], "vector": [1, 0, 0, 0], "preset": "qa_balanced"`, "r:copy other")
}

// byLength is a reranker that likes long texts.
type byLength struct{}

func (byLength) Rerank(_ context.Context, _ string, texts []string) ([]float64, error) {
	scores := make([]float64, len(texts))
	for i, text := range texts {
		scores[i] = float64(len(text)) / 1000
	}
	return scores, nil
}

func testExplainedRules(b *bench) {
	b.fill("manuals", shelf()...)
	b.ruled("manuals", `[
		{"name": "night", "when": {"match": "contains", "queries": ["refund"]}, "pin": [{"chunk_id": "wombat"}, {"chunk_id": "hidden"}]},
		{"name": "never", "when": {"match": "exact", "queries": ["refund me"]}, "pin": [{"chunk_id": "login"}]},
		{"name": "away", "when": {"match": "contains", "queries": ["refund"]}, "hide": [{"chunk_id": "bare"}, {"document_id": "account"}]}]`)
	r := b.withPins(onManuals + `, "query": "refund", "preset": "text", "explain": true, "offset": 1`)
	want := []search.AppliedRule{
		{KnowledgeBase: "manuals", Rule: "night", Pinned: []string{"wombat"}, Hidden: []rules.Target{}},
		{KnowledgeBase: "manuals", Rule: "away", Pinned: []string{}, Hidden: []rules.Target{{ChunkID: "bare"}, {DocumentID: "account"}}},
	}
	if got, _ := json.Marshal(r.Explain.Rules); string(got) != string(asJSON(want)) {
		b.Errorf("explain has %s, want %s", brief.Of(got), brief.Of(asJSON(want)))
	}
	f := func(chunkID, outcome, detail string) {
		b.Helper()
		var req search.ExplainRequest
		if err := json.Unmarshal([]byte(`{`+onManuals+`, "query": "refund", "preset": "text", "chunk_id": "`+chunkID+`"}`), &req); err != nil {
			b.Fatal(err)
		}
		r, err := b.searcher.Explain(b.Context(), scope, req)
		if err != nil || r.Outcome != outcome || !strings.Contains(r.Detail, detail) {
			b.Errorf("%s: %+v, %v; want %s (…%s…)", chunkID, r, err, outcome, detail)
		}
	}
	f("wombat", search.OutcomeHit, `number 1 of the answer, where the rule "night" pins it`)
	f("refund-en", search.OutcomeHit, "number 2")
	f("bare", search.OutcomeFiltered, `the rule "away" hides the chunk`)
	f("login", search.OutcomeFiltered, `the rule "away" hides the chunk`)
	f("hidden", search.OutcomeHidden, "available")
	if r := b.withPins(onManuals + `, "query": "password", "preset": "text", "explain": true`); r.Explain.Rules != nil {
		b.Errorf("no rule matches, and explain has %+v; want no r.Explain.Rules", r.Explain.Rules)
	}
}

func asJSON(v any) []byte {
	text, _ := json.Marshal(v)
	return text
}

// As much as rules may ask of one question is asked: 10,000 hides and more pins than apply.
func testManyRules(b *bench) {
	b.fill("manuals", shelf()...)
	var all []string
	for i := range 101 {
		var hides []string
		for n := range 50 {
			hides = append(hides, fmt.Sprintf(`{"chunk_id": "c%d-%d"}, {"document_id": "d%d-%d"}`, i, n, i, n))
		}
		pin := fmt.Sprintf(`{"document_id": "absent-%d"}, {"chunk_id": "absent-%d"}`, i, i)
		switch i {
		case 49:
			pin = `{"chunk_id": "wombat"}`
		case 99:
			hides[0] = `{"chunk_id": "refund-en"}, {"document_id": "account"}`
		case 60, 100:
			pin = `{"chunk_id": "invoice"}` // beyond what applies
		}
		all = append(all, fmt.Sprintf(`{"name": "r%d", "when": {"match": "contains", "queries": ["refund"]}, "pin": [%s], "hide": [%s]}`,
			i, pin, strings.Join(hides, ", ")))
	}
	b.ruled("manuals", "["+strings.Join(all, ", ")+"]")
	for preset, want := range map[string]string{"text": "r49:wombat bare", "vector": "r49:wombat refund-zh invoice"} {
		b.hasPins(onManuals+`, "query": "refund", "preset": "`+preset+`"`, want)
	}
}

// Facets and totals count what rules pin, also where a facet is counted without its filter.
func testPinsAreCounted(b *bench) {
	b.fill("manuals", shelf()...)
	b.ruled("manuals", `[{"name": "r", "when": {"match": "contains", "queries": ["refund"]}, "pin": [{"chunk_id": "login"}, {"chunk_id": "wombat"}]}]`)
	r := b.hasPins(onManuals+`, "query": "refund", "preset": "text", "facets": ["category"], "facet_mode": "disjunctive",
		"filter": {"category": "animals"}`, "r:wombat")
	if facet := r.Facets["category"]; !slices.Equal(facet, []search.FacetCount{
		{Value: "account", Count: 1}, {Value: "animals", Count: 1}, {Value: "billing", Count: 1},
	}) || r.Total.Value != 1 || len(r.Documents) != 1 {
		b.Errorf("facets %+v, total %+v, documents %+v", r.Facets, r.Total, r.Documents)
	}
}

// Pins of knowledge bases that are ranked side by side have the scores of their own.
func TestPinsOfWhatCannotBePooled(t *testing.T) {
	b := newBench(t, openEmbedded)
	b.fill("passages", shelf()...)
	b.fillKind(engine.KindQA, "pairs", faq()...)
	body := `"query": "refund", "knowledge_bases": ["passages", "pairs"], "vector": [1, 0, 0, 0], "top_k": 20`
	plain := b.withPins(body)
	last := plain.Hits[len(plain.Hits)-1]
	b.ruled(last.KnowledgeBase, `[{"name": "r", "when": {"match": "exact", "queries": ["refund"]}, "pin": [{"chunk_id": "`+last.ID+`"}]}]`)
	for _, more := range []string{``, `, "threshold": {"vector": 0.5}`, `, "threshold": {"score": 0.9}`} {
		r := b.withPins(body + more)
		first := r.Hits[0]
		if first.ID != last.ID || first.Pinned == nil || first.Score != last.Score || r.MergedBy != plain.MergedBy {
			t.Errorf("%s: %s of score %v, without rules %v", more, pins(r), first.Score, last.Score)
		}
	}
}

// lost is an engine that cannot read chunks.
type lost struct{ engine.Engine }

func (lost) DocumentChunks(context.Context, engine.DocumentChunksRequest) ([]engine.Chunk, error) {
	return nil, fault.New(fault.Unavailable, "out of order")
}

// Pins that cannot be read cost nothing but themselves, and the answer says so.
func TestPinsThatCannotBeRead(t *testing.T) {
	b := newBench(t, func(t *testing.T, analyzer *tokens.Analyzer) engine.Engine { return lost{openEmbedded(t, analyzer)} })
	b.fill("manuals", shelf()...)
	b.ruled("manuals", `[{"name": "r", "when": {"match": "contains", "queries": ["refund"]}, "pin": [{"document_id": "account"}]}]`)
	r := b.hasPins(onManuals+`, "query": "refund", "preset": "text"`, "refund-en bare")
	if len(r.Degraded) != 1 || r.Degraded[0].Leg != "rules" || r.Degraded[0].KnowledgeBase != "manuals" {
		t.Errorf(`degraded %+v; want 1 r.Degraded and r.Degraded[0].Leg "rules" and r.Degraded[0].KnowledgeBase "manuals"`, r.Degraded)
	}
}

// Without rules for its knowledge bases a search asks and answers what it always did.
func TestWithoutRulesNothingChanges(t *testing.T) {
	b := newBench(t, openEmbedded)
	b.fill("manuals", shelf()...)
	b.fill("other", chunk("far", "billing", "A refund takes a week.", 0.2, 0.2))
	plain := func() string {
		r := b.answer(`{` + onManuals + `, "query": "refund", "preset": "rrf", "explain": true}`)
		r.QueryID, r.TookMS, r.Timings = "", 0, search.Timings{}
		return string(asJSON(r))
	}
	before := plain()
	b.ruled("other", `[{"name": "r", "when": {"match": "contains", "queries": ["refund"]}, "pin": [{"chunk_id": "far"}]}]`)
	b.ruled("manuals", `[]`)
	if after := plain(); after != before {
		t.Errorf("got %s\nwant %s", after, before)
	}
}
