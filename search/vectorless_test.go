package search_test

import (
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/catalog"
)

// TestAKnowledgeBaseOfBeforeTheModel says so in every answer that would have had a vector leg,
// unless it was made to have none.
func TestAKnowledgeBaseOfBeforeTheModel(t *testing.T) {
	b := newBench(t, openEmbedded)
	none := 0
	for id, dimensions := range map[string]*int{"early": nil, "meant": &none} {
		if _, err := b.catalog.Create(t.Context(), scope, catalog.Spec{ID: id, Dimensions: dimensions}); err != nil {
			t.Fatal(err)
		}
	}
	said := func(kb, more string) string {
		t.Helper()
		var all []string
		for _, d := range b.answer(`{"query": "refund", "knowledge_bases": ["` + kb + `"]` + more + `}`).Degraded {
			all = append(all, d.Leg+" of "+d.KnowledgeBase+": "+d.Reason)
		}
		return strings.Join(all, "; ")
	}
	if got := said("early", ""); got != "" {
		t.Errorf("without a model: %s", got)
	}
	b.searcher.Embedder = &countingEmbedder{}
	if got := said("early", ""); !strings.HasPrefix(got, "vector of early: ") || !strings.Contains(got, "mappings plan") {
		t.Errorf(`with a model: %q; want one that begins with "vector of early: " and "mappings plan" in it`, got)
	}
	for _, silent := range []string{said("meant", ""), said("early", `, "preset": "text"`), said("early", `, "weights": {"text": 1, "vector": 0}`)} {
		if silent != "" {
			t.Errorf(`degraded: %s; want silent ""`, silent)
		}
	}
}
