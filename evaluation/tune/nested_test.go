package tune

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/evaluation/metric"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/deadline"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search"
)

// drawn adds questions of 30 chunks each, one of them relevant: its text score is ahead by so much, in deviations,
// and its cosine too.
func drawn(t *testing.T, tuner *Tuner, sets map[string]int, ahead [2]float64) {
	t.Helper()
	random := rand.New(rand.NewPCG(7, 7))
	for _, set := range slices.Sorted(maps.Keys(sets)) {
		for n := range sets[set] {
			said := &search.Observed{
				Legs:   []scoring.Leg{{Name: "text", Kind: scoring.Text}, {Name: "vector", Kind: scoring.Vector}},
				Shares: []float64{1, 1},
			}
			for c := range 30 {
				relevant := 0.0
				if c == 0 {
					relevant = 1
				}
				said.Candidates = append(said.Candidates, scoring.Candidate{
					ID: fmt.Sprintf("c%02d", (c+n)%30), Observations: []scoring.Observation{
						{Raw: max(0, 10+random.NormFloat64()+relevant*ahead[0])},
						{Raw: min(1, 0.5+0.1*(random.NormFloat64()+relevant*ahead[1]))},
					},
				})
			}
			for leg := range said.Legs {
				order := slices.Clone(said.Candidates)
				slices.SortFunc(order, func(a, b scoring.Candidate) int {
					if a.Observations[leg].Raw > b.Observations[leg].Raw {
						return -1
					}
					return 1
				})
				for rank := range order {
					order[rank].Observations[leg].Rank = rank + 1
				}
			}
			for request := range tuner.Requests() {
				q := Question{Set: set, ID: fmt.Sprint(n), Judged: metric.Judgments{said.Candidates[0].ID: 1}}
				if err := tuner.Add(request, q, said); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

func tuned(t *testing.T, o Options, sets map[string]int, ahead [2]float64) *Result {
	t.Helper()
	o.Metric = ndcg10(t)
	if o.Folds == 0 {
		o.Folds = 5
	}
	tuner, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	drawn(t, tuner, sets, ahead)
	result, err := tuner.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// TestRecommendsWhatGeneralises: linear weighs text 0.3; where the words alone tell what is relevant, every method
// finds that, and where nothing does, none recommends anything.
func TestRecommendsWhatGeneralises(t *testing.T) {
	withoutRaces(t)
	t.Parallel()
	for _, m := range Methods() {
		o := Options{Space: spaceOf(t, "linear", "weights.text=0..1"), Method: Method(m), Trials: 60}
		r := tuned(t, o, map[string]int{"one": 120, "two": 60}, [2]float64{2.5, 0})
		if !r.Recommended || r.Best.Weights["text"] < 0.7 || r.Unseen < r.Start+0.1 || r.Gain.Low <= 0 || r.P >= significant {
			t.Errorf("%s: %s, unseen %.4f, start %.4f", m, r.Verdict(), r.Unseen, r.Start)
		}
		if r.Seen < r.Unseen-0.01 {
			t.Errorf("%s: %.4f on what it was chosen by, %.4f on the rest", m, r.Seen, r.Unseen)
		}
		if got := r.Best.Weights["text"] + r.Best.Weights["vector"]; math.Abs(got-1) > 1e-9 {
			t.Errorf("%s: the weights add up to %v; want math.Abs(got - 1) at most 1e-9", m, got)
		}
		r = tuned(t, o, map[string]int{"one": 120, "two": 60}, [2]float64{})
		if r.Recommended {
			t.Errorf("%s finds something in noise: %s; want not r.Recommended", m, r.Verdict())
		}
	}
}

// TestFoldsAreFamilies: where words know in three families and vectors in the fourth, that one is measured by what the
// three choose, and loses. Each set of a family counts the same in it.
func TestFoldsAreFamilies(t *testing.T) {
	t.Parallel()
	tuner, err := New(Options{
		Space: spaceOf(t, "linear", "weights.text=0..1"), Method: Grid, Trials: 20, ByFamily: true, Metric: ndcg10(t),
	})
	if err != nil {
		t.Fatal(err)
	}
	drawn(t, tuner, map[string]int{"a_en": 60, "a_zh": 20, "b": 40, "c_x_y": 40}, [2]float64{2.5, 0})
	drawn(t, tuner, map[string]int{"d": 40}, [2]float64{0, 2.5})
	r, err := tuner.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	questions := map[string]int{}
	for i := range r.Folds {
		f := &r.Folds[i]
		questions[f.Family] = f.Questions
		if text := f.Variant.Weights["text"]; f.Family == "d" && (text < 0.7 || f.Gain.High >= 0) {
			t.Errorf(`weight of words %.2f, %s; want f.Family other than "d" or text at least 0.7 and f.Gain.High below 0`, text, interval(&f.Gain))
		}
		if f.Family == "a" && math.Abs(f.Start-(r.Sets[0].Start+r.Sets[1].Start)/2) > 1e-9 {
			t.Errorf("the family has %v, its sets %v and %v", f.Start, r.Sets[0].Start, r.Sets[1].Start)
		}
	}
	for i := range r.Sets { // the smallest p of 10,000 swaps is 1/10001, and five sets are looked at together
		if s := &r.Sets[i]; s.P < 4.999/10_001 {
			t.Errorf("%s has p %.5f, which is not corrected for five sets", s.Set, s.P)
		}
	}
	if r.Sets[2].P > significant {
		t.Errorf("where words know, p is %.4f; want r.Sets[2].P at most significant", r.Sets[2].P)
	}
	if want := map[string]int{"a": 80, "b": 40, "c": 40, "d": 40}; !maps.Equal(questions, want) {
		t.Errorf("folds %v, want %v", questions, want)
	}
}

// TestChoicesAreArms: normalisers and retrievals are beside each other, what makes no difference is said once.
func TestChoicesAreArms(t *testing.T) {
	t.Parallel()
	f := func(preset string, arms, retrievals int, parameters ...string) {
		t.Helper()
		tuner, err := New(Options{
			Space: spaceOf(t, preset, parameters...), Metric: ndcg10(t), Method: Random, Trials: 10, Folds: 5,
		})
		if err != nil {
			t.Error(err)
			return
		}
		if len(tuner.order) != arms || len(tuner.fetches) != retrievals {
			t.Errorf("%s %v: %d arms, %d retrievals; want %d, %d", preset, parameters, len(tuner.order), len(tuner.fetches),
				arms, retrievals)
		}
	}
	f("balanced", 2, 1, "weights.text=0..1") // one is the preset as it is
	f("linear", 6, 2, "weights.text=0..1", "normalizer=min_max,l2,dbsf,theoretical,z_score")
	f("linear", 2, 1, "normalizer=min_max,l2")                               // the preset is one of them, with nothing else to search
	f("balanced", 4, 4, "weights.text=0..1", "minimum_should_match=1,30%,2") // one more as the preset has it
	f("balanced", 4, 3, "weights.text=0..1", "text_query.phrase_slop=0,2,5")
	f("balanced", 4, 3, "weights.text=0..1", "preset=balanced,linear,rrf")
	f("balanced", 6, 3, "weights.text=0..1", "rrf_k=1..9", "preset=balanced,linear,rrf", "normalizer=l2,dbsf,min_max")

	f("balanced", 3, 3, "preset=linear,balanced", "candidates=20,100") // of linear alone, where 100 is usual

	usual := map[string]string{
		"balanced":     "weights.text=0..1",
		"rrf":          "weights.text=0..1 rrf_k=1..200:log",
		"linear":       "weights.text=0..1 normalizer=dbsf,l2,min_max,theoretical,z_score",
		"script_score": "weights.text=0.0002..1:log",
		"vector":       "",
	}
	for preset, want := range usual {
		s := spaceOf(t, preset)
		all, err := s.Usual()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for i := range all {
			got = append(got, all[i].String())
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s is searched by %q, want %q", preset, got, want)
		}
	}
}

func TestParametersAreChecked(t *testing.T) {
	t.Parallel()
	f := func(text string, said ...string) {
		t.Helper()
		_, err := Parse(text)
		if !fault.Is(err, fault.InvalidArgument) {
			t.Errorf("%s: %v; want an error of kind InvalidArgument", text, err)
			return
		}
		for _, part := range said {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %v does not say %q", text, err, part)
			}
		}
	}
	f("", "NAME=LOW..HIGH")
	f("weights", "NAME=LOW..HIGH")
	f("weights.=0..1", "NAME=LOW..HIGH")
	f("slop=1,2", "minimum_should_match")
	f("weights.text=1..0", "smaller to the larger")
	f("weights.text=-1..1", "from 0")
	f("weights.text=NaN..1", "smaller to the larger")
	f("weights.text=0..1:log", "> 0")
	f("weights.text=a..1", "two numbers")
	f("rrf_k=0..10", "from 1")
	f("rrf_k=10,10", "once")
	f("rrf_k=10,x", "numbers")
	f("normalizer=most", "min_max")
	f("normalizer=0..1", "choices")
	f("candidates=1000", "1 to 200")
	f("minimum_should_match=many", "minimum_should_match")
	f("text_query.phrase_slop=21", "text_query.phrase_slop is 21", "0 to 20")
	f("text_query.phrase_boost=much", "text_query.phrase_boost")
	f("text_query.slop=1", "text_query.slop")
	f("fields.title=x", "from 2 to 100")

	o := Options{Space: spaceOf(t, "balanced", "rrf_k=1..9"), Metric: ndcg10(t), Method: Grid, Trials: 10, Folds: 5}
	refused := func(want string, change func(o *Options)) {
		t.Helper()
		other := o
		change(&other)
		if _, err := New(other); !fault.Is(err, fault.InvalidArgument) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
	refused("changes something of preset balanced", func(*Options) {})
	refused("grid, random", func(o *Options) { o.Method = "guess" })
	refused("1 to 1000000", func(o *Options) { o.Trials = 0 })
	refused("3 to 10", func(o *Options) { o.Folds = 2 })
	refused("one of", func(o *Options) { o.Space.Preset = "mine" })
	refused("once", func(o *Options) {
		o.Space.Parameters = append(slices.Clone(o.Space.Parameters), o.Space.Parameters[0])
	})
}

func TestARunEnds(t *testing.T) {
	t.Parallel()
	deadline.Set(t, time.Minute)
	for _, m := range Methods() {
		tuner, err := New(Options{
			Space: spaceOf(t, "rrf", "weights.text=0..1", "rrf_k=1..60:log"), Metric: ndcg10(t), Method: Method(m),
			Trials: 100, Folds: 3,
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tuner.Run(t.Context()); !fault.Is(err, fault.InvalidArgument) {
			t.Errorf("%s without questions: %v", m, err)
		}
		drawn(t, tuner, map[string]int{"one": 20}, [2]float64{})
		ctx, cancel := context.WithCancel(t.Context())
		told := 0
		tuner.o.Progress = func(done, of int) {
			if told = done; done == 5 {
				cancel()
			}
			if done > of {
				t.Errorf("%s: %d of %d", m, done, of)
			}
		}
		if _, err := tuner.Run(ctx); !errors.Is(err, context.Canceled) || told > 20 {
			t.Errorf("%s: %v after %d trials; want context.Canceled and told at most 20", m, err, told)
		}
		cancel()
	}
}

func TestAddIsBounded(t *testing.T) {
	t.Parallel()
	tuner, err := New(Options{
		Space: spaceOf(t, "linear", "weights.text=0..1"), Metric: ndcg10(t), Method: Grid, Trials: 5, Folds: 3,
	})
	if err != nil {
		t.Fatal(err)
	}
	said := &search.Observed{
		Legs: []scoring.Leg{{Kind: scoring.Text}, {Kind: scoring.Vector}}, Shares: []float64{1, 1},
		Candidates: []scoring.Candidate{{ID: "a", Observations: []scoring.Observation{{Rank: 1, Raw: 2}, {Rank: 1, Raw: 0.5}}}},
	}
	q := Question{Set: "one", ID: "q", Judged: metric.Judgments{"a": 1}}
	if err := tuner.Add(0, q, said); err != nil || tuner.bytes < rowBytes || tuner.bytes > 1000 {
		t.Errorf("%v, %d bytes; want no error and tuner.bytes at least rowBytes and tuner.bytes at most 1000", err, tuner.bytes)
	}
	tuner.bytes = MaxBytes
	if err := tuner.Add(0, q, said); !fault.Is(err, fault.TooLarge) {
		t.Errorf("over the limit: %v; want an error of kind TooLarge", err)
	}
	said.Legs = said.Legs[:1]
	if err := tuner.Add(0, q, said); !fault.Is(err, fault.InvalidArgument) || !strings.Contains(err.Error(), "vectors") {
		t.Errorf("a set without vectors: %v", err)
	}
}

// TestTheSameSeedFindsTheSame: nothing depends on the order in which questions came, or on time.
func TestTheSameSeedFindsTheSame(t *testing.T) {
	t.Parallel()
	for _, m := range Methods() {
		var before string
		for range 2 {
			o := Options{Space: spaceOf(t, "rrf", "weights.text=0..1", "rrf_k=1..60:log"), Method: Method(m), Trials: 50, Seed: 3}
			r := tuned(t, o, map[string]int{"one": 90, "two": 40}, [2]float64{1, 1})
			r.Seconds, r.Date = 0, r.Date.Truncate(1<<62)
			text, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			if before != "" && before != string(text) {
				t.Errorf("%s: %s\nand\n%s", m, before, brief.Of(text))
			}
			before = string(text)
		}
	}
}
