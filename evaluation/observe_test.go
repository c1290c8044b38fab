package evaluation

import "testing"

func TestDigestIsOfQuestionsAndJudgments(t *testing.T) {
	t.Parallel()
	set := func(change func(*Set)) string {
		s := &Set{
			Queries:   []Query{{ID: "a", Text: "one"}, {ID: "b", Text: "two"}, {ID: "c", Text: "nobody judged"}},
			Judgments: map[string]Judgments{"a": {"x": 1, "y": 2}, "b": {"x": 1}},
		}
		change(s)
		return s.Digest()
	}
	same := set(func(*Set) {})
	f := func(differs bool, what string, change func(*Set)) {
		t.Helper()
		if got := set(change); (got != same) != differs || len(got) != 64 {
			t.Errorf("%s: %s, before %s", what, got, same)
		}
	}
	f(false, "another order", func(s *Set) { s.Queries[0], s.Queries[1] = s.Queries[1], s.Queries[0] })
	f(false, "a question without judgments", func(s *Set) { s.Queries = s.Queries[:2] })
	f(true, "another grade", func(s *Set) { s.Judgments["a"]["x"] = 2 })
	f(true, "another text", func(s *Set) { s.Queries[0].Text = "one." })
	f(true, "another passage", func(s *Set) { s.Judgments["b"] = Judgments{"y": 1} })
}
