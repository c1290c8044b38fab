package search_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/search"
)

// across fills two knowledge bases, one in each language of the plane. In the Chinese one
// the cosine of "beside" is larger than that of "answer", its evidence smaller.
func (b *bench) across() {
	b.searcher.Bank = plane{}
	told := func(id, language, content string, vector ...float32) engine.Chunk {
		c := chunk(id, id, content, 0, 0)
		c.Metadata, c.Vectors = map[string]any{"language": language}, map[string][]float32{engine.FieldVector: vector}
		return c
	}
	zh := []engine.Chunk{
		told("answer", "zh", "退款在三天内到账", 0.6, 0.6, 0, 0.52915), told("beside", "zh", "订单的页面", 0.9, 0.43589, 0, 0),
		told("gloves", "zh", "冬天的手套", 0.6, -0.6, 0, 0.52915),
	}
	en := []engine.Chunk{
		told("english", "en", "Gloves and hats", 0.8, 0, 0.6, 0), told("hats", "en", "Hats of winter", 0.8, 0.1, 0.59161, 0),
	}
	b.fill("zh", zh...)
	b.fill("en", en...)
	b.fill("both", append(zh, en...)...)
}

// testEvidenceAcrossLanguages: fusion takes the exact evidence of chunks in another
// language, classic presets take cosines as they are.
func testEvidenceAcrossLanguages(b *bench) {
	b.across()
	b.fill("empty")
	for _, where := range []string{`"zh"`, `"zh", "en"`, `"both"`, `"empty", "zh"`, `"zh", "en", "empty"`} {
		for preset, first := range map[string]string{
			"balanced": "answer", "linear": "answer", "rrf": "answer", "script_score": "beside", "vector": "beside",
		} {
			r := b.answer(`{"query": "when is my money back", "knowledge_bases": [` + where +
				`], "vector": [0.8, 0.6, 0, 0], "top_k": 10, "preset": "` + preset + `", "explain": true}`)
			if len(r.Hits) == 0 || r.Hits[0].ID != first {
				b.Errorf("%s over %s: %s, want %s first", preset, where, ids(r), first)
				continue
			}
			for i := range r.Hits {
				b.evident(r, &r.Hits[i], preset)
			}
			if preset == "balanced" {
				b.weighed(r)
			}
		}
	}
	// One candidate a leg is the best by evidence, not that of the largest cosine.
	r := b.answer(`{"query": "when is my money back", "knowledge_bases": ["zh"], "vector": [0.8, 0.6, 0, 0], "preset": "rrf", "candidates": 1, "top_k": 1}`)
	if ids(r) != "answer" || *r.Hits[0].Legs[1].Rank != 1 {
		b.Errorf(`the one candidate is %s; want ids(r) "answer" and *r.Hits[0].Legs[1].Rank 1`, ids(r))
	}
	// Thresholds on the cosine are on the cosine.
	r = b.answer(`{"query": "when is my money back", "knowledge_bases": ["zh"], "vector": [0.8, 0.6, 0, 0], "threshold": {"vector": 0.9}}`)
	if ids(r) != "beside" {
		b.Errorf("a cosine of at least 0.9 has %s", ids(r))
	}
	// The request says otherwise: the question is in the language of the chunks.
	r = b.answer(`{"query": "when is my money back", "language": "zh", "knowledge_bases": ["zh"], "vector": [0.8, 0.6, 0, 0]}`)
	if r.Hits[0].ID != "beside" || r.Hits[0].Legs[1].Evidence != nil {
		b.Errorf(`a question said to be in Chinese finds %s first; want r.Hits[0].ID "beside" and no r.Hits[0].Legs[1].Evidence`, r.Hits[0].ID)
	}
}

