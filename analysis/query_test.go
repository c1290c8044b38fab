package analysis

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/textquery"
)

func TestParseGolden(t *testing.T) {
	type entry struct {
		Query    string   `json:"query"`
		Text     string   `json:"text"`
		Terms    []string `json:"terms,omitempty"`
		Required []string `json:"required,omitempty"`
		Excluded []string `json:"excluded,omitempty"`
		Pairs    []string `json:"compounds,omitempty"`
	}
	var got []entry
	for _, query := range readTexts(t, "queries.json") {
		q := shared.Parse(query)
		e := entry{Query: query, Text: q.Text, Required: phraseTexts(q.Required), Excluded: phraseTexts(q.Excluded)}
		for _, term := range q.Terms {
			e.Terms = append(e.Terms, strings.Repeat(term.Text+" ", term.Count)+"← "+query[term.Start:term.End])
		}
		for _, c := range q.Compounds {
			e.Pairs = append(e.Pairs, string(c.Kind)+": "+Join(c.Terms))
		}
		got = append(got, e)
	}
	golden(t, "queries.golden.json", got)
}

func phraseTexts(phrases []textquery.Phrase) (all []string) {
	for _, p := range phrases {
		all = append(all, Join(p.Terms))
	}
	return all
}

func TestParseHoldsForAnyText(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) { checkQuery(rt, anyText().Draw(rt, "query")) })
}

// checkQuery holds what is true of the analysis of any bytes.
func checkQuery(t failer, query string) {
	q := shared.Parse(query)
	if !utf8.ValidString(q.Text) {
		t.Fatalf("%q: text %q is not UTF-8", query, q.Text)
	}
	if (len(q.Terms) == 0) != (len(q.Tokens) == 0) {
		t.Fatalf("%q: %d terms of %d tokens", query, len(q.Terms), len(q.Tokens))
	}
	runes := boundaries(query)
	for _, tok := range q.Tokens {
		if tok.Start < 0 || tok.End > len(query) || tok.Start >= tok.End {
			t.Fatalf("%q: token %+v is out of bounds", query, tok)
		}
		if runes[tok.Start] != tok.RuneStart {
			t.Fatalf("%q: token %+v has a wrong rune offset", query, tok)
		}
	}
	for _, phrases := range [][]textquery.Phrase{q.Required, q.Excluded} {
		for _, p := range phrases {
			if len(p.Terms) == 0 {
				t.Fatalf("%q: an empty phrase", query)
			}
		}
	}
	rules := Rules{
		Weighting: TFIDF, Minimum: Minimum{30, true}, Phrases: true, PhraseSlop: 2, PhraseBoost: 1.5, SynonymBoost: .8,
	}
	f := Frequencies{Docs: 100, DF: frequenciesOf(q, map[string]int{"refund": 3, "退款": 100})}
	out := Compose(q, f, everything{}, rules)
	checkComposed(t, query, out)
	if known := Known(q, f); known < 0 || known > 1 || math.IsNaN(known) {
		t.Fatalf("%q: known %v", query, known)
	}
}

func checkComposed(t failer, query string, out textquery.Query) {
	if len(out.Terms) > 0 && (out.MinimumMatch < 1 || out.MinimumMatch > len(out.Terms)) {
		t.Fatalf("%q: minimum %d of %d", query, out.MinimumMatch, len(out.Terms))
	}
	positive := func(w float64) {
		if !(w > 0) || math.IsInf(w, 0) {
			t.Fatalf("%q: a weight of %v", query, w)
		}
	}
	for _, term := range out.Terms {
		positive(term.Weight)
		for _, s := range term.Synonyms {
			positive(s.Weight)
		}
	}
	for _, p := range out.Phrases {
		positive(p.Weight)
	}
}

// frequenciesOf gives each term of a query its document frequency.
func frequenciesOf(q Query, known map[string]int) []int {
	df := make([]int, len(q.Terms))
	for i, term := range q.Terms {
		df[i] = known[term.Text]
	}
	return df
}

// everything finds a synonym for every pair of terms.
type everything struct{}

