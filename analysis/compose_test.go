package analysis

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/brief"
)

// words are the tokens of a text: what stands between spaces.
func words(text string) (tokens []Token) {
	at := 0
	for word := range strings.FieldsSeq(text) {
		at += strings.Index(text[at:], word)
		tokens = append(tokens, Token{Text: word, Start: at, End: at + len(word), Position: len(tokens)})
		at += len(word)
	}
	return tokens
}

// frequenciesOf gives each term of a query its document frequency.
func frequenciesOf(q Query, known map[string]int) []int {
	df := make([]int, len(q.Terms))
	for i, term := range q.Terms {
		df[i] = known[term.Text]
	}
	return df
}

// fixed is an Expander with one answer.
type fixed []Expansion

func (f fixed) Expand([]string) Expansions { return Expansions{All: f} }

func TestComposePlain(t *testing.T) {
	q := Parse("machine learning machine", words)
	f := func(r Rules, syn Expander, want string) {
		t.Helper()
		got, err := json.Marshal(Compose(q, Frequencies{}, syn, r))
		if err != nil || string(got) != want {
			t.Errorf("got  %s\nwant %s (%v)", brief.Of(got), want, err)
		}
	}
	// A repeated word counts each time; any term matches.
	f(Rules{}, nil,
		`{"terms":[{"text":"machine","weight":2},{"text":"learning","weight":1}],"minimum_match":1}`)
	// machine learning → ml at weight × 0.5 (boost) × 0.8 (rule) / 2 terms.
	f(Rules{SynonymBoost: .5, Minimum: Minimum{2, false}},
		fixed{{Start: 0, End: 2, Terms: []string{"ml"}, Weight: .8}},
		`{"terms":[{"text":"machine","weight":2,"synonyms":[{"terms":["ml"],"weight":0.4}]},`+
			`{"text":"learning","weight":1,"synonyms":[{"terms":["ml"],"weight":0.2}]}],"minimum_match":2}`)
	// The heaviest synonyms stay, one of each, never the term itself.
	f(Rules{SynonymBoost: 1, MaxSynonyms: 1}, fixed{
		{Start: 1, End: 2, Terms: []string{"learning"}, Weight: 1},
		{Start: 1, End: 2, Terms: []string{"study"}, Weight: .25},
		{Start: 1, End: 2, Terms: []string{"deep", "study"}, Weight: .25},
		{Start: 1, End: 2, Terms: []string{"deep", "study"}, Weight: .5},
	}, `{"terms":[{"text":"machine","weight":2},`+
		`{"text":"learning","weight":1,"synonyms":[{"terms":["deep","study"],"weight":0.5}]}],"minimum_match":1}`)
	f(Rules{Phrases: true, PhraseSlop: 2, PhraseBoost: 1.5}, nil,
		`{"terms":[{"text":"machine","weight":2},{"text":"learning","weight":1}],`+
			`"phrases":[{"terms":["machine","learning"],"slop":2,"weight":3},{"terms":["learning","machine"],"slop":2,"weight":3}],`+
			`"minimum_match":1}`)
}

func TestLongQueriesKeepTheirHeaviestTerms(t *testing.T) {
	q := Parse("common rare unknown middle", words)
	f := Frequencies{Docs: 100, DF: frequenciesOf(q, map[string]int{"common": 90, "rare": 1, "middle": 10})}
	out := Compose(q, f, nil, Rules{MaxTerms: 2, Phrases: true, PhraseBoost: 1})
	if len(out.Terms) != 2 || out.Terms[0].Text != "rare" || out.Terms[1].Text != "middle" {
		t.Errorf(`kept %+v; want 2 out.Terms and out.Terms[0].Text "rare" and out.Terms[1].Text "middle"`, out.Terms)
	}
	// Neighbours of the unknown word cannot match as a phrase.
	if len(out.Phrases) != 1 || !slices.Equal(out.Phrases[0].Terms, []string{"common", "rare"}) {
		t.Errorf(`phrases %+v; want 1 out.Phrases and {"common", "rare"}`, out.Phrases)
	}
}