// testForeignAmongMany: the one chunk in another language is found, though those in the
// question's own have the larger cosines and take all places of the candidates.
func testForeignAmongMany(b *bench) {
	b.many()
	for _, preset := range []string{"balanced", "linear", "rrf"} {
		ask := func(filter string) *search.Response {
			return b.answer(`{"query": "when is my money back", "knowledge_bases": ["many"], "vector": [0.8, 0.6, 0, 0], "candidates": 50,
				"top_k": 5, "preset": "` + preset + `", "filter": {` + filter + `}}`)
		}
		if r := ask(""); len(r.Hits) == 0 || r.Hits[0].ID != "answer" || len(r.Degraded) > 0 {
			b.Errorf(`%s finds %s, degraded %+v; want some r.Hits and r.Hits[0].ID "answer" and len(r.Degraded) 0`, preset, ids(r), r.Degraded)
		}
		// Found by a word at first, it is found by its vector as well.
		r := b.answer(`{"query": "when is my 退款", "language": "en", "knowledge_bases": ["many"], "vector": [0.8, 0.6, 0, 0],
			"candidates": 50, "top_k": 5, "preset": "` + preset + `"}`)
		if l := r.Hits[0].Legs; r.Hits[0].ID != "answer" || l[0].Rank == nil || l[1].Rank == nil || *l[1].Rank != 1 {
			b.Errorf(`%s: %s is first, with %+v; want r.Hits[0].ID "answer" and a l[0].Rank and a l[1].Rank and *l[1].Rank 1`, preset, r.Hits[0].ID, l)
		}
		if r := ask(`"language": "en"`); strings.Contains(ids(r), "answer") {
			b.Errorf(`%s finds what the filter leaves out: %s; want no "answer" in it`, preset, ids(r))
		}
	}
}

// weighed: the explanation says by which rule the legs of each knowledge base weigh what
// they do, and the contributions have these weights, shared out.
func (b *bench) weighed(r *search.Response) {
	b.Helper()
	sums := map[string]float64{}
	for _, w := range r.Explain.Weights {
		sums[w.KnowledgeBase] += w.Weight
		want := w.Weight
		if c := w.Coverage; c != nil {
			want = c.Planned * math.Sqrt(c.Known*min(max(c.AverageLength, 42), 251)/134)
		}
		if (w.Coverage != nil) != (w.Rule == "coverage") || math.Abs(w.Weight-want) > 1e-12 {
			b.Errorf("%s weighs %v by %s, by its explanation %v", w.Leg, w.Weight, w.Rule, want)
		}
	}
	for _, h := range r.Hits {
		for _, l := range h.Legs {
			at := slices.IndexFunc(r.Explain.Weights, func(w search.WeightAccount) bool {
				return w.KnowledgeBase == h.KnowledgeBase && w.Leg == l.Leg
			})
			if want := r.Explain.Weights[at].Weight / sums[h.KnowledgeBase]; math.Abs(l.Weight-want) > 1e-12 {
				b.Errorf("%s of %s weighs %v, explained is %v; want math.Abs(l.Weight - want) at most 1e-12", l.Leg, h.ID, l.Weight, want)
			}
		}
	}
}

// many is one chunk in Chinese among 60 in English.
func (b *bench) many() {
	b.searcher.Bank = plane{}
	chunks := []engine.Chunk{chunk("answer", "answer", "退款在三天内到账", 0, 0)}
	chunks[0].Metadata = map[string]any{"language": "zh"}
	chunks[0].Vectors[engine.FieldVector] = []float32{0.6, 0.6, 0, 0.52915}
	for i := range 60 {
		c := chunk(fmt.Sprintf("hat%02d", i), "hats", "A hat of winter", 0, 0)
		c.Metadata = map[string]any{"language": "en"}
		c.Vectors[engine.FieldVector] = []float32{0.95, 0.2, 0.24 + float32(i)/1e4, 0}
		chunks = append(chunks, c)
	}
	b.fill("many", chunks...)
}

// oneSided is an approximate index that does not reach the chunks in Chinese, unless a filter
// leaves few enough to compare them all.
type oneSided struct{ engine.Engine }

