package evaluation_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/evaluation"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/skips"
)

// variants are three systems beside one, measured by two metrics on so many questions; a question's right hit is at a
// place of its own in each.
type variants struct {
	set     *evaluation.Set
	against *evaluation.Result
	all     []*evaluation.Result
}

func variantsOf(questions int, place func(system, question int) int) *variants {
	v := &variants{set: &evaluation.Set{Name: "s", Judgments: map[string]evaluation.Judgments{}}}
	for q := range questions {
		v.set.Judgments[fmt.Sprint(q)] = evaluation.Judgments{"right": 1}
	}
	for s := range 4 {
		r := &evaluation.Result{Set: "s", System: fmt.Sprint("v", s)}
		for q := range questions {
			ranking := []string{"a", "b", "c", "d"}
			ranking[place(s, q)] = "right"
			r.Rows = append(r.Rows, evaluation.Row{Set: "s", System: r.System, Query: fmt.Sprint(q), Ranking: ranking})
		}
		v.all = append(v.all, r)
	}
	v.against, v.all = v.all[0], v.all[1:]
	return v
}

// report compares all with the one, as programs do, and checks that nothing is better or worse beyond chance.
func (v *variants) report(t *testing.T) *evaluation.Comparisons {
	t.Helper()
	report := &evaluation.Comparisons{}
	for _, system := range v.all {
		c, err := evaluation.Compare(v.set, system, v.against, metrics(t, "mrr@10", "recall@2"))
		if err != nil {
			t.Fatal(err)
		}
		report.All = append(report.All, c)
	}
	evaluation.CorrectAll(report.All)
	var rules []evaluation.Rule
	for _, text := range []string{"mrr@10 > 0 p<0.05", "mrr@10 < 0 p<0.05", "recall@2 > 0 p<0.05", "recall@2 < 0 p<0.05"} {
		rule, err := evaluation.ParseRule(text)
		if err != nil {
			t.Fatal(err)
		}
		rules = append(rules, rule)
	}
	var err error
	if report.Checks, err = evaluation.CheckAll(rules, report.All); err != nil {
		t.Fatal(err)
	}
	return report
}

// TestOneWinnerByChanceInTwenty: of systems that only chance tells apart, in one of twenty reports at most one is said
// to be better or worse, however many are looked at together. Alone each p would say so in three times as many.
func TestOneWinnerByChanceInTwenty(t *testing.T) {
	if raceDetector {
		skips.ByDesign(t, "make memory runs it without the race detector")
	}
	t.Parallel()
	const seed, reports = 11, 80
	random := rand.New(rand.NewPCG(seed, seed))
	winners, alone := 0, 0
	for range reports {
		r := variantsOf(24, func(int, int) int { return random.IntN(4) }).report(t)
		if len(r.Broken()) > 0 {
			winners++
		}
		least := 1.0
		for _, c := range r.All {
			for _, d := range c.Differences {
				least = min(least, d.P)
			}
		}
		if least < 0.05 {
			alone++
		}
	}
	t.Logf("seed %d: a winner in %d of %d reports, by p alone in %d", seed, winners, reports, alone)
	if winners > reports/20 || alone < 2*reports/20 {
		t.Errorf("a winner in %d of %d reports (seed %d), by p alone in %d", winners, reports, seed, alone)
	}
}

// TestReportsShowTheCorrectedChance: one of three variants loses by one metric with a p that alone would be small enough:
// no rule is broken by it, and every report shows the p that is compared.
func TestReportsShowTheCorrectedChance(t *testing.T) {
	t.Parallel()
	r := variantsOf(24, func(system, question int) int {
		switch {
		case system == 1 && question < 6:
			return 1
		case system > 1 && question%6 == system: // better and worse by turns
			return question / 6 % 2
		}
		return 0
	}).report(t)
	d := &r.All[0].Differences[0]
	if d.P >= 0.05 || d.Holm < 0.05 || len(r.Broken()) > 0 {
		t.Fatalf("p %v, corrected %v, broken %+v; want d.P below 0.05 and d.Holm at least 0.05 and len(r.Broken()) 0", d.P, d.Holm, r.Broken())
	}
	near(t, "the smallest of six p", d.Holm, 6*d.P)
	raw, corrected := fmt.Sprintf("%.4f", d.P), fmt.Sprintf("%.4f", d.Holm)
	var tables, junit, page strings.Builder
	for _, err := range []error{r.WriteTables(&tables), r.WriteJUnit(&junit), r.WriteHTML(&page)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for what, text := range map[string]string{
		"the table": tables.String(), "JUnit": junit.String(), "the page": page.String(), "a line": d.String(),
	} {
		if !strings.Contains(text, corrected) || strings.Contains(text, raw) {
			t.Errorf("%s shows %s instead of %s:\n%s", what, brief.Of(raw), corrected, text)
		}
	}
	for _, shown := range regexp.MustCompile(`, p (\d\.\d+), d`).FindAllStringSubmatch(junit.String(), -1) {
		if p, err := strconv.ParseFloat(shown[1], 64); err != nil || p < 0.05 {
			t.Errorf("JUnit shows p %s, %v; want no error and p at least 0.05", shown[1], err)
		}
	}
}
