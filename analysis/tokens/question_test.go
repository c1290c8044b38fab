package tokens

import (
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/hybridge-search/hybridge/analysis"
	_ "github.com/hybridge-search/hybridge/internal/properties" // fewer cases in make test
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
			e.Pairs = append(e.Pairs, string(c.Kind)+": "+join(c.Terms))
		}
		got = append(got, e)
	}
	golden(t, "queries.golden.json", got)
}

func phraseTexts(phrases []textquery.Phrase) (all []string) {
	for _, p := range phrases {
		all = append(all, join(p.Terms))
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
				t.Fatalf("%q: an empty phrase; want some p.Terms", query)
			}
		}
	}
	rules := analysis.Rules{
		Weighting: analysis.TFIDF, Minimum: analysis.Minimum{Value: 30, Percent: true}, Phrases: true, PhraseSlop: 2, PhraseBoost: 1.5, SynonymBoost: .8,
	}
	f := analysis.Frequencies{Docs: 100, DF: frequenciesOf(q, map[string]int{"refund": 3, "退款": 100})}
	out := analysis.Compose(q, f, everything{}, rules)
	checkComposed(t, query, out)
	if known := analysis.Known(q, f); known < 0 || known > 1 || math.IsNaN(known) {
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
func frequenciesOf(q analysis.Query, known map[string]int) []int {
	df := make([]int, len(q.Terms))
	for i, term := range q.Terms {
		df[i] = known[term.Text]
	}
	return df
}

// everything finds a synonym for every pair of terms.
type everything struct{}

func (everything) Expand(terms []string) (all analysis.Expansions) {
	for i := range max(len(terms)-1, 0) {
		all.All = append(all.All, analysis.Expansion{Start: i, End: i + 2, Terms: []string{"x", "y"}, Weight: .5})
	}
	return all
}

// TestHostileQueries: much of anything is parsed in linear time; a
// quadratic way would take minutes.
func TestHostileQueries(t *testing.T) {
	for _, unit := range []string{
		`"a" `, `-a `, `-"a b" `, "“", `"`, "- ", "退款", "a-b.", "の", "\xff", "e\u0301", "'", "x", "C++", "“a” b ",
	} {
		checkQuery(t, strings.Repeat(unit, (1<<16)/len(unit)))
	}
}

// BenchmarkQuestion analyses a question and makes its text query, with phrases.
func BenchmarkQuestion(b *testing.B) {
	rules := analysis.Rules{Weighting: analysis.TFIDF, Phrases: true, PhraseSlop: 2, PhraseBoost: 1.5}
	for name, question := range map[string]string{
		"chinese": "如何为已经付款的企业订单申请退款，发票需要先寄回财务部门吗？",
		"english": "How do I request a refund for an order that was already paid, and does the invoice go back first?",
	} {
		b.Run(name, func(b *testing.B) {
			f := analysis.Frequencies{Docs: 20_000}
			for i := range shared.ParsePlain(question).Terms {
				f.DF = append(f.DF, 10+i)
			}
			b.ReportAllocs()
			for b.Loop() {
				analysis.Compose(shared.ParsePlain(question), f, nil, rules)
			}
		})
	}
}
