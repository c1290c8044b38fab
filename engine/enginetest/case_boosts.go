package enginetest

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/textquery"
)

// boostCases hold engines to BM25F: parts of the text that count more.
func boostCases() []testCase {
	return []testCase{
		{"boosts/of parts", boostedParts},
		{"boosts/of parts that are not kept", boostsOfUnkeptParts},
	}
}

// parted are chunks that have the words of a question in different parts.
func parted() []engine.Chunk {
	one := func(id, title, content string, keywords, questions []string) engine.Chunk {
		return engine.Chunk{
			ID: id, DocumentID: "d", Title: title, Content: content, Available: true,
			ImportantKeywords: keywords, Questions: questions,
		}
	}
	return []engine.Chunk{
		one("title", "refund policy", "how the shop pays its customers back after a long wait", nil, nil),
		one("content", "the shop", "a refund is a refund is a refund of the money", nil, nil),
		one("keyword", "payment", "the money comes back to the card", []string{"refund", "money back"}, nil),
		one("question", "orders", "the page shows all of them", nil,
			[]string{"how do I ask for a refund of an order", "refund when"}),
		one("twice", "refund as refund", "refund of an order for the shop", []string{"refund"}, nil),
		one("other", "coffee", "water and beans for the machine", []string{"espresso"}, []string{"how much water"}),
	}
}

func boostedParts(t *testing.T, s *suite) {
	b := s.base(t, schema{Boosts: map[string]float64{
		engine.PartTitle: 3, engine.PartContent: 1, engine.PartKeywords: 5, engine.PartQuestions: 2,
	}})
	chunks := parted()
	b.write(chunks...)
	order := textquery.Phrase{Terms: []string{"order"}, Weight: 0.3}
	query := &textquery.Query{Terms: []textquery.Term{
		{Text: "refund", Weight: 1},
		{Text: "money", Weight: 0.5, Synonyms: []textquery.Phrase{order}},
		{Text: "shop", Weight: 0.25},
	}, Phrases: []textquery.Phrase{{Terms: []string{"refund", "of"}, Weight: 0.2}}}
	for _, by := range []map[string]float64{
		{engine.PartTitle: 3},
		{engine.PartKeywords: 5},
		{engine.PartContent: 4},
		{engine.PartTitle: 2.5, engine.PartKeywords: 5, engine.PartQuestions: 2},
	} {
		leg := engine.Leg{Name: "text", Field: engine.FieldText, K: 10, Text: query}
		for _, part := range engine.Parts() {
			if by[part] != 0 {
				leg.Boosts = append(leg.Boosts, engine.Boost{Part: part, By: by[part]})
			}
		}
		want := newBM25F(chunks, by).scores(query)
		legs := []engine.Leg{leg}
		result := b.search(engine.Request{Legs: legs})
		sameScores(t, fmt.Sprint(by), result, want)
		sameScores(t, fmt.Sprint("sum by ", by), b.search(engine.Request{
			Legs: legs, Sum: &engine.Sum{Candidates: 10, Weights: []float64{2}},
		}), want)
		sameScores(t, fmt.Sprint("filtered by ", by), b.search(engine.Request{
			Legs: legs, Filter: engine.Filter{IDs: []string{"keyword", "other"}},
		}), map[string]float64{"keyword": want["keyword"]})
		slices.SortFunc(result.Hits, func(x, y engine.Hit) int { return x.Observations[0].Rank - y.Observations[0].Rank })
		for i, h := range result.Hits[1:] {
			if result.Hits[i].Observations[0].Raw < h.Observations[0].Raw {
				t.Errorf("%v: %s before %s", by, result.Hits[i].ID, h.ID)
			}
		}
	}
	b.keepsLists(chunks)
}

// keepsLists wants keywords and questions back.
func (b *base) keepsLists(chunks []engine.Chunk) {
	b.t.Helper()
	stored, err := b.engine.Chunks(b.t.Context(), engine.ChunksRequest{KB: b.kb, IDs: []string{"question", "twice"}})
	if err != nil || len(stored) != 2 {
		b.t.Fatalf("%+v, %v", stored, err)
	}
	for i := range stored {
		c := &chunks[slices.IndexFunc(chunks, func(c engine.Chunk) bool { return c.ID == stored[i].ID })]
		if !slices.Equal(stored[i].Questions, c.Questions) ||
			!slices.Equal(stored[i].ImportantKeywords, c.ImportantKeywords) {
			b.t.Errorf("stored %+v, want %+v", stored[i], c)
		}
	}
}

func alike(a, b float64) bool { return math.Abs(a-b) <= 1e-4*max(1, math.Abs(b)) }

