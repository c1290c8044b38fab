package analysis

import (
	"math"
	"slices"
	"strconv"
	"testing"
)

func near(a, b float64) bool { return math.Abs(a-b) < 1e-12 }

// idfOf is Lucene's idf of a word in ten chunks.
func idfOf(df float64) float64 { return math.Log(1 + (10-df+.5)/(df+.5)) }

// measured asks for the vocabulary of a question in ten chunks of these document frequencies.
func measured(q Query, synonyms Expander, r Rules, known map[string]int) (Vocabulary, Frequencies) {
	v := VocabularyOf(q, synonyms, r)
	f := Frequencies{Docs: 10}
	for _, word := range v.Words {
		f.DF = append(f.DF, known[word])
	}
	return v, v.Substituted(f)
}

// TestSubstitutes: a term that no chunk holds counts as its heaviest synonym that chunks
// may hold.
func TestSubstitutes(t *testing.T) {
	q := Parse("moggy eats kibble", words)
	synonyms := fixed{
		{Start: 0, End: 1, Terms: []string{"tomcat"}, Weight: 1}, // unknown itself
		{Start: 0, End: 1, Terms: []string{"cat"}, Weight: .5},
		{Start: 0, End: 1, Terms: []string{"pet"}, Weight: .5},
		{Start: 0, End: 1, Terms: []string{"animal"}, Weight: .25},
		{Start: 1, End: 2, Terms: []string{"animal"}, Weight: 1}, // of a known term
		{Start: 2, End: 3, Terms: []string{"cat", "food"}, Weight: 1},
	}
	df := map[string]int{"eats": 2, "cat": 3, "pet": 4, "animal": 9, "food": 1}
	rules := Rules{Weighting: TFIDF, SynonymBoost: .8}
	v, f := measured(q, synonyms, rules, df)
	if want := []string{"moggy", "eats", "kibble", "tomcat", "cat", "pet", "animal", "food"}; !slices.Equal(v.Words, want) {
		t.Errorf("words %v, want %v", v.Words, want)
	}
	scored := func(term int, share, idf, weight float64) {
		t.Helper()
		if s, i, w := f.Scored(term); !near(s, share) || !near(i, idf) || !near(w, weight) {
			t.Errorf("term %d scores by %v, %v, %v; want %v, %v, %v", term, s, i, w, share, idf, weight)
		}
	}
	scored(0, .4, idfOf(4), .8*.5) // pet, which is more frequent than cat
	scored(1, .2, idfOf(2), 1)
	scored(2, .1, idfOf(3)+idfOf(1), .8) // cat food, in at most the chunks that hold food
	if f.Of(0) != 0 || f.Of(2) != 0 {
		t.Errorf("unknown terms are in %v chunks; want f.Of(0) 0 and f.Of(2) 0", f.DF[:3])
	}
	if got := Known(q, f); got != 1 {
		t.Errorf("known %v; want got 1", got)
	}
	out := Compose(q, f, synonyms, rules)
	for i, df := range []float64{4, 2, 1} {
		if want := idfOf(df) / idfOf(1); !near(out.Terms[i].Weight, want) {
			t.Errorf("%s weighs %v, want %v", out.Terms[i].Text, out.Terms[i].Weight, want)
		}
	}
	// A query that keeps fewer terms keeps those that find something.
	rules.MaxTerms = 2
	if out = Compose(q, f, synonyms, rules); out.Terms[0].Text != "eats" || out.Terms[1].Text != "kibble" {
		t.Errorf(`kept %+v; want out.Terms[0].Text "eats" and out.Terms[1].Text "kibble"`, out.Terms)
	}
}

// TestNoSubstitutes: without synonyms that chunks may hold all is as it was.
func TestNoSubstitutes(t *testing.T) {
	q := Parse("moggy eats", words)
	f := func(synonyms Expander, r Rules, want ...string) {
		t.Helper()
		v, got := measured(q, synonyms, r, map[string]int{"eats": 2, "cat": 3})
		if !slices.Equal(v.Words, want) {
			t.Errorf("words %v, want %v", v.Words, want)
		}
		plain := Frequencies{Docs: 10, DF: []int{0, 2}}
		if a, b := Known(q, got), Known(q, plain); a != b {
			t.Errorf("known %v, want %v", a, b)
		}
		share, idf, weight := got.Scored(0)
		if share != 0 || idf != plain.IDF(0) || weight != 1 {
			t.Errorf("the unknown term scores by %v, %v, %v", share, idf, weight)
		}
	}
	boost := Rules{SynonymBoost: .8}
	f(nil, boost, "moggy", "eats")
	f(fixed{}, boost, "moggy", "eats")
	f(fixed{{Start: 0, End: 1, Terms: []string{"cat"}, Weight: 1}}, Rules{}, "moggy", "eats")
	f(fixed{{Start: 0, End: 1, Terms: []string{"tomcat"}, Weight: 1}}, boost, "moggy", "eats", "tomcat")
	f(fixed{{Start: 0, End: 1, Terms: []string{"cat", "flap"}, Weight: 1}}, boost, "moggy", "eats", "cat", "flap")
	// A synonym of several terms is divided among them, as in the text query.
	_, two := measured(q, fixed{{Start: 0, End: 2, Terms: []string{"cat"}, Weight: 1}}, boost, map[string]int{"cat": 3})
	if _, _, weight := two.Scored(1); !near(weight, .4) {
		t.Errorf("half of a synonym weighs %v", weight)
	}
}

// TestSynonymWordsAreBounded: a set of a great many synonyms asks for a bounded number.
func TestSynonymWordsAreBounded(t *testing.T) {
	var many fixed
	for i := range 2 * maxSynonymWords {
		many = append(many, Expansion{Start: 0, End: 1, Terms: []string{strconv.Itoa(i)}, Weight: 1})
	}
	v := VocabularyOf(Parse("moggy", words), many, Rules{SynonymBoost: 1, MaxSynonyms: len(many)})
	if len(v.Words) != 1+maxSynonymWords {
		t.Errorf("%d words; want 1 + maxSynonymWords v.Words", len(v.Words))
	}
}
