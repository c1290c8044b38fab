package bm25

import (
	"bytes"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/textquery"
)

// The corpus of the benchmarks: word frequencies fall as 1/rank^1.07 over 60,000
// words, lengths are lognormal(4.4, 0.5) within 10..500.
const (
	benchDocs  = 100_000
	benchWords = 60_000
)

type corpus struct {
	docs    []Doc
	queries []*textquery.Query
	text    int64 // UTF-8 bytes of the documents, tokens separated by a space
}

var benchCorpus = sync.OnceValue(func() *corpus {
	r := rand.New(rand.NewPCG(7, 7))
	cdf := make([]float64, benchWords)
	names := make([]string, benchWords)
	sum := 0.0
	for i := range cdf {
		sum += 1 / math.Pow(float64(i+1), 1.07)
		cdf[i] = sum
		names[i] = "w" + strconv.Itoa(i)
	}
	word := func(u float64) string { return names[min(sort.SearchFloat64s(cdf, u*sum), benchWords-1)] }
	c := &corpus{docs: make([]Doc, benchDocs)}
	for i := range c.docs {
		n := int(min(max(math.Exp(4.4+.5*r.NormFloat64()), 10), 500))
		tokens := make([]string, n)
		for j := range tokens {
			tokens[j] = word(r.Float64())
			c.text += int64(len(tokens[j])) + 1
		}
		c.docs[i] = Doc{Key: uint32(i), Tokens: tokens}
	}
	for range 300 {
		q := &textquery.Query{}
		for len(q.Terms) < 6 {
			w := word(math.Pow(r.Float64(), .8))
			if !slices.ContainsFunc(q.Terms, func(t textquery.Term) bool { return t.Text == w }) {
				q.Terms = append(q.Terms, textquery.Term{Text: w, Weight: 1})
			}
		}
		c.queries = append(c.queries, q)
	}
	return c
})

var benchIndex = sync.OnceValue(func() *Index {
	x := New(Options{})
	if err := x.Add(benchCorpus().docs); err != nil {
		panic(err)
	}
	return x
})

// percentiles reports p50 and p99 over the queries, of each the best of all rounds:
// what the code takes, without what else the machine does.
func percentiles(b *testing.B, queries []*textquery.Query, run func(*textquery.Query)) {
	took := make([]time.Duration, 0, len(queries))
	for b.Loop() {
		for i, q := range queries {
			start := time.Now()
			run(q)
			if d := time.Since(start); i == len(took) {
				took = append(took, d)
			} else {
				took[i] = min(took[i], d)
			}
		}
	}
	slices.Sort(took)
	at := func(p int) float64 { return float64(took[len(took)*p/100].Microseconds()) }
	b.ReportMetric(at(50), "p50-µs")
	b.ReportMetric(at(99), "p99-µs")
}

func BenchmarkSearch(b *testing.B) {
	s := benchIndex().Snapshot()
	with := func(change func(*textquery.Query)) (out []*textquery.Query) {
		for _, q := range benchCorpus().queries {
			c := *q
			change(&c)
			out = append(out, &c)
		}
		return out
	}
	kinds := map[string][]*textquery.Query{
		"terms":   benchCorpus().queries,
		"minimum": with(func(q *textquery.Query) { q.MinimumMatch = 2 }),
		"phrases": with(func(q *textquery.Query) {
			for i := range q.Terms[1:] {
				q.Phrases = append(q.Phrases, textquery.Phrase{
					Terms: []string{q.Terms[i].Text, q.Terms[i+1].Text}, Slop: 2, Weight: 1.5,
				})
			}
		}),
	}
	for _, kind := range []string{"terms", "minimum", "phrases"} {
		b.Run(kind, func(b *testing.B) {
			percentiles(b, kinds[kind], func(q *textquery.Query) { s.Search(b.Context(), q, 100, nil) })
		})
	}
}

func BenchmarkScoreAll(b *testing.B) {
	s := benchIndex().Snapshot()
	percentiles(b, benchCorpus().queries, func(q *textquery.Query) {
		s.ScoreAll(b.Context(), q, func(uint32, float32) {})
	})
}

func BenchmarkBuild(b *testing.B) {
	docs := benchCorpus().docs
	for b.Loop() {
		if err := New(Options{}).Add(docs); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMerge(b *testing.B) {
	docs := benchCorpus().docs
	views := []*view{}
	for batch := range slices.Chunk(docs, benchDocs/8) {
		seg, err := buildSegment(batch, Options{}.withDefaults())
		if err != nil {
			b.Fatal(err)
		}
		views = append(views, newView(seg))
	}
	for b.Loop() {
		mergeViews(views, Options{}.withDefaults())
	}
}

func BenchmarkStored(b *testing.B) {
	for name, o := range map[string]Options{"positions": {}, "without": {WithoutPositions: true}} {
		x := New(o)
		if err := x.Add(benchCorpus().docs); err != nil {
			b.Fatal(err)
		}
		var buf bytes.Buffer
		if _, err := x.Snapshot().WriteTo(&buf); err != nil {
			b.Fatal(err)
		}
		b.Run("read/"+name, func(b *testing.B) {
			for b.Loop() {
				if _, err := Read(buf.Bytes(), o); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(100*float64(buf.Len())/float64(benchCorpus().text), "%-of-text")
			b.ReportMetric(float64(x.Snapshot().Bytes())/1e6, "MB-memory")
		})
		b.Run("write/"+name, func(b *testing.B) {
			for b.Loop() {
				if _, err := x.Snapshot().WriteTo(io.Discard); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
