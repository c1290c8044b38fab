package search_test

import (
	"slices"
	"strings"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search"
)

// testObserve: what the legs say, fused as the plan says, is the answer of the search.
func testObserve(b *bench) {
	b.fill("kb", shelf()...)
	b.searcher.Embedder = &countingEmbedder{}
	for _, preset := range []string{"balanced", "rrf", "linear", "script_score", "text", "vector"} {
		req := search.Request{Query: "how to request a refund", KnowledgeBases: []string{"kb"}, Preset: preset}
		said, err := b.searcher.Observe(b.Context(), scope, req)
		if err != nil {
			b.Fatal(err)
		}
		for i := range said.Legs {
			if share := said.Shares[i]; said.Legs[i].Weight != said.Plan.Legs[i].Weight*share {
				b.Errorf("%s: leg %d weighs %v, planned %v times %v", preset, i, said.Legs[i].Weight,
					said.Plan.Legs[i].Weight, share)
			}
		}
		fused := said.Plan.Fusion.Fuse(said.Legs, said.Candidates)
		thresholds := scoring.Thresholds{Score: said.Plan.Threshold.Score, Relative: said.Plan.Threshold.Relative}
		kept, _ := thresholds.Cut(fused)
		var got, want []string
		for i := range kept[:min(len(kept), said.Plan.TopK)] {
			got = append(got, kept[i].ID())
		}
		answer, err := b.searcher.Search(b.Context(), scope, req)
		if err != nil {
			b.Fatal(err)
		}
		for i := range answer.Hits {
			want = append(want, answer.Hits[i].ID)
		}
		if !slices.Equal(got, want) {
			b.Errorf("%s: observed %v, found %v", preset, got, want)
		}
		if said.Apart != (preset == "balanced" || preset == "script_score") {
			b.Errorf("%s: taken apart is %v", preset, said.Apart)
		}
	}
}

func testObserveRefuses(b *bench) {
	b.fill("kb", shelf()...)
	f := func(want string, change func(r *search.Request)) {
		b.Helper()
		req := search.Request{Query: "refund", KnowledgeBases: []string{"kb"}}
		change(&req)
		_, err := b.searcher.Observe(b.Context(), scope, req)
		if !fault.Is(err, fault.InvalidArgument) || !strings.HasPrefix(err.Error(), want) {
			b.Errorf("%v, want %s", err, want)
		}
	}
	f("knowledge_bases", func(r *search.Request) { r.KnowledgeBases = []string{"kb", "kb2"} })
	f("queries", func(r *search.Request) { r.Queries = []string{"money back"} })
	f("everything", func(r *search.Request) { r.Everything, r.Query = true, "" })
	f("diversity", func(r *search.Request) { r.Diversity = new(0.5) })
	f("group_by", func(r *search.Request) { r.GroupBy = new(search.GroupByDocument) })
	f("preset", func(r *search.Request) { r.Preset = "ragflow" })
	f("text_required", func(r *search.Request) { r.Preset, r.TextRequired = "script_score", new(true) })
	f("threshold.relevance", func(r *search.Request) { r.Threshold.Relevance = new(0.1) })
	f("threshold.text", func(r *search.Request) { r.Threshold.Text = new(1.0) })
	f("threshold.vector", func(r *search.Request) { r.Threshold.Vector = new(0.1) })
	f("copies", func(r *search.Request) { r.Copies = search.CopiesFold })
	f("return", func(r *search.Request) { r.Return = search.ReturnParent })
	f("candidates", func(r *search.Request) { r.Preset, r.Candidates = "linear", new(201) })
	f("preset", func(r *search.Request) { r.Preset = "nonsense" })
}