// TestDefaults: eight synonyms of a term, 256 terms, parts that weigh what words do.
func TestDefaults(t *testing.T) {
	var synonyms fixed
	for i := range 9 {
		synonyms = append(synonyms, Expansion{End: 1, Terms: []string{strconv.Itoa(i)}, Weight: 1})
	}
	var long strings.Builder
	for i := range 257 {
		fmt.Fprintf(&long, "w%d ", i)
	}
	out := Compose(Parse(long.String(), words), Frequencies{}, synonyms, Rules{SynonymBoost: 1})
	if len(out.Terms) != 256 || len(out.Terms[0].Synonyms) != 8 {
		t.Errorf("%d terms, %d synonyms; want 256 out.Terms and 8 out.Terms[0].Synonyms", len(out.Terms), len(out.Terms[0].Synonyms))
	}
	q := Query{Terms: []QueryTerm{{Text: "共和", Count: 1, Part: true}, {Text: "共和国", Count: 1}}}
	for weight, want := range map[float64]float64{0: 1, .25: .25} {
		out := Compose(q, Frequencies{}, nil, Rules{PartWeight: weight})
		if out.Terms[0].Weight != want || out.Terms[1].Weight != 1 {
			t.Errorf("parts of weight %v: %+v", weight, out.Terms)
		}
	}
}

// TestTFIDF spells the formula out: idf(df) = ln(1 + (N-df+.5)/(df+.5)).
func TestTFIDF(t *testing.T) {
	freq := Frequencies{Docs: 10, DF: []int{1, 4}}
	terms := []QueryTerm{{Text: "apple", Count: 1}, {Text: "pear", Count: 2}, {Text: "kiwi", Count: 1}}
	apple := math.Log(1 + 9.5/1.5)
	pear := (1 + math.Log(2)) * math.Log(1+6.5/4.5)
	want := []float64{1, pear / apple, 1 / apple} // apple is the heaviest known; kiwi counts as idf 1
	for i, got := range TFIDF.appendWeights(nil, terms, freq) {
		if math.Abs(got-want[i]) > 1e-12 {
			t.Errorf("%s: %v, want %v", terms[i].Text, got, want[i])
		}
	}
	deleted := Frequencies{Docs: 2, DF: []int{9}} // chunks that are deleted may still count
	if got, want := deleted.IDF(0), math.Log(1+.5/9.5); math.Abs(got-want) > 1e-12 {
		t.Errorf("idf %v, want %v", got, want)
	}
	// Nothing known: the largest weight is 1.
	for i, got := range TFIDF.appendWeights(nil, terms[2:], Frequencies{}) {
		if got != 1 {
			t.Errorf("unknown term %d: %v; want got 1", i, got)
		}
	}
	unknown := math.Log(1 + 10.5/.5)
	q := Query{Terms: terms}
	known := (apple + 2*math.Log(1+6.5/4.5)) / (apple + 2*math.Log(1+6.5/4.5) + unknown)
	if got := Known(q, freq); math.Abs(got-known) > 1e-12 {
		t.Errorf("known %v, want %v", got, known)
	}
	if got := Known(Query{}, freq); got != 0 {
		t.Errorf("known of nothing: %v", got)
	}
}

func TestMinimum(t *testing.T) {
	f := func(s string, n, want int) {
		t.Helper()
		m, err := ParseMinimum("minimum_should_match", s)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Of(n); got != want {
			t.Errorf("%s of %d: %d, want %d", s, n, got, want)
		}
		var back Minimum
		if err := back.UnmarshalText([]byte(m.String())); err != nil || back != m {
			t.Errorf("%s reads back as %v, %v", s, back, err)
		}
	}
	f("30%", 3, 1)
	f("30%", 7, 2)
	f("30%", 0, 0)
	f("100%", 4, 4)
	f("0%", 4, 1)
	f("", 4, 1)
	f("2", 4, 2)
	f("9", 4, 4)
	f("1024", 2000, 1024)
	for _, bad := range []string{"%", "101%", "-1", "x", "30 %%", "1.5", "1025"} {
		if _, err := ParseMinimum("minimum_should_match", bad); !fault.Is(err, fault.InvalidArgument) {
			t.Errorf("%q is accepted: %v; want an error of kind InvalidArgument", bad, err)
		}
	}
}