func sameScores(t *testing.T, what string, r *engine.Result, want map[string]float64) {
	t.Helper()
	got := map[string]float64{}
	for i := range r.Hits {
		got[r.Hits[i].ID] = r.Hits[i].Observations[0].Raw
	}
	for id, score := range want {
		if !alike(got[id], score) {
			t.Errorf("%s: %s has %v, want %v", what, id, got[id], score)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%s: found %v, want %v", what, got, want)
	}
}

// bm25f is the formula as it is written, over texts of lengths that one byte holds exactly.
type bm25f struct {
	chunks  []engine.Chunk
	fields  map[string]float64 // what each text field counts: the whole 1, a part its boost less 1
	average float64            // length
	whole   float64            // average length without boosts
}

func newBM25F(chunks []engine.Chunk, by map[string]float64) *bm25f {
	r := &bm25f{chunks: chunks, fields: map[string]float64{engine.FieldText: 1}}
	for part, boost := range by {
		r.fields[part] = boost - 1
	}
	n := float64(len(chunks))
	for i := range chunks {
		r.average += r.length(&chunks[i])
		r.whole += float64(len(tokensOf(&chunks[i], engine.FieldText))) / n
	}
	r.average = math.Floor(r.average) / n // Lucene counts whole tokens
	return r
}

func tokensOf(c *engine.Chunk, field string) []string { return Words{}.Terms(c.FieldText(field)) }

func timesIn(c *engine.Chunk, field, term string) (n float64) {
	for _, token := range tokensOf(c, field) {
		if token == term {
			n++
		}
	}
	return n
}

func (r *bm25f) length(c *engine.Chunk) (n float64) {
	for field, boost := range r.fields {
		n += boost * float64(len(tokensOf(c, field)))
	}
	return n
}

func (r *bm25f) idf(term string) float64 {
	n, df := float64(len(r.chunks)), 0.0
	for i := range r.chunks {
		if timesIn(&r.chunks[i], engine.FieldText, term) > 0 {
			df++
		}
	}
	return math.Log(1 + (n-df+0.5)/(df+0.5))
}

func saturatedBy(f, length, average float64) float64 {
	const k1, b = 1.2, 0.75
	return f * (k1 + 1) / (f + k1*(1-b+b*length/average))
}

func (r *bm25f) term(c *engine.Chunk, word string, weight float64) float64 {
	f := 0.0
	for field, boost := range r.fields {
		f += boost * timesIn(c, field, word)
	}
	if f == 0 {
		return 0
	}
	return weight * r.idf(word) * saturatedBy(f, math.Round(r.length(c)), r.average)
}

// phrase is of the whole text, without boosts.
func (r *bm25f) phrase(c *engine.Chunk, p textquery.Phrase) float64 {
	words, n, weight := tokensOf(c, engine.FieldText), 0.0, 0.0
	for at := 0; at+len(p.Terms) <= len(words); at++ {
		if slices.Equal(words[at:at+len(p.Terms)], p.Terms) {
			n++
		}
	}
	for _, word := range p.Terms {
		weight += r.idf(word)
	}
	if n == 0 {
		return 0
	}
	return p.Weight * weight * saturatedBy(n, float64(len(words)), r.whole)
}

// scores holds the scores of the matching chunks.
func (r *bm25f) scores(q *textquery.Query) map[string]float64 {
	all := map[string]float64{}
	for i := range r.chunks {
		c, sum := &r.chunks[i], 0.0
		for _, t := range q.Terms {
			best := r.term(c, t.Text, t.Weight)
			for _, s := range t.Synonyms {
				best = max(best, r.term(c, s.Terms[0], s.Weight))
			}
			sum += best
		}
		if sum == 0 {
			continue
		}
		for _, p := range q.Phrases {
			sum += r.phrase(c, p)
		}
		all[c.ID] = sum
	}
	return all
}

func boostsOfUnkeptParts(t *testing.T, s *suite) {
	b := s.base(t, schema{})
	b.write(parted()...)
	result, err := b.engine.Search(t.Context(), &engine.Request{KB: b.kb, Legs: []engine.Leg{{
		Name: "text", Field: engine.FieldText, K: 10, Boosts: []engine.Boost{{Part: engine.PartTitle, By: 3}},
		Text: &textquery.Query{Terms: []textquery.Term{{Text: "refund", Weight: 1}}},
	}}})
	if err == nil && result.Legs[0].Err == nil {
		t.Error("a part that is not indexed by itself was boosted")
	}
	ids := []string{}
	refund := &textquery.Query{Terms: []textquery.Term{{Text: "refund", Weight: 1}}}
	found := b.search(engine.Request{Legs: []engine.Leg{{Name: "text", Field: engine.FieldText, K: 10, Text: refund}}})
	for i := range found.Hits {
		ids = append(ids, found.Hits[i].ID)
	}
	slices.Sort(ids)
	if want := []string{"content", "keyword", "question", "title", "twice"}; !slices.Equal(ids, want) {
		t.Errorf("found %v, want %v: keywords and questions are searched with the text", ids, want)
	}
}
