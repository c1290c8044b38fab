package retrieve

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search/answer"
	"github.com/hybridge-search/hybridge/search/ask"
	"github.com/hybridge-search/hybridge/search/engines"
	"github.com/hybridge-search/hybridge/search/plan"
)

// preparedPair is a knowledge base with a text and a vector leg of weight 1.
func preparedPair(fusion scoring.Fusion) *prepared {
	planned := plan.Plan{Fusion: fusion, Candidates: 10, Joint: true}
	return &prepared{
		target: &target{
			Subject:  &engines.Subject{Plan: planned, KB: engine.KnowledgeBase{Ref: engine.Ref{ID: "manuals"}}},
			Question: &ask.Question{},
		},
		Legs: []leg{
			{Leg: plan.Leg{Name: "text", Kind: scoring.Text, Weight: 1}},
			{Leg: plan.Leg{Name: "vector", Kind: scoring.Vector, Weight: 1}},
		},
	}
}

// TestTextWeighsByCoverage: √(known · average length / 134), the length within 42 to
// 251, on the text leg alone.
func TestTextWeighsByCoverage(t *testing.T) {
	parsed := analysis.Query{Terms: []analysis.QueryTerm{{Text: "refund", Count: 1}, {Text: "wombat", Count: 1}}}
	f := func(df []int, averageLength, want float64) {
		t.Helper()
		rt := preparedPair(scoring.Fusion{})
		rt.Question.Parsed = parsed
		rt.Legs[0].frequencies = analysis.Frequencies{Docs: 100, AverageLength: averageLength, DF: df}
		rt.weighByCoverage()
		if got := rt.Legs[0].Weight; math.Abs(got-want) > 1e-12 {
			t.Errorf("df %v, length %v: weight %v, want %v", df, averageLength, got, want)
		}
		if rt.Legs[1].Weight != 1 {
			t.Errorf("the vector leg weighs %v; want rt.legs[1].Weight 1", rt.Legs[1].Weight)
		}
	}
	all, none := []int{5, 5}, []int{0, 0}
	f(all, 134, 1)
	f(all, 67, math.Sqrt(0.5))
	f(all, 42, math.Sqrt(42.0/134))
	f(all, 41, math.Sqrt(42.0/134))
	f(all, 251, math.Sqrt(251.0/134))
	f(all, 252, math.Sqrt(251.0/134))
	f(all, 0, 1) // nothing to measure by
	f(none, 134, 0)
	half := analysis.Frequencies{Docs: 100, DF: []int{5, 0}}
	f(half.DF, 134, math.Sqrt(analysis.Known(parsed, half)))
}

// TestSumsOfZScores: each weight over its leg's deviation; where nothing tells the
// chunks apart, all weights are 1.
func TestSumsOfZScores(t *testing.T) {
	f := func(text, vector, wantText, wantVector float64) {
		t.Helper()
		rt := preparedPair(scoring.Fusion{Method: scoring.Linear, Normalizer: scoring.ZScore})
		rt.Legs[0].moments = &scoring.Moments{Mean: 2, Deviation: text}
		rt.Legs[1].moments = &scoring.Moments{Mean: 0.3, Deviation: vector}
		sum := rt.sum([]int{0, 1})
		if sum.Weights[0] != wantText || sum.Weights[1] != wantVector || sum.Absent != nil || sum.Candidates != 10 {
			t.Errorf("deviations %v and %v: %+v, want weights %v and %v", text, vector, sum, wantText, wantVector)
		}
	}
	f(4, 0.5, 0.25, 2)
	f(0, 0.5, 0, 2)
	f(0, 0, 1, 1)
}

// counted is an engine that knows document frequencies, and what it was asked for.
type counted struct {
	engine.Engine
	df    map[string]int
	asked [][]string
}

func (c *counted) Statistics(_ context.Context, req *engine.StatisticsRequest) (*engine.Statistics, error) {
	c.asked = append(c.asked, req.Terms)
	stats := &engine.Statistics{Docs: 100, AverageLength: answer.ReferenceLength}
	for _, term := range req.Terms {
		stats.DF = append(stats.DF, c.df[term])
	}
	return stats, nil
}

// thesaurus has a synonym for single words.
type thesaurus map[string]string

func (th thesaurus) For(engine.Ref) analysis.Expander { return th }

func (th thesaurus) Expand(terms []string) (found analysis.Expansions) {
	for i, term := range terms {
		if synonym, ok := th[term]; ok {
			found.All = append(found.All, analysis.Expansion{Start: i, End: i + 1, Terms: []string{synonym}, Weight: 1})
		}
	}
	return found
}

// TestSynonymsOfUnknownWordsAreMeasured: one request asks for terms and synonyms; where
// nothing but the synonym of a term is known, coverage is that of the synonym and the
// moments are its, by its weight.
func TestSynonymsOfUnknownWordsAreMeasured(t *testing.T) {
	text := func(word string) (*leg, *counted) {
		rt := preparedPair(scoring.Fusion{Method: scoring.Linear, Normalizer: scoring.ZScore})
		rt.Plan.Coverage, rt.Plan.Text = true, analysis.Rules{SynonymBoost: 0.8}
		rt.Plan.Legs = []plan.Leg{{Name: "text", Kind: scoring.Text, Weight: 1}}
		e := &counted{df: map[string]int{"refund": 5}}
		rt.Engine, rt.measured = e, &Measured{}
		rt.Question.Parsed = analysis.ParsePlain(word, func(text string) []analysis.Token {
			return []analysis.Token{{Text: text, End: len(text)}}
		})
		s := &Retriever{Asker: ask.Asker{Synonyms: thesaurus{"zorp": "refund"}}}
		r := &ask.Asked{Request: &plan.Request{}, Question: *rt.Question, Subjects: []engines.Subject{*rt.Subject}, Plan: &rt.Plan}
		rt.vocabulary = s.Asker.Vocabularies(&r.Question, r.Subjects, &r.Plan.Text)
		s.measureOnce(t.Context(), rt.target)
		p, err := s.prepare(rt.target, rt.Plan.Text)
		if err != nil {
			t.Fatal(err)
		}
		return &p.Legs[0], e
	}
	known, _ := text("refund")
	unknown, e := text("zorp")
	if len(e.asked) != 1 || !slices.Equal(e.asked[0], []string{"zorp", "refund"}) {
		t.Errorf(`asked for %q; want 1 e.asked and {"zorp", "refund"}`, e.asked)
	}
	if unknown.Weight != known.Weight || unknown.Weight != 1 {
		t.Errorf("weights %v and %v, want 1", unknown.Weight, known.Weight)
	}
	if got, want := unknown.moments.Deviation, 0.8*known.moments.Deviation; math.Abs(got-want) > 1e-12 || want == 0 {
		t.Errorf("deviation %v, want %v", got, want)
	}
	if nothing, _ := text("blarg"); nothing.Weight != 0 {
		t.Errorf("a word without synonyms weighs %v", nothing.Weight)
	}
}
