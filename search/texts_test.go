package search_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/analysis/tokens"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/realtokens"
	"github.com/hybridge-search/hybridge/search"
)

func analyzerOf(t *testing.T) *tokens.Analyzer {
	t.Helper()
	analyzer, err := realtokens.Analyzer()
	if err != nil {
		t.Fatal(err)
	}
	return analyzer
}

// textsOf ranks three texts, of which the second answers the question, and gives what was had.
func textsOf(t *testing.T, options search.Options, model string) *search.TextScores {
	t.Helper()
	options.Analyzer = analyzerOf(t)
	answer, err := search.New(options).ScoreTexts(t.Context(), &search.TextsRequest{
		Model: model, Query: "how are refunds paid",
		Texts: []string{"The shop opens at nine.", "Refunds are paid within a week.", " "},
	})
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

func TestTextsAreRankedByWordsAlone(t *testing.T) {
	answer := textsOf(t, search.Options{}, "")
	scores := answer.Scores
	if answer.Model != search.Fusion || len(answer.Degraded) != 1 || answer.Degraded[0].Leg != "vector" {
		t.Errorf("%+v, want fusion without its vector leg", answer)
	}
	if scores[1] <= scores[0] || scores[1] > 1 || scores[0] < 0 || scores[2] > scores[0] {
		t.Errorf("%v, want the second text best, and each in [0, 1]", scores)
	}
}

func TestTextsAreRankedByAReranker(t *testing.T) {
	by := &reversing{}
	rerankers := map[string]search.Reranker{"reversing": by}
	answer := textsOf(t, search.Options{Rerankers: rerankers}, "reversing")
	if answer.Model != "reversing" || answer.Scores[2] != 3.0/200 || len(by.read) != 3 || len(answer.Degraded) > 0 {
		t.Errorf(`%+v of %q; want answer.Model "reversing" and answer.Scores[2] 3.0 / 200 and 3 by.read and len(answer.Degraded) 0`, answer, by.read)
	}
	for _, broken := range []*reversing{{lost: 1}, {err: fault.New(fault.Unavailable, "gone")}} {
		s := search.New(search.Options{Analyzer: analyzerOf(t), Rerankers: map[string]search.Reranker{"reversing": broken}})
		_, err := s.ScoreTexts(t.Context(), &search.TextsRequest{Model: "reversing", Query: "q", Texts: []string{"a", "b"}})
		if !fault.Is(err, fault.Unavailable) {
			t.Errorf("%v, want that the reranker is unavailable", err)
		}
	}
}

func TestTextsAreRefused(t *testing.T) {
	s := search.New(search.Options{Analyzer: analyzerOf(t)})
	for name, c := range map[string]struct {
		request search.TextsRequest
		field   string
	}{
		"no question":        {search.TextsRequest{Texts: []string{"a"}}, "query"},
		"a long one":         {search.TextsRequest{Query: strings.Repeat("a", 1<<20), Texts: []string{"a"}}, "query"},
		"no texts":           {search.TextsRequest{Query: "q"}, "documents"},
		"too many":           {search.TextsRequest{Query: "q", Texts: make([]string, search.MaxTexts+1)}, "documents"},
		"a model nobody has": {search.TextsRequest{Query: "q", Texts: []string{"a"}, Model: "best"}, "model"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := s.ScoreTexts(t.Context(), &c.request)
			var wrong *fault.Error
			if !errors.As(err, &wrong) || (wrong.Kind != fault.InvalidArgument && wrong.Kind != fault.TooLarge) || wrong.Field != c.field {
				t.Errorf("%v, want that %s is wrong", err, c.field)
			}
		})
	}
}

func TestTextsThatHaveNoWords(t *testing.T) {
	s := search.New(search.Options{Analyzer: analyzerOf(t)})
	for _, query := range []string{"the", "?!", "\U0001F600"} {
		answer, err := s.ScoreTexts(t.Context(), &search.TextsRequest{Query: query, Texts: []string{"", "  ", "\xff\xfe", "the"}})
		if err != nil {
			t.Fatal(err)
		}
		for i, score := range answer.Scores {
			if !(score >= 0 && score <= 1) {
				t.Errorf("%q: text %d has %v; want score at least 0 and score at most 1", query, i, score)
			}
		}
	}
}
