package bm25

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/hybridge-search/hybridge/internal/deadline"
	"github.com/hybridge-search/hybridge/textquery"
)

// vocabularyOf names n words; the first are the most frequent.
func vocabularyOf(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("w%d", i)
	}
	return out
}

// drawDocs makes chunks with ascending keys from next on.
func drawDocs(t *rapid.T, next *uint32, most int) []Doc {
	words := vocabularyOf(9)
	var out []Doc
	for range rapid.IntRange(0, most).Draw(t, "chunks") {
		n := rapid.SampledFrom([]int{0, 1, 2, 3, 5, 8, 13, 30, 41, 70, 130}).Draw(t, "length")
		tokens := make([]string, n)
		for i := range tokens {
			tokens[i] = words[min(rapid.IntRange(0, 8).Draw(t, "a"), rapid.IntRange(0, 8).Draw(t, "b"))]
		}
		*next += uint32(rapid.IntRange(1, 3).Draw(t, "gap"))
		out = append(out, Doc{Key: *next, Tokens: tokens})
	}
	return out
}

func drawPhrase(t *rapid.T) textquery.Phrase {
	word := rapid.SampledFrom(append(vocabularyOf(9), "unknown"))
	return textquery.Phrase{
		Terms:  rapid.SliceOfN(word, 1, 4).Draw(t, "phrase"),
		Slop:   rapid.IntRange(0, 4).Draw(t, "slop"),
		Weight: rapid.Float64Range(.1, 3).Draw(t, "weight"),
	}
}

func drawQuery(t *rapid.T) *textquery.Query {
	q := &textquery.Query{}
	word := rapid.SampledFrom(append(vocabularyOf(9), "unknown"))
	for _, w := range rapid.SliceOfNDistinct(word, 1, 5, rapid.ID[string]).Draw(t, "terms") {
		term := textquery.Term{Text: w, Weight: rapid.Float64Range(.1, 3).Draw(t, "weight")}
		for range rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(t, "synonyms") {
			term.Synonyms = append(term.Synonyms, drawPhrase(t))
		}
		q.Terms = append(q.Terms, term)
	}
	for range rapid.SampledFrom([]int{0, 0, 1, 3}).Draw(t, "phrases") {
		q.Phrases = append(q.Phrases, drawPhrase(t))
	}
	q.MinimumMatch = rapid.IntRange(0, 3).Draw(t, "minimum")
	if average := rapid.SampledFrom([]float64{0, 0, 1, 20, 300}).Draw(t, "average"); average > 0 {
		q.Lengths = &textquery.Lengths{Average: average, Own: 7}
	}
	return q
}

// same compares float32 arithmetic with the plain formula.
func same(got float32, want float64) bool {
	return math.Abs(float64(got)-want) <= 2e-6*max(1, math.Abs(want))
}

// checkAgainst compares every way to score with the reference.
func checkAgainst(t interface {
	Context() context.Context
	Helper()
	Fatalf(string, ...any)
}, s *Snapshot, ref *reference, q *textquery.Query,
) {
	t.Helper()
	want := ref.all(q)
	var all []Hit
	s.ScoreAll(t.Context(), q, func(key uint32, score float32) { all = append(all, Hit{key, score}) })
	if len(all) != len(want) {
		t.Fatalf("ScoreAll gave %d chunks, want %d: %v, want %v", len(all), len(want), all, want)
	}
	keys := []uint32{0, 1 << 31}
	wantScores := []float32{0, 0}
	for i, h := range all {
		if w, ok := want[h.Key]; !ok || !same(h.Score, w) {
			t.Fatalf("chunk %d scores %v, want %v (matches: %v)", h.Key, h.Score, w, ok)
		}
		if i > 0 && all[i-1].Key >= h.Key {
			t.Fatalf("ScoreAll's keys do not ascend: %v", all)
		}
		keys = append(keys, h.Key)
		wantScores = append(wantScores, h.Score)
	}
	for key, dead := range ref.dead {
		if _, ok := want[key]; !ok || dead {
			keys, wantScores = append(keys, key), append(wantScores, 0)
		}
	}
	if got := s.Scores(t.Context(), q, keys); !slices.Equal(got, wantScores) {
		t.Fatalf("Scores(%v) = %v, want %v", keys, got, wantScores)
	}
	even := func(key uint32) bool { return key%2 == 0 }
	slices.SortFunc(all, compareHits)
	for _, k := range []int{1, 3, 10, len(all) + 1} {
		if got, want := s.Search(t.Context(), q, k, nil), all[:min(k, len(all))]; !slices.Equal(got, want) {
			t.Fatalf("Search(%d) = %v, want %v", k, got, want)
		}
		filtered := slices.DeleteFunc(slices.Clone(all), func(h Hit) bool { return !even(h.Key) })
		if got, want := s.Search(t.Context(), q, k, even), filtered[:min(k, len(filtered))]; !slices.Equal(got, want) {
			t.Fatalf("Search(%d, even) = %v, want %v", k, got, want)
		}
	}
}

func TestEveryWayToScoreAgreesWithTheReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := New(Options{
			Variant:          rapid.SampledFrom([]Variant{Lucene, Lucene, Okapi}).Draw(t, "variant"),
			WithoutPositions: rapid.SampledFrom([]bool{false, false, true}).Draw(t, "without positions"),
			LiveStatistics:   rapid.Bool().Draw(t, "live statistics"),
		})
		var docs []Doc
		var next uint32
		for range rapid.IntRange(1, 12).Draw(t, "batches") {
			var del []uint32
			if len(docs) > 0 {
				del = rapid.SliceOfN(rapid.Uint32Range(0, next), 0, 5).Draw(t, "deleted")
			}
			add := drawDocs(t, &next, 6)
			if err := x.Apply(add, del); err != nil {
				t.Fatal(err)
			}
			docs = append(docs, add...)
		}
		q := drawQuery(t)
		checkAgainst(t, x.Snapshot(), referenceOf(x.Snapshot(), docs), q)
		before := x.Snapshot().Keys()
		x.Compact()
		if s := x.Snapshot(); !s.Keys().Equals(before) || len(s.views) > 1 || s.Docs() != int(before.GetCardinality()) {
			t.Fatalf("Compact changed the keys from %v to %v", before, s.Keys())
		}
		ref := referenceOf(x.Snapshot(), docs)
		for key, dead := range ref.dead {
			if dead {
				t.Fatalf("the deleted chunk %d counts after Compact; want not dead", key)
			}
		}
		checkAgainst(t, x.Snapshot(), ref, q)
		p := drawPhrase(t)
		if p.Terms = p.Terms[:1+len(p.Terms)/2]; len(p.Terms) > 1 && x.opts.WithoutPositions {
			return
		}
		for _, d := range ref.docs {
			if got, want := x.Snapshot().Match(t.Context(), p).Contains(d.Key), phraseFrequency(d.Tokens, p) > 0; got != want {
				t.Fatalf("Match(%v) has %v: %v, want %v", p, d, got, want)
			}
		}
	})
}

// Weights outside the contract are no reason to fail, or to answer differently
// from the sum of all scores.
func TestStrangeWeights(t *testing.T) {
	for _, variant := range []Variant{Lucene, Okapi} {
		x := New(Options{Variant: variant})
		if err := x.Add(zipfDocs(5, 9000, 20, 40)); err != nil {
			t.Fatal(err)
		}
		for _, w := range []float64{0, -1, 1e-40, 1e38, math.NaN(), math.Inf(1), math.Inf(-1)} {
			q := termQuery("w0", "w1", "w9", "w20", "w30")
			q.Terms[0].Weight, q.Terms[3].Weight = w, w
			q.Phrases = []textquery.Phrase{{Terms: []string{"w9", "w1"}, Slop: -1, Weight: w}}
			var all []Hit
			x.Snapshot().ScoreAll(t.Context(), q, func(key uint32, score float32) { all = append(all, Hit{key, score}) })
			slices.SortFunc(all, compareHits)
			if got := x.Snapshot().Search(t.Context(), q, 50, nil); !slices.Equal(got, all[:50]) {
				t.Errorf("weight %v: Search = %v, want %v", w, got, all[:50])
			}
		}
	}
}

// zipfDocs makes n chunks of about mean tokens.
func zipfDocs(seed uint64, n, mean, words int) []Doc {
	r := rand.New(rand.NewPCG(seed, 1))
	z := rand.NewZipf(r, 1.07, 1, uint64(words-1))
	names := vocabularyOf(words)
	out := make([]Doc, n)
	for i := range out {
		tokens := make([]string, r.IntN(2*mean))
		for j := range tokens {
			tokens[j] = names[z.Uint64()]
		}
		out[i] = Doc{Key: uint32(i), Tokens: tokens}
	}
	return out
}

