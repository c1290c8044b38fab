package search_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/search"
)

// threeSubjects are chunks of three subjects, near each other within one.
func threeSubjects() []engine.Chunk {
	var all []engine.Chunk
	for subject, at := range []float32{0.9, 0.55, 0.2} {
		for i := range 6 {
			id := fmt.Sprintf("%c%d", 'a'+subject, i)
			all = append(all, chunk(id, "d"+id, "A note on refunds, number "+id+".", at-float32(i)/200, 0))
		}
	}
	bare := chunk("bare", "d", "A note on refunds without a vector.", 0, 0)
	bare.Vectors = nil
	return append(all, bare)
}

func testDiversity(b *bench) {
	b.fill("k", threeSubjects()...)
	ask := func(more string) (order string, subjects int) {
		b.Helper()
		r := b.answerUnordered(`{"query": "refunds", "vector": [0.9, 0, 0.1, 0], "knowledge_bases": ["k"], "preset": "vector", "top_k": 6, "copies": "keep"` + more + `}`)
		seen := map[byte]bool{}
		for i := range r.Hits {
			h := &r.Hits[i]
			seen[h.ID[0]] = true
			if diverse := strings.Contains(more, "0.8"); (h.Diversity != nil) != diverse {
				b.Errorf("%s: %s has %+v", more, h.ID, h.Diversity)
			}
		}
		return ids(r), len(seen)
	}
	plain, subjects := ask("")
	if subjects != 1 {
		b.Errorf("the six nearest are of %d subjects: %s", subjects, plain)
	}
	if none, _ := ask(`, "diversity": 0`); none != plain {
		b.Errorf("diversity 0: %s, want %s", none, plain)
	}
	diverse, subjects := ask(`, "diversity": 0.8`)
	if subjects != 3 || diverse[:2] != plain[:2] {
		b.Errorf("diversity 0.8: %s", diverse)
	}
	whole := strings.Fields(diverse)
	r := b.answerUnordered(`{"query": "refunds", "vector": [0.9, 0, 0.1, 0], "knowledge_bases": ["k"], "preset": "vector", "top_k": 6,
		"copies": "keep", "diversity": 0.8, "offset": 2, "limit": 2}`)
	if got := ids(r); got != strings.Join(whole[2:4], " ") {
		b.Errorf("the second page is %s of %s", got, diverse)
	}
}

// answerUnordered is answer for answers whose order is not that of the scores.
func (b *bench) answerUnordered(body string) *search.Response {
	b.Helper()
	response, err := b.ask(body)
	if err != nil {
		b.Fatalf("%s: %v", brief.Of(body), err)
	}
	return response
}

func TestDiversityWithoutVectors(t *testing.T) {
	b := newBench(t, openEmbedded)
	chunks := shelf()
	for i := range chunks {
		chunks[i].Vectors = nil
	}
	b.fill("k", chunks...)
	r, err := b.ask(`{"query": "refund", "knowledge_bases": ["k"], "preset": "text", "diversity": 0.5}`)
	if err != nil || len(r.Hits) == 0 || len(r.Degraded) != 1 || r.Degraded[0].Leg != "diversity" {
		t.Errorf(`%v, %+v; want no error and some r.Hits and 1 r.Degraded and r.Degraded[0].Leg "diversity"`, err, r)
	}
}
