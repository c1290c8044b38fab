package search_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/filter"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/search"
)

// titled is a chunk with a title.
func titled(id, title, content string) engine.Chunk {
	c := chunk(id, "doc-"+id, content, 0.5, 0.2)
	c.Title = title
	return c
}

// typing are chunks of which some are not for everybody. No word of theirs may be told.
func typing() []engine.Chunk {
	hidden := titled("hidden", "Refusals nobody sees", "A refusenik reforms refunding. 退票秘密")
	hidden.Available = false
	owned := titled("owned", "Refuelling by Ann", "Refuelling the refinery.")
	owned.Owner = "ann"
	secret := titled("secret", "Reform of the secret plan", "Reformers meet. 退伍军人")
	secret.Metadata = map[string]any{"team": "secret"}
	return []engine.Chunk{
		titled("a", "Refund policy", "Customers may ask for refunds. Universities pay. Machine learning helps."),
		titled("b", "How to request a refund", "Open the order page. Refunds take three days. The university pays."),
		titled("c", "申请退款的流程", "在订单页面申请退款，三个工作日内到账。知识产权很有用。"),
		titled("d", "退貨說明", "退貨請聯絡客服。"),
		hidden, owned, secret,
	}
}

func (b *bench) suggested(in access.Scope, body string) string {
	b.Helper()
	var req search.SuggestRequest
	if err := json.Unmarshal([]byte(body), &req); err != nil {
		b.Fatal(err)
	}
	answer, err := b.searcher.Suggest(b.Context(), in, req)
	if err != nil {
		b.Fatalf("%s: %v", brief.Of(body), err)
	}
	if len(answer.Degraded) > 0 || answer.Suggestions == nil {
		b.Errorf("%s: %+v; want len(answer.Degraded) 0 and a answer.Suggestions", brief.Of(body), answer)
	}
	var list []string
	for _, s := range answer.Suggestions {
		list = append(list, fmt.Sprintf("%s:%s:%d", s.Kind, s.Text, s.Count))
	}
	return strings.Join(list, "|")
}

// public sees what is not of the team called secret.
var public = access.Scope{Tenant: "acme", Filter: []filter.Condition{
	{Field: "team", In: []filter.Value{{V: "secret"}}, Not: true},
}}

func testSuggestions(b *bench) {
	b.fill("k", typing()...)
	for query, want := range map[string]string{
		"refu":     "title:Refund policy:1|title:Refuelling by Ann:1|term:refund:2|term:Refuelling:1|title:How to request a refund:1",
		"refund p": "title:Refund policy:1|term:refund pay:2|term:refund page:1|term:refund policy:1",
		"退":        "title:退貨說明:1|term:退伍:1|term:退款:1|term:退貨:1|term:退伍军人:1|title:申请退款的流程:1",
		"申请退":      "title:申请退款的流程:1|term:申请退款:1",
		"退货":       "title:退貨說明:1",
		"zzz":      "",
		"?!":       "",
		"the":      "title:Reform of the secret plan:1",
	} {
		got := b.suggested(scope, `{"query": "`+query+`", "knowledge_bases": ["k"]}`)
		if got != want {
			b.Errorf("%s: %s\nwant %s", query, got, want)
		}
	}
	if got := b.suggested(scope, `{"query": "refu", "knowledge_bases": ["k"], "limit": 1}`); got != "title:Refund policy:1" {
		b.Errorf(`one: %s; want got "title:Refund policy:1"`, got)
	}
}

// testSuggestionsAreOfWhatIsSeen: whatever is typed, nothing of other chunks is told.
func testSuggestionsAreOfWhatIsSeen(b *bench) {
	b.fill("k", typing()...)
	for _, c := range []struct {
		in        access.Scope
		more      string
		forbidden []string
	}{
		{scope, ``, []string{"refusal", "refusenik", "refunding", "秘密", "nobody"}},
		{public, ``, []string{"refusal", "refusenik", "秘密", "reform", "退伍", "secret"}},
		{public, `, "filter": {"team": "secret"}`, []string{"ref", "退"}},
		{scope, `, "user": "ann"`, []string{"refund", "refusal", "reform", "退"}},
		{scope, `, "user": "bob"`, []string{"ref", "退"}},
		{scope, `, "filter": {"document_id": "doc-d"}`, []string{"ref", "退款", "退伍"}},
	} {
		for _, typed := range []string{"r", "re", "ref", "refu", "refus", "refuse", "reform", "退", "退票", "退伍", "n", "nobody", "s", "secr", "秘"} {
			got := b.suggested(c.in, `{"query": "`+typed+`", "knowledge_bases": ["k"], "limit": 50`+c.more+`}`)
			for _, word := range c.forbidden {
				if strings.Contains(strings.ToLower(got), word) {
					b.Errorf("%s%s of %v: %s", typed, c.more, c.in.Filter, got)
				}
			}
		}
	}
}

func testSuggestionsOfSeveral(b *bench) {
	b.fill("k", titled("a", "Refund policy", "Refund."), titled("b", "Other", "Refund."))
	b.fill("l", titled("a", "Refund policy", "Refund."))
	b.fillKind(engine.KindQA, "pairs", engine.Chunk{
		ID: "q", DocumentID: "faq", Available: true,
		QA: &engine.QA{Question: "Where is my refund?", Answer: "Under way."},
	})
	got := b.suggested(scope, `{"query": "refu", "knowledge_bases": ["l", "k", "pairs"]}`)
	if want := "title:Refund policy:2|term:Refund:4|question:Where is my refund?:1"; got != want {
		b.Errorf("%s, want %s", got, want)
	}
}