func (everything) Expand(terms []string) (all []Expansion) {
	for i := range max(len(terms)-1, 0) {
		all = append(all, Expansion{Start: i, End: i + 2, Terms: []string{"x", "y"}, Weight: .5})
	}
	return all
}

// fixed is an Expander with one answer.
type fixed []Expansion

func (f fixed) Expand([]string) []Expansion { return f }

func TestComposePlain(t *testing.T) {
	q := shared.Parse("machine learning machine")
	f := func(r Rules, syn Expander, want string) {
		t.Helper()
		got, err := json.Marshal(Compose(q, Frequencies{}, syn, r))
		if err != nil || string(got) != want {
			t.Errorf("got  %s\nwant %s (%v)", got, want, err)
		}
	}
	// A repeated word counts each time; any term matches.
	f(Rules{}, nil,
		`{"terms":[{"text":"machin","weight":2},{"text":"learn","weight":1}],"minimum_match":1}`)
	// machine learning → ml at weight × 0.5 (boost) × 0.8 (rule) / 2 terms.
	f(Rules{SynonymBoost: .5, Minimum: Minimum{2, false}},
		fixed{{Start: 0, End: 2, Terms: []string{"ml"}, Weight: .8}},
		`{"terms":[{"text":"machin","weight":2,"synonyms":[{"terms":["ml"],"weight":0.4}]},`+
			`{"text":"learn","weight":1,"synonyms":[{"terms":["ml"],"weight":0.2}]}],"minimum_match":2}`)
	// The heaviest synonyms stay, one of each, never the term itself.
	f(Rules{SynonymBoost: 1, MaxSynonyms: 1}, fixed{
		{Start: 1, End: 2, Terms: []string{"learn"}, Weight: 1},
		{Start: 1, End: 2, Terms: []string{"study"}, Weight: .25},
		{Start: 1, End: 2, Terms: []string{"deep", "study"}, Weight: .25},
		{Start: 1, End: 2, Terms: []string{"deep", "study"}, Weight: .5},
	}, `{"terms":[{"text":"machin","weight":2},`+
		`{"text":"learn","weight":1,"synonyms":[{"terms":["deep","study"],"weight":0.5}]}],"minimum_match":1}`)
	f(Rules{Phrases: true, PhraseSlop: 2, PhraseBoost: 1.5}, nil,
		`{"terms":[{"text":"machin","weight":2},{"text":"learn","weight":1}],`+
			`"phrases":[{"terms":["machin","learn"],"slop":2,"weight":3},{"terms":["learn","machin"],"slop":2,"weight":3}],`+
			`"minimum_match":1}`)
}

// TestHostileQueries: much of anything is parsed in linear time; a
// quadratic way would take minutes.
func TestHostileQueries(t *testing.T) {
	for _, unit := range []string{
		`"a" `, `-a `, `-"a b" `, "“", `"`, "- ", "退款", "a-b.", "の", "\xff", "e\u0301", "'", "x", "C++", "“a” b ",
	} {
		checkQuery(t, strings.Repeat(unit, (1<<18)/len(unit)))
	}
}

func TestLongQueriesKeepTheirHeaviestTerms(t *testing.T) {
	q := shared.Parse("common rare unknown middle")
	f := Frequencies{Docs: 100, DF: frequenciesOf(q, map[string]int{"common": 90, "rare": 1, "middl": 10})}
	out := Compose(q, f, nil, Rules{MaxTerms: 2, Phrases: true, PhraseBoost: 1})
	if len(out.Terms) != 2 || out.Terms[0].Text != "rare" || out.Terms[1].Text != "middl" {
		t.Errorf("kept %+v", out.Terms)
	}
	// Neighbours of the unknown word cannot match as a phrase.
	if len(out.Phrases) != 1 || Join(out.Phrases[0].Terms) != "common rare" {
		t.Errorf("phrases %+v", out.Phrases)
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
			t.Errorf("unknown term %d: %v", i, got)
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
	for _, bad := range []string{"%", "101%", "-1", "x", "30 %%", "1.5"} {
		if _, err := ParseMinimum("minimum_should_match", bad); !fault.Is(err, fault.InvalidArgument) {
			t.Errorf("%q is accepted: %v", bad, err)
		}
	}
}
