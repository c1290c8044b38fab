package bm25

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/textquery"
)

var update = flag.Bool("update", false, "ask the Elasticsearch at HYBRIDGE_TEST_ELASTICSEARCH_URL for new goldens")

// golden holds the scores that Elasticsearch gave to its chunks.
type golden struct {
	Version string        `json:"version"`
	Chunks  []string      `json:"chunks"`
	Queries []goldenQuery `json:"queries"`
}

type goldenQuery struct {
	Query  textquery.Query    `json:"query"`
	Scores map[uint32]float64 `json:"scores"`
}

const goldenFile = "testdata/elasticsearch.json"

func TestScoresAreThoseOfElasticsearch(t *testing.T) {
	if *update {
		updateGolden(t)
	}
	data, err := os.ReadFile(goldenFile)
	if err != nil {
		t.Fatal(err)
	}
	var g golden
	if err := json.Unmarshal(data, &g); err != nil {
		t.Fatal(err)
	}
	x := New(Options{})
	for i, text := range g.Chunks {
		if err := x.Add([]Doc{{Key: uint32(i), Tokens: strings.Fields(text)}}); err != nil {
			t.Fatal(err)
		}
	}
	for _, q := range g.Queries {
		seen := 0
		x.Snapshot().ScoreAll(t.Context(), &q.Query, func(key uint32, score float32) {
			seen++
			if want := q.Scores[key]; float64(score) < want*(1-1e-6) || float64(score) > want*(1+1e-6) {
				t.Errorf("%+v: chunk %d scores %v, in Elasticsearch %v", q.Query, key, score, want)
			}
		})
		if seen != len(q.Scores) {
			t.Errorf("%+v: %d chunks match, in Elasticsearch %d", q.Query, seen, len(q.Scores))
		}
	}
}

// goldenInput draws chunks and queries; phrases repeat words, with and without slop.
func goldenInput() golden {
	r := rand.New(rand.NewPCG(8, 19))
	words := strings.Fields("a b c d e f g h i j")
	word := func() string { return words[min(r.IntN(10), r.IntN(10))] }
	var g golden
	for range 120 {
		var tokens []string
		for range []int{0, 1, 3, 8, 20, 45, 90}[r.IntN(7)] {
			tokens = append(tokens, word())
		}
		g.Chunks = append(g.Chunks, strings.Join(tokens, " "))
	}
	phrase := func() textquery.Phrase {
		p := textquery.Phrase{Slop: r.IntN(5), Weight: float64(1+r.IntN(8)) / 4}
		for range 2 + r.IntN(3) {
			p.Terms = append(p.Terms, word())
		}
		return p
	}
	for range 70 {
		q := textquery.Query{MinimumMatch: 1}
		for _, i := range r.Perm(10)[:1+r.IntN(3)] {
			t := textquery.Term{Text: words[i], Weight: float64(1+r.IntN(8)) / 4}
			if r.IntN(3) == 0 {
				t.Synonyms = append(t.Synonyms, phrase())
			}
			q.Terms = append(q.Terms, t)
		}
		q.MinimumMatch = 1 + r.IntN(len(q.Terms))
		for range r.IntN(3) {
			q.Phrases = append(q.Phrases, phrase())
		}
		g.Queries = append(g.Queries, goldenQuery{Query: q})
	}
	return g
}

type object = map[string]any

// elasticQuery is the textquery's documented meaning as a bool query.
func elasticQuery(q textquery.Query) object {
	phrase := func(p textquery.Phrase) any {
		text := strings.Join(p.Terms, " ")
		return object{"match_phrase": object{"text": object{"query": text, "slop": p.Slop, "boost": p.Weight}}}
	}
	var terms []any
	for _, t := range q.Terms {
		any := []any{object{"term": object{"text": object{"value": t.Text, "boost": t.Weight}}}}
		for _, syn := range t.Synonyms {
			any = append(any, phrase(syn))
		}
		terms = append(terms, object{"dis_max": object{"queries": any}})
	}
	var phrases []any
	for _, p := range q.Phrases {
		phrases = append(phrases, phrase(p))
	}
	return object{"bool": object{
		"must":   object{"bool": object{"should": terms, "minimum_should_match": q.MinimumMatch}},
		"should": phrases,
	}}
}

func updateGolden(t *testing.T) {
	g := goldenInput()
	index := os.Getenv("HYBRIDGE_TEST_ELASTICSEARCH_URL") + "/bm25-golden"
	call := func(method, path string, body any, into any) {
		t.Helper()
		data, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		if method == http.MethodDelete {
			data = nil
		}
		req, err := http.NewRequestWithContext(t.Context(), method, index+path, bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || resp.StatusCode >= 300 {
			t.Fatal(resp.Status, string(answer), err)
		}
		if err := json.Unmarshal(answer, into); err != nil {
			t.Fatal(err)
		}
	}
	var ignored any
	defer http.DefaultClient.CloseIdleConnections()
	call("PUT", "", object{
		"settings": object{"number_of_shards": 1, "number_of_replicas": 0},
		"mappings": object{"properties": object{"text": object{"type": "text", "analyzer": "whitespace"}}},
	}, &ignored)
	defer call("DELETE", "", nil, &ignored)
	for i, text := range g.Chunks {
		doc := object{"text": text}
		call("PUT", fmt.Sprint("/_doc/", i, "?refresh=", i == len(g.Chunks)-1), doc, &ignored)
	}
	for i := range g.Queries {
		var found struct {
			Hits struct {
				Hits []struct {
					ID    uint32  `json:"_id,string"`
					Score float64 `json:"_score"`
				} `json:"hits"`
			} `json:"hits"`
		}
		call("POST", "/_search", object{"size": 1000, "query": elasticQuery(g.Queries[i].Query)}, &found)
		g.Queries[i].Scores = map[uint32]float64{}
		for _, h := range found.Hits.Hits {
			g.Queries[i].Scores[h.ID] = h.Score
		}
	}
	g.Version = "8.19.8"
	data, err := json.Marshal(g)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(goldenFile, append(data, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}
