package tune

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/evaluation"
	"github.com/hybridge-search/hybridge/evaluation/metric"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/presets"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search"
)

// fitted to drawn questions of two kinds: with digits, where so much of the words' scores says what is relevant, and
// without, where vectors say so.
func fittedTo(t *testing.T, questions int, telling float64) *PerQueryResult {
	t.Helper()
	p, err := NewPerQuery(Options{Space: spaceOf(t, "balanced"), Metric: ndcg10(t), Folds: 5, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(3, 3))
	for n := range questions {
		coded := n % 2
		said := &search.Observed{
			Legs: []scoring.Leg{
				{Name: "text", Kind: scoring.Text, Moments: &scoring.Moments{Mean: 10, Deviation: 1}},
				{Name: "vector", Kind: scoring.Vector, Moments: &scoring.Moments{Mean: 0.5, Deviation: 0.1}},
			},
			Shares:   []float64{1, 1},
			Features: map[string]float64{"digits": float64(coded), "terms": random.Float64(), "known": 1},
		}
		for c := range 30 {
			ahead := [2]float64{}
			if c == 0 {
				ahead[1-coded] = telling
			}
			said.Candidates = append(said.Candidates, scoring.Candidate{
				ID: fmt.Sprintf("c%02d", (c+n)%30), Observations: []scoring.Observation{
					{Rank: 1, Raw: max(0, 10+random.NormFloat64()+ahead[0])},
					{Rank: 1, Raw: min(1, 0.5+0.1*(random.NormFloat64()+ahead[1]))},
				},
			})
		}
		q := Question{Set: "one", ID: fmt.Sprint(n), Judged: metric.Judgments{said.Candidates[0].ID: 1}}
		if err := p.Add(0, q, said); err != nil {
			t.Fatal(err)
		}
	}
	r, err := p.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestWeightsPerQueryAreLearned where a feature tells which leg knows, and nothing is recommended where none does.
func TestWeightsPerQueryAreLearned(t *testing.T) {
	withoutRaces(t)
	t.Parallel()
	r := fittedTo(t, 240, 2.5)
	if !r.Recommended || r.Unseen < r.Start+0.05 || r.Seen < r.Unseen-0.01 || r.Oracle < r.Seen ||
		!(r.Model.Coefficients["digits"] > 1) {
		t.Errorf("%s unseen %.4f, start %.4f, seen %.4f, %+v", r.Verdict(), r.Unseen, r.Start, r.Seen, r.Model)
	}
	if !(r.Factors[0] < r.Factors[2]) {
		t.Errorf("factors %v", r.Factors)
	}
	text, err := r.WritePreset("coded", Written{Variant: r.Best, WeightsBy: r.Model})
	if err != nil || !strings.Contains(text, "weights_by:") || !strings.Contains(text, "digits: ") {
		t.Errorf(`%q, %v; want no error and "weights_by:" in it and "digits: " in it`, text, err)
	}
	if r = fittedTo(t, 240, 0); r.Recommended || r.Unseen < r.Start-0.02 {
		t.Errorf("in noise: %s", r.Verdict())
	}
}

func TestPerQueryRefuses(t *testing.T) {
	t.Parallel()
	f := func(want, preset string, custom map[string]presets.Custom) {
		t.Helper()
		space := spaceOf(t, preset)
		planners, err := presets.With(custom)
		if err == nil {
			space.Planners = planners
			_, err = NewPerQuery(Options{Space: space, Metric: ndcg10(t), Folds: 5})
		}
		if !fault.Is(err, fault.InvalidArgument) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", preset, err, want)
		}
	}
	model := &search.WeightModel{Coefficients: map[string]float64{"digits": 1}}
	f("without weights_by", "mine", map[string]presets.Custom{"mine": {Base: "balanced", WeightsBy: model}})
	f("fuses z-scores", "rrf", nil)
	f("words and vectors", "vector", nil)
	f("cannot be planned", "mine", map[string]presets.Custom{"mine": {Base: "rrf", WeightsBy: model}})
	f("one of agreement", "mine", map[string]presets.Custom{"mine": {Base: "balanced", WeightsBy: &search.WeightModel{
		Coefficients: map[string]float64{"digit": 1},
	}}})
	f("-100 to 100", "mine", map[string]presets.Custom{"mine": {Base: "balanced", WeightsBy: &search.WeightModel{
		Coefficients: map[string]float64{"digits": math.NaN()},
	}}})
}

// TestWeightsPerQueryRankAsTheSearch holds a model in memory to the search by a preset that has it: the same rankings,
// whatever the page. xquad_en2zh is fused by evidence.
func TestWeightsPerQueryRankAsTheSearch(t *testing.T) {
	model := &search.WeightModel{Intercept: 0.2, Coefficients: map[string]float64{
		"digits": 0.5, "text_gap": -0.4, "vector_gap": 0.6, "agreement": 1, "terms": 0.3, "vector_in_text": -0.3,
	}}
	planners, err := presets.With(map[string]presets.Custom{"own": {Base: "balanced", WeightsBy: model}})
	if err != nil {
		t.Fatal(err)
	}
	for name, most := range map[string]int{"stackfaq": 0, "xquad_en2zh": asked / 4} { // see exactChunks of search
		s := store(t, name, asked)
		s.searcher.Planners = planners
		p, err := NewPerQuery(Options{Space: spaceOf(t, "balanced"), Metric: ndcg10(t), Folds: 5})
		if err != nil {
			t.Fatal(err)
		}
		ids := s.fetch(t, p.tuner)
		if err := p.tuner.prepare(); err != nil {
			t.Fatal(err)
		}
		ten := 10
		system := evaluation.System{Name: "own", Request: search.Request{Preset: "own", TopK: &ten}}
		result, err := evaluation.Run(t.Context(), s.searcher, s.kb, s.set, system)
		if err != nil {
			t.Fatal(err)
		}
		want, differ := map[string][]string{}, 0
		for i := range result.Rows {
			want[result.Rows[i].Query] = result.Rows[i].Ranking
		}
		e, values := p.tuner.evaluator, make([]float64, len(p.tuner.questions))
		for q := range p.tuner.questions {
			row, plan := &p.tuner.rows[0].of[q], *p.plan
			plan.Legs = weighed(plan.Legs, model.Factor(row.known))
			e.measure(p.tuner.rows[0], &plan, []int{q}, values)
			var got []string
			for _, place := range e.rank(row, &plan, &e.scratch[0]) {
				got = append(got, ids[fmt.Sprint(0, p.tuner.questions[q].ID)][row.columns.Candidates()[place]])
			}
			if !slices.Equal(got, want[p.tuner.questions[q].ID]) {
				differ++
			}
		}
		if by := mean(values) - result.NDCG10(); differ > most || math.Abs(by) > 0.002 {
			t.Errorf("%s: %d of %d questions are ranked otherwise than by the search, nDCG@10 differs by %+.5f",
				name, differ, len(p.tuner.questions), by)
		}
	}
}