// Several windows and many blocks: the answer of the pruned search must be the
// best of all, whatever it skipped.
func TestPrunedSearchIsExact(t *testing.T) {
	docs := zipfDocs(1, 20_000, 20, 500)
	x := New(Options{})
	for batch := range slices.Chunk(docs, 7_000) {
		if err := x.Add(batch); err != nil {
			t.Fatal(err)
		}
	}
	var del []uint32
	for key := uint32(0); key < 20_000; key += 7 {
		del = append(del, key)
	}
	x.Delete(del)
	s := x.Snapshot()
	r := rand.New(rand.NewPCG(2, 2))
	for range 50 {
		q := randomQuery(r, 500)
		var all []Hit
		s.ScoreAll(t.Context(), q, func(key uint32, score float32) { all = append(all, Hit{key, score}) })
		slices.SortFunc(all, compareHits)
		for _, k := range []int{1, 10, 100} {
			if got, want := s.Search(t.Context(), q, k, nil), all[:min(k, len(all))]; !slices.Equal(got, want) {
				t.Fatalf("Search(%+v, %d) = %v, want %v", q, k, got, want)
			}
		}
	}
}

func randomQuery(r *rand.Rand, words int) *textquery.Query {
	z := rand.NewZipf(r, 1.01, 3, uint64(words-1))
	word := func() string { return fmt.Sprintf("w%d", z.Uint64()) }
	q := &textquery.Query{MinimumMatch: r.IntN(4)}
	for range 1 + r.IntN(6) {
		t := textquery.Term{Text: word(), Weight: .5 + r.Float64()}
		if r.IntN(3) == 0 {
			t.Synonyms = append(t.Synonyms, textquery.Phrase{Terms: []string{word()}, Weight: .8})
		}
		if r.IntN(5) == 0 {
			t.Synonyms = append(t.Synonyms, textquery.Phrase{Terms: []string{word(), word()}, Weight: 1.2, Slop: 1})
		}
		q.Terms = append(q.Terms, t)
	}
	for range r.IntN(3) {
		q.Phrases = append(q.Phrases, textquery.Phrase{Terms: []string{word(), word()}, Slop: r.IntN(3), Weight: 1.5})
	}
	return q
}

// endingContext ends when it was looked at so many times.
type endingContext struct {
	context.Context
	looks int
}

func (c *endingContext) Err() error {
	if c.looks--; c.looks < 0 {
		return context.DeadlineExceeded
	}
	return nil
}

// TestWorkEndsWithItsContext: every way to score looks at the context as often as there is
// a term, and no more is done when it has ended.
func TestWorkEndsWithItsContext(t *testing.T) {
	deadline.Set(t, time.Minute)
	x := New(Options{})
	for key := range uint32(3 * windowSize) {
		if err := x.Add([]Doc{{Key: key, Tokens: []string{"a", "b", "c"}}}); err != nil {
			t.Fatal(err)
		}
	}
	s, q := x.Snapshot(), termQuery("a", "b", "c")
	phrase := textquery.Phrase{Terms: []string{"a", "b"}}
	found := map[string]func(ctx context.Context) int{
		"Search": func(ctx context.Context) int { return len(s.Search(ctx, q, s.Docs(), nil)) },
		"ScoreAll": func(ctx context.Context) int {
			n := 0
			s.ScoreAll(ctx, q, func(uint32, float32) { n++ })
			return n
		},
		"Scores": func(ctx context.Context) int {
			scores := s.Scores(ctx, q, s.Keys().ToArray())
			return len(slices.DeleteFunc(scores, func(score float32) bool { return score == 0 }))
		},
		"Match": func(ctx context.Context) int { return int(s.Match(ctx, phrase).GetCardinality()) },
	}
	for name, run := range found {
		ending := &endingContext{t.Context(), 1 << 30}
		if n := run(ending); n != s.Docs() {
			t.Errorf("%s finds %d of %d", name, n, s.Docs())
		}
		looks := 1<<30 - ending.looks
		if n := run(&endingContext{t.Context(), looks - 1}); n == s.Docs() {
			t.Errorf("%s goes on after its context has ended", name)
		}
		if n := run(&endingContext{t.Context(), 0}); n != 0 {
			t.Errorf("%s finds %d when its context has ended before; want n 0", name, n)
		}
		if looks < 3 {
			t.Errorf("%s looks at its context %d times; want looks at least 3", name, looks)
		}
	}
}