func testDidYouMean(b *bench) {
	b.fill("k", typing()...)
	b.fill("other", titled("x", "Refunt", "Kubernetes clusters"))
	for _, c := range []struct {
		in                access.Scope
		query, more, want string
	}{
		{scope, "refnud policy", ``, "refund policy"},
		{scope, "Refnud -policy  now", ``, "Refund -policy  now"},
		{scope, "how do univesrities pay", ``, "how do universities pay"},
		{scope, "machine lerning", ``, "machine learning"},
		{scope, "无线网路怎么用", ``, ""},
		{scope, "refund policy", ``, ""},
		{scope, "kubernets", ``, ""},
		{scope, "REFNUD", ``, ""},
		{scope, "my-refnud.com", ``, ""},
		{scope, "refnud2", ``, ""},
		{scope, "refusenek", ``, ""},                            // hidden
		{scope, "refinary", ``, "refinery"},                     // ann's
		{scope, "refinary", `, "user": "bob"`, ""},              // who is not ann
		{scope, "refinary", `, "user": "ann"`, "refinery"},      //
		{scope, "reformars", ``, "reformers"},                   // of a team
		{public, "reformars", ``, ""},                           // that is secret
		{scope, "reformars", `, "filter": {"team": "red"}`, ""}, //
	} {
		for _, preset := range []string{"balanced", "text"} {
			var req search.Request
			body := `{"query": "` + c.query + `", "vector": [0.5, 0.2, 0.3, 0], "did_you_mean": true, "knowledge_bases": ["k"], "preset": "` + preset + `"` + c.more + `}`
			if err := json.Unmarshal([]byte(body), &req); err != nil {
				b.Fatal(err)
			}
			r, err := b.searcher.Search(b.Context(), c.in, req)
			if err != nil {
				b.Fatal(err)
			}
			if preset == "text" && len(r.Hits) > 0 {
				continue // it has no statistics, and found something
			}
			if r.DidYouMean != c.want {
				b.Errorf("%s of %s: %q, want %q", preset, brief.Of(body), r.DidYouMean, c.want)
			}
		}
	}
	r := b.answer(`{"query": "refunt", "did_you_mean": true, "vector": [0.5, 0.2, 0.3, 0], "knowledge_bases": ["k", "other"]}`)
	if r.DidYouMean != "" {
		b.Errorf(`another knowledge base knows it: %q; want r.DidYouMean ""`, r.DidYouMean)
	}
	r = b.answer(`{"query": "kubernets refnud", "did_you_mean": true, "vector": [0.5, 0.2, 0.3, 0], "knowledge_bases": ["k", "other"]}`)
	if r.DidYouMean != "kubernets refund" { // the stem of kubernets is known
		b.Errorf(`of two: %q; want r.DidYouMean "kubernets refund"`, r.DidYouMean)
	}
	var forms []engine.Chunk
	for i := range 12 { // of which the first have another form
		form := "A score is a number."
		if i >= 8 {
			form = "Scores are compared."
		}
		forms = append(forms, chunk(fmt.Sprintf("form%02d", i), fmt.Sprintf("d%02d", i), form+fmt.Sprint(" Number ", i), 0.5, 0.1))
	}
	b.fill("forms", forms...)
	r = b.answer(`{"query": "how are scroes compared", "did_you_mean": true, "vector": [0.5, 0.2, 0.3, 0], "knowledge_bases": ["forms"]}`)
	if r.DidYouMean != "how are scores compared" {
		b.Errorf(`of a form of a word: %q; want r.DidYouMean "how are scores compared"`, r.DidYouMean)
	}
	if r = b.answer(`{"query": "refnud policy", "knowledge_bases": ["k"], "preset": "text"}`); r.DidYouMean != "" {
		b.Errorf(`nobody asked for %q; want r.DidYouMean ""`, r.DidYouMean)
	}
}

func TestSuggestRefusesBadInput(t *testing.T) {
	b := newBench(t, openEmbedded)
	b.fill("k", typing()...)
	for body, field := range map[string]string{
		`{"query": "", "knowledge_bases": ["k"]}`:                                 "query",
		`{"query": "` + strings.Repeat("a", 257) + `", "knowledge_bases": ["k"]}`: "query",
		`{"query": "a"}`: "knowledge_bases",
		`{"query": "a", "knowledge_bases": ["k"], "limit": 0}`:                     "limit",
		`{"query": "a", "knowledge_bases": ["k"], "limit": 51}`:                    "limit",
		`{"query": "a", "knowledge_bases": ["k"], "filter": {"team": {"foo": 1}}}`: "filter.team",
		`{"query": "a", "knowledge_bases": ["k"], "engine": "postgres"}`:           "engine",
	} {
		var req search.SuggestRequest
		if err := json.Unmarshal([]byte(body), &req); err != nil {
			t.Fatal(err)
		}
		_, err := b.searcher.Suggest(t.Context(), scope, req)
		if !fault.Is(err, fault.InvalidArgument) || !strings.Contains(fmt.Sprint(err), field) {
			t.Errorf("%s: %v", brief.Of(body), err)
		}
	}
	if _, err := b.searcher.Suggest(t.Context(), access.Scope{Tenant: "other"}, search.SuggestRequest{
		Query: "ref", KnowledgeBases: []string{"k"},
	}); !fault.Is(err, fault.NotFound) {
		t.Errorf("another tenant: %v; want an error of kind NotFound", err)
	}
}
