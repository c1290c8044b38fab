package judge_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/hybridge-search/hybridge/evaluation/judge"
	"github.com/hybridge-search/hybridge/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// scripted is a service that says a text to each request, and keeps what it was asked.
type scripted struct {
	says  string
	asked struct {
		Question string
		Rubric   []string
		Passages []judge.Passage
	}
}

func (s *scripted) client(t *testing.T) *judge.Client {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var got struct {
			Model    string
			Messages []struct{ Role, Content string }
		}
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil || got.Model != "m" || len(got.Messages) != 2 ||
			r.Header.Get("Authorization") != "Bearer secret" {
			t.Errorf(`asked %+v, %v; want no error and got.Model "m" and 2 got.Messages and r.Header.Get("Authorization") "Bearer secret"`, got, err)
			return
		}
		if err := json.Unmarshal([]byte(got.Messages[1].Content), &s.asked); err != nil {
			t.Error(err)
		}
		said := map[string]any{"choices": []any{map[string]any{"message": map[string]any{"content": s.says}}}}
		if err := json.NewEncoder(w).Encode(said); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(func() {
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
		server.Close()
	})
	return judge.New(judge.Options{URL: server.URL, Model: "m", APIKey: "secret"})
}

func TestGrade(t *testing.T) {
	passages := []judge.Passage{{Title: "Refunds", Text: "By the button."}, {Text: strings.Repeat("长", 5000)}}
	for says, want := range map[string]string{
		"```json\n" + `{"grades": [{"grade": 3, "reason": " says\nhow "}, {"grade": 0}]}` + "\n```": "",
		`{"grades": [{"grade": 3}]}`:                                    "the judge gave 1 grades for 2 passages",
		`{"grades": [{"grade": 3}, {"grade": 4}]}`:                      "the judge gave a grade that is none of 0 to 3",
		`{"grades": [{"grade": 3}, {"reason": "none"}]}`:                "the judge gave a grade that is none of 0 to 3",
		`{"grades": [{"grade": 1.5}, {"grade": 1}]}`:                    "the judge did not answer with the JSON that was asked for",
		`I would say 3 and 0.`:                                          "the judge did not answer with the JSON that was asked for",
		`{"grades": [{"grade": 3}, {"grade": 1}, {"grade": 1}], "x":1}`: "the judge gave 3 grades for 2 passages",
	} {
		model := &scripted{says: says}
		grades, err := model.client(t).Grade(t.Context(), judge.Usual, "How do I get my money back?", passages)
		if want != "" {
			if !fault.Is(err, fault.Unavailable) || err.Error() != want {
				t.Errorf("%s: %v, want %q", says, err, want)
			}
			continue
		}
		if diff := cmp.Diff([]judge.Grade{{Grade: 3, Reason: "says how"}, {Grade: 0}}, grades); err != nil || diff != "" {
			t.Errorf(`%s: %v, %s; want no error and diff ""`, says, err, diff)
		}
		asked := &model.asked
		if asked.Question != "How do I get my money back?" || len(asked.Rubric) != 4 || asked.Passages[0] != passages[0] {
			t.Errorf("asked %+v", asked)
		}
		if cut := asked.Passages[1].Text; len(cut) > 8<<10 || len(cut) < 8<<10-3 || strings.Trim(cut, "长") != "" {
			t.Errorf(`a long passage was sent with %d bytes; want at most 8 << 10 cut and at least 8<<10 - 3 cut and strings.Trim(cut, "长") ""`, len(cut))
		}
	}
}

func TestRubric(t *testing.T) {
	for _, c := range []struct {
		rubric judge.Rubric
		most   int
		want   string
	}{
		{judge.Usual, 3, ""},
		{judge.Usual, 1, "rubric is a list of 4; it must be a line for each of the grades 0 to 1 of the list"},
		{judge.Rubric{"no", " "}, 1, `rubric[1] is " "; it must be 1 to 600 bytes of UTF-8`},
		{judge.Rubric{"no", strings.Repeat("y", 601)}, 1, "it must be 1 to 600 bytes of UTF-8"},
	} {
		err := c.rubric.Check(c.most)
		if c.want == "" != (err == nil) || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d lines: %v, want %q", len(c.rubric), err, c.want)
		}
	}
	client := judge.New(judge.Options{URL: "http://127.0.0.1:9", Model: "m"})
	if a, b := client.Name(judge.Usual), client.Name(judge.Rubric{"no", "yes"}); a == b || !strings.HasPrefix(a, "m, rubric ") {
		t.Errorf("judges %q and %q", a, b)
	}
}

// The kappas are scikit-learn's (cohen_kappa_score, weights="quadratic").
func TestAgree(t *testing.T) {
	for _, c := range []struct {
		pairs       [][2]int
		exact, bias float64
		kappa       float64 // NaN: not defined
	}{
		{nil, 0, 0, math.NaN()},
		{[][2]int{{1, 1}, {1, 1}}, 1, 0, math.NaN()},
		{[][2]int{{0, 0}, {1, 1}, {3, 3}}, 1, 0, 1},
		{[][2]int{{3, 0}, {0, 3}}, 0, 0, -1},
		{[][2]int{{2, 0}, {2, 1}, {2, 2}, {2, 3}}, 0.25, 0.5, 0},
		{[][2]int{{0, 0}, {0, 1}, {1, 1}, {2, 1}, {2, 2}, {3, 2}, {3, 3}, {0, 0}, {1, 0}, {3, 3}}, 0.6, 0.2, 23. / 27},
		{[][2]int{{0, 2}, {1, 3}, {2, 0}, {3, 3}, {0, 0}, {3, 1}}, 1. / 3, 0, 3. / 19},
	} {
		a := judge.Agree(c.pairs, 3)
		if a.Pairs != len(c.pairs) || math.Abs(a.Exact-c.exact) > 1e-12 || math.Abs(a.Bias-c.bias) > 1e-12 {
			t.Errorf("%v: %+v, want exact %v, bias %v", c.pairs, a, c.exact, c.bias)
		}
		if math.IsNaN(c.kappa) != (a.Kappa == nil) || a.Kappa != nil && math.Abs(*a.Kappa-c.kappa) > 1e-12 {
			t.Errorf("%v: kappa %v, want %v", c.pairs, a.Kappa, c.kappa)
		}
	}
}

// A judge that errs in a known share of passages has the kappa that follows from it, within the interval.
func TestAJudgeOfKnownError(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, share := range []float64{0, 0.2, 0.5, 1} {
		pairs := make([][2]int, 2000)
		for i := range pairs {
			truth := random.IntN(4)
			said := truth
			if random.Float64() < share {
				said = random.IntN(4)
			}
			pairs[i] = [2]int{said, truth}
		}
		// What is said at random leaves as much of the variance unexplained as chance does.
		a, want := judge.Agree(pairs, 3), 1-share
		if a.Kappa == nil || math.Abs(*a.Kappa-want) > 0.05 || *a.Low > want+0.02 || *a.High < want-0.02 {
			t.Errorf("error rate %v: kappa %v [%v, %v], want %v", share, *a.Kappa, *a.Low, *a.High, want)
		}
	}
}
