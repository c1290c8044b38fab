package search_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/search"
)

// manual is a document in three sections of small chunks; one of the first is hidden, one Ann's.
func manual() []engine.Chunk {
	titles := []string{"Refunds", "Refunds", "Refunds", "Refunds", "Delivery", "Delivery", "Refunds"}
	texts := []string{
		"Money comes back in three days.", "A refund needs the receipt.", "Refund fees are never charged.",
		"Ann's refund is special.", "Parcels leave on Mondays.", "Large parcels need a van.", "See refund above.",
	}
	chunks := make([]engine.Chunk, len(texts))
	for i := range chunks {
		chunks[i] = chunk(fmt.Sprintf("m%d", i), "manual", texts[i], 0.5, 0.1)
		chunks[i].Title, chunks[i].Ordinal = titles[i], i
	}
	chunks[0].Available = true
	chunks[3].Owner = "ann"
	hidden := chunk("m9", "manual", "A hidden refund.", 0.5, 0.1)
	hidden.Title, hidden.Ordinal, hidden.Available = "Refunds", 2, false
	named := []engine.Chunk{
		chunk("p0", "other", "First half of a refund.", 0.4, 0.1), chunk("p1", "other", "Second half.", 0.1, 0.4),
		chunk("p2", "other", "Another refund.", 0.4, 0.1),
	}
	for i := range named {
		named[i].Ordinal, named[i].Title = i, fmt.Sprintf("Part %d", i)
		named[i].Metadata = map[string]any{"parent_id": []string{"a", "a", "b"}[i]}
	}
	return append(append(chunks, hidden), named...)
}

func testParents(b *bench) {
	b.fill("k", manual()...)
	ask := func(more string) *search.Response {
		return b.answer(`{"query": "refund", "knowledge_bases": ["k"], "preset": "text", "copies": "keep", "return": "parent"` + more + `}`)
	}
	told := func(r *search.Response) string {
		var all []string
		for i := range r.Hits {
			p := r.Hits[i].Parent
			var children []string
			for _, c := range p.Children {
				children = append(children, c.ID)
			}
			if children[0] != r.Hits[i].ID || !strings.Contains(p.Content, r.Hits[i].Content) {
				b.Errorf("%s is not the first of %v in %q", r.Hits[i].ID, children, p.Content)
			}
			all = append(all, fmt.Sprintf("%s %d-%d of %d", p.Title, p.From, p.To, len(children)))
		}
		return strings.Join(all, "|")
	}
	whole := ask("")
	for _, want := range []string{"Refunds 0-3 of 4", "Refunds 6-6 of 1", "Part 0 0-1 of 1", "Part 2 2-2 of 1"} {
		if got := told(whole); len(whole.Hits) != 4 || !strings.Contains(got, want) {
			b.Errorf("%s, want %s", got, want)
		}
	}
	for i := range whole.Hits {
		p := whole.Hits[i].Parent
		if p.Title == "Refunds" && p.From == 0 && p.Content != "Money comes back in three days.\n\nA refund needs the receipt.\n\n"+
			"Refund fees are never charged.\n\nAnn's refund is special." {
			b.Errorf("content %q", p.Content)
		}
	}
	if got := told(ask(`, "filter": {"owner": {"not": "ann"}}`)); !strings.Contains(got, "Refunds 0-2 of 3") {
		b.Errorf("without Ann's: %s", got)
	}
	var paged []string
	for offset := range 5 {
		paged = append(paged, told(ask(fmt.Sprintf(`, "offset": %d, "limit": 1`, offset))))
	}
	if got := strings.Trim(strings.Join(paged, "|"), "|"); got != told(whole) {
		b.Errorf("page by page %s, at once %s", got, told(whole))
	}
	at := slices.IndexFunc(whole.Hits, func(h search.Hit) bool { return len(h.Parent.Children) > 1 })
	children := whole.Hits[at].Parent.Children
	merged := children[len(children)-1].ID
	why := b.explainChunk(`{"query": "refund", "knowledge_bases": ["k"], "preset": "text", "copies": "keep", "return": "parent"`, merged)
	if why.Outcome != search.OutcomeGrouped || !strings.Contains(why.Detail, "same section") {
		b.Errorf(`%s: %+v; want why.Outcome OutcomeGrouped and "same section" in it`, merged, why)
	}
	for body, field := range map[string]string{`"return": "page"`: "return", `"return": "parent", "top_k": 101`: "top_k"} {
		_, err := b.ask(`{"query": "refund", "knowledge_bases": ["k"], ` + body + `}`)
		if e := new(fault.Error); !errors.As(err, &e) || e.Field != field {
			b.Errorf("%s: %v, want an error of %s", brief.Of(body), err, field)
		}
	}
	b.longSection()
}

// longSection is larger than what is given: hits far from each other are hits of their own.
func (b *bench) longSection() {
	var chunks []engine.Chunk
	for i := range 40 {
		c := chunk(fmt.Sprintf("l%02d", i), "long", strings.Repeat("filler words ", 30), 0.1, 0.1)
		if i == 2 || i == 4 || i == 37 {
			c.Content = "wombat " + c.Content
		}
		c.Ordinal, c.Title = i, "One"
		chunks = append(chunks, c)
	}
	b.fill("long", chunks...)
	r := b.answer(`{"query": "wombat", "knowledge_bases": ["long"], "preset": "text", "copies": "keep", "return": "parent"}`)
	if len(r.Hits) != 2 {
		b.Fatalf("%d hits: %s; want 2 r.Hits", len(r.Hits), ids(r))
	}
	for i := range r.Hits {
		if p := r.Hits[i].Parent; len([]rune(p.Content)) > 4000 || p.To-p.From < 5 {
			b.Errorf("%d characters, %d-%d; want at most 4000 []rune(p.Content) and p.To - p.From at least 5", len([]rune(p.Content)), p.From, p.To)
		}
	}
}
