package resultcache_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/filter"
	"github.com/hybridge-search/hybridge/search"
)

// owned adds a chunk of another owner to that of u, and one that nobody finds.
func (b *bench) owned() {
	b.Helper()
	chunks := []engine.Chunk{
		{ID: "c2", DocumentID: "d-c2", Content: "A refund of another.", Available: true, Owner: "v", Metadata: map[string]any{"n": 2.0}},
		{ID: "c3", DocumentID: "d-c3", Content: "A hidden refund.", Owner: "u"},
	}
	req := engine.WriteRequest{KB: b.kb, Chunks: chunks, Refresh: true}
	if outcomes, err := b.engine.Write(b.Context(), req); err != nil || outcomes[0].Err != nil || outcomes[1].Err != nil {
		b.Fatal(err, outcomes)
	}
}

func is(field, value string, not bool) filter.Condition {
	return filter.Condition{Field: field, In: []filter.Value{{V: value}}, Not: not}
}

// seen are scopes of one tenant, and what each finds of the same question.
var seen = []struct {
	name   string
	filter []filter.Condition
	bases  []string
	want   string
}{
	{"everything", nil, nil, "c1 c2"},
	{"of u", []filter.Condition{is("owner", "u", false)}, nil, "c1"},
	{"of v", []filter.Condition{is("owner", "v", false)}, nil, "c2"},
	{"not of u", []filter.Condition{is("owner", "u", true)}, nil, "c2"},
	{"of another field", []filter.Condition{is("document_id", "u", false)}, nil, ""},
	{"of both", []filter.Condition{is("owner", "u", false), is("document_id", "d-c1", false)}, nil, "c1"},
	{"of one twice", []filter.Condition{is("owner", "u", false), is("document_id", "d-c2", false)}, nil, ""},
	{"of a document", []filter.Condition{is("document_id", "d-c2", false)}, nil, "c2"},
	{"of knowledge bases", nil, []string{"manuals"}, "c1 c2"},
}

// TestWhatAScopeSees: who asks the same question gets no answer of those who see something else: not from memory, not
// from one computation for several, and counts neither.
func TestWhatAScopeSees(t *testing.T) {
	b := newBench(t)
	b.owned()
	asked := refund
	asked.Facets = []string{"owner"}
	s := b.keep(nil)
	look := func(name string, filter []filter.Condition, bases []string, want string) {
		scope := access.Scope{Tenant: "acme", Filter: filter, KnowledgeBases: bases}
		for _, ask := range []func(context.Context, access.Scope, search.Request) (*search.Response, error){s.Search, s.SearchShared} {
			r, err := ask(context.WithoutCancel(b.Context()), scope, asked)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			text, err := r.AppendJSON(nil)
			if err != nil {
				t.Error(err)
			}
			var shown search.Response
			if err := json.Unmarshal(text, &shown); err != nil {
				t.Error(err)
			}
			var got []string
			for _, hit := range shown.Hits {
				got = append(got, hit.ID)
			}
			slices.Sort(got)
			if strings.Join(got, " ") != want || shown.Total.Value != len(got) || len(shown.Facets["owner"]) != len(got) {
				t.Errorf("%s finds %v of %d, owners %v; want %q", name, got, shown.Total.Value, shown.Facets["owner"], want)
			}
		}
	}
	for range 2 { // computed, and kept
		for _, who := range seen {
			look(who.name, who.filter, who.bases, who.want)
		}
	}
	// All at once, while none is kept.
	s = b.keep(nil)
	var together sync.WaitGroup
	for _, who := range seen {
		together.Go(func() { look(who.name+", at once", who.filter, who.bases, who.want) })
	}
	together.Wait()
}