func (s oneSided) Search(ctx context.Context, req *engine.Request) (*engine.Result, error) {
	if len(req.Filter.Conditions) > 0 || req.Filter.IDs != nil {
		return s.Engine.Search(ctx, req)
	}
	more := *req
	more.Legs = slices.Clone(req.Legs)
	for i := range more.Legs {
		more.Legs[i].K++ // for the one that is left out
	}
	result, err := s.Engine.Search(ctx, &more)
	if err == nil {
		result.Method = "hnsw"
		result.Hits = slices.DeleteFunc(result.Hits, func(h engine.Hit) bool { return h.ID == "answer" })
	}
	return result, err
}

// TestWhatAnIndexMisses: chunks in the smaller language are found, whether the question is
// in it or not.
func TestWhatAnIndexMisses(t *testing.T) {
	b := newBench(t, openEmbedded)
	b.many()
	b.searcher.Catalog = replaced{b.catalog, oneSided{b.engine}}
	for _, language := range []string{"zh", "en"} {
		r := b.answer(`{"query": "什么时候到账", "language": "` + language + `", "knowledge_bases": ["many"], "preset": "rrf",
			"vector": [0.7, 0.6, 0, 0.3], "candidates": 20, "top_k": 5}`)
		if len(r.Hits) == 0 || r.Hits[0].ID != "answer" {
			t.Errorf(`a question in %s finds %s; want some r.Hits and r.Hits[0].ID "answer"`, language, ids(r))
		}
	}
}

// evident: a hit in another language shows its exact evidence beside its cosine.
func (b *bench) evident(r *search.Response, h *search.Hit, preset string) {
	b.Helper()
	exact := map[string]float64{"answer": 1, "beside": 0.5828, "gloves": -1}
	for i := range h.Legs {
		l := &h.Legs[i]
		want, foreign := exact[h.ID]
		switch {
		case l.Leg != "vector" || l.Raw == nil:
			if l.Evidence != nil {
				b.Errorf("%s: leg %s of %s shows evidence; want no l.Evidence", preset, l.Leg, h.ID)
			}
		case foreign && (l.Evidence == nil || math.Abs(*l.Evidence-want) > 1e-3):
			b.Errorf("%s: %s has evidence %s, want %v", preset, h.ID, show(l.Evidence), want)
		case *h.VectorSimilarity != *l.Raw || *l.Raw > 1:
			b.Errorf("%s: %s has the cosine %v, its leg %v", preset, h.ID, *h.VectorSimilarity, *l.Raw)
		}
	}
	b.explained(r, h)
}

// blind is an engine that fails when it is asked about some chunks.
type blind struct{ engine.Engine }

func (b blind) Search(ctx context.Context, req *engine.Request) (*engine.Result, error) {
	if req.Filter.IDs != nil {
		return nil, fault.New(fault.Unavailable, "shut")
	}
	return b.Engine.Search(ctx, req)
}

// TestEvidenceMayFail: the line stands for it then, which is said.
func TestEvidenceMayFail(t *testing.T) {
	b := newBench(t, openEmbedded)
	b.across()
	b.searcher.Catalog = replaced{b.catalog, blind{b.engine}}
	r := b.answer(`{"query": "when is my money back", "knowledge_bases": ["zh"], "vector": [0.8, 0.6, 0, 0]}`)
	if len(r.Hits) != 3 || len(r.Degraded) != 1 || r.Degraded[0].Leg != "relevance" || !strings.Contains(r.Degraded[0].Reason, "shut") {
		t.Errorf(`%d hits, degraded %+v; want 3 r.Hits and 1 r.Degraded and r.Degraded[0].Leg "relevance" and "shut" in it`, len(r.Hits), r.Degraded)
	}
	if l := r.Hits[0].Legs[1]; r.Hits[0].ID != "beside" || l.Evidence == nil {
		t.Errorf(`by the line of the cosines %s is first, with %+v; want r.Hits[0].ID "beside" and a l.Evidence`, r.Hits[0].ID, l)
	}
}
