//go:build !race

package experiments

import (
	"bufio"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// A recording is what two presets found for a question, the best ten.
type recording struct {
	query          string
	text, balanced ranking
}

// ranking are hits, best first.
type ranking struct {
	ids      []string
	relevant []bool
}

// recordings reads testdata/rankings.tsv: the embedded engine's rankings for every third question of stackfaq by the
// presets text and balanced, with a plus at hits that are judged to be relevant.
func recordings(t testing.TB) []recording {
	t.Helper()
	file, err := os.Open("testdata/rankings.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	var all []recording
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		columns := strings.Split(lines.Text(), "\t")
		if len(columns) != 3 {
			t.Fatalf("a line of %d columns", len(columns))
		}
		all = append(all, recording{query: columns[0], text: readRanking(columns[1]), balanced: readRanking(columns[2])})
	}
	return all[1:] // without the header
}

func readRanking(column string) (r ranking) {
	for _, word := range strings.Fields(column) {
		id, relevant := strings.CutSuffix(word, "+")
		r.ids, r.relevant = append(r.ids, id), append(r.relevant, relevant)
	}
	return r
}

// isRelevant reports whether a hit of one of two rankings is.
func (r *recording) isRelevant(id string) bool {
	if i := slices.Index(r.text.ids, id); i >= 0 {
		return r.text.relevant[i]
	}
	i := slices.Index(r.balanced.ids, id)
	return r.balanced.relevant[i]
}

// clicking is a model of users: the ranks that one clicks who clicks that readily (0 to 1).
type clicking func(random *rand.Rand, relevant []bool, readiness float64) []int

// byPosition is the position-based model (Craswell, Zoeter, Taylor, Ramsey, "An experimental comparison of click
// position-bias models", WSDM 2008): rank r is looked at with probability 1/r, and clicked if it attracts.
func byPosition(random *rand.Rand, relevant []bool, readiness float64) (clicks []int) {
	for i, isRelevant := range relevant {
		attraction := 0.05
		if isRelevant {
			attraction = 0.7
		}
		if random.Float64() < readiness*attraction/float64(i+1) {
			clicks = append(clicks, i+1)
		}
	}
	return clicks
}

// cascading is the dynamic Bayesian network (Chapelle, Zhang, "A dynamic Bayesian network click model for web search
// ranking", WWW 2009): from the top down, until a hit satisfies or patience ends.
func cascading(random *rand.Rand, relevant []bool, readiness float64) (clicks []int) {
	for i, isRelevant := range relevant {
		attraction, satisfaction := 0.1, 0.1
		if isRelevant {
			attraction, satisfaction = 0.7, 0.7
		}
		if random.Float64() < readiness*attraction {
			clicks = append(clicks, i+1)
			if random.Float64() < satisfaction {
				break
			}
		}
		if random.Float64() > 0.85 {
			break
		}
	}
	return clicks
}

// A trial is an experiment on simulated users.
type trial struct {
	experiment *Experiment
	of         []recording
	users      clicking
	variants   func(random *rand.Rand, question int, r *recording) [2]ranking // what they show
	slower     [2]float64                                                     // milliseconds on top of each variant's searches
}

// same are variants that show the rankings of either preset, each for a search as a coin says: they differ, and
// neither is better.
func same(random *rand.Rand, _ int, r *recording) [2]ranking {
	if random.Uint64()&1 == 0 {
		return [2]ranking{r.balanced, r.text}
	}
	return [2]ranking{r.text, r.balanced}
}

// better are variants of which the second is better: MRR@10 0.92 beside 0.79.
func better(_ *rand.Rand, _ int, r *recording) [2]ranking { return [2]ranking{r.text, r.balanced} }

// rarelyBetter are variants of which the second is better for one question of four, and the same for the others.
func rarelyBetter(random *rand.Rand, question int, r *recording) [2]ranking {
	if question%4 == 0 {
		return better(random, question, r)
	}
	return [2]ranking{r.text, r.text}
}

// A user searches again and again, and clicks more or less readily.
type user struct {
	key       string
	readiness float64
	slow      float64 // the network of this one
	tally     *Tally
}

// crowd is a trial that runs.
type crowd struct {
	trial
	random *rand.Rand
	users  []user
	seed   uint64
}

// search lets a user search once: a new one in four of ten, else one that has searched before.
func (c *crowd) search() {
	i := len(c.users)
	if i > 0 && c.random.Float64() > 0.4 {
		i = c.random.IntN(i)
	} else {
		c.users = append(c.users, c.newUser(i))
	}
	u := &c.users[i]
	n := c.random.IntN(len(c.of))
	variants := c.variants(c.random, n, &c.of[n])
	shown, teams, side := []bool(nil), []Team(nil), 0
	if c.experiment.Mode == Interleave {
		for _, p := range TeamDraft(variants[0].ids, variants[1].ids, c.experiment.Seed(u.key, c.of[n].query))[:10] {
			shown, teams = append(shown, c.of[n].isRelevant(p.ID)), append(teams, p.Team)
		}
	} else {
		side = slices.IndexFunc(c.experiment.Variants, func(v Variant) bool { return v.Name == u.tally.Variant })
		shown = variants[side].relevant
	}
	u.tally.Add(&Impression{
		Hits: len(shown), Teams: teams, Clicks: c.trial.users(c.random, shown, u.readiness),
		Latency: u.slow * (50 + c.slower[side]) * math.Exp(0.5*c.random.NormFloat64()),
	})
}

func (c *crowd) newUser(i int) user {
	u := user{
		key: fmt.Sprintf("%d-%d", c.seed, i), readiness: 0.4 + 0.6*c.random.Float64(),
		slow: 1 + c.random.ExpFloat64(), tally: &Tally{},
	}
	if v, _ := c.experiment.Assign(u.key); v != nil {
		u.tally.Variant = v.Name
	}
	return u
}

// run looks after so many searches each, and ends with the first verdict that is not open, or with the last look.
func (c *crowd) run(t *testing.T, looks []int) (verdict Verdict, searches int) {
	t.Helper()
	for _, look := range looks {
		for ; searches < look; searches++ {
			c.search()
		}
		all := func(yield func(*Tally) bool) {
			for i := range c.users {
				if !yield(c.users[i].tally) {
					return
				}
			}
		}
		report, err := Analyze(c.experiment, all, start.Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		if verdict = report.Verdict; verdict.Outcome != Open {
			break
		}
	}
	return verdict, searches
}

// result counts the verdicts of many runs.
type result struct {
	verdicts map[string]int // outcomes, and the winner's name
	median   int            // searches until a winner
}

// repeat runs a trial with so many seeds.
func (tr *trial) repeat(t *testing.T, seeds int, looks []int) result {
	t.Helper()
	r := result{verdicts: map[string]int{}}
	var needed []int
	for seed := range uint64(seeds) {
		c := &crowd{trial: *tr, random: rand.New(rand.NewPCG(seed, 7)), seed: seed}
		verdict, searches := c.run(t, looks)
		r.verdicts[strings.TrimSpace(string(verdict.Outcome)+" "+verdict.Winner)]++
		if verdict.Outcome == Won {
			needed = append(needed, searches)
		}
	}
	slices.Sort(needed)
	if len(needed) > 0 {
		r.median = needed[len(needed)/2]
	}
	return r
}

// often are twenty looks, one each so many searches.
func often(every int) (looks []int) {
	for n := range 20 {
		looks = append(looks, every*(n+1))
	}
	return looks
}

// ever are looks at more and more searches, each time one in twenty more.
func ever(until int) (looks []int) {
	for n := 40.0; n <= float64(until); n *= 1.05 {
		looks = append(looks, int(n))
	}
	return looks
}

var models = map[string]clicking{"position-based": byPosition, "dynamic Bayesian network": cascading}

// A rate of errors takes more runs than that nearly all find what is there.
const seeds, finders = 200, 60

// atMost is how many of 200 seeds may name a winner where there is none: more have a chance of 2 % at a rate of 5 %.
const atMost = 17

// TestNoDifference: variants that are the same hardly ever win, though somebody looks twenty times on the way.
func TestNoDifference(t *testing.T) {
	t.Parallel()
	of := recordings(t)
	for _, name := range slices.Sorted(maps.Keys(models)) {
		for _, metric := range []string{ClickThrough, ClickMRR, ""} {
			mode := fmt.Sprintf("%s, split by %s", name, metric)
			if metric == "" {
				mode = name + ", interleaved"
			}
			t.Run(mode, func(t *testing.T) {
				t.Parallel()
				e := halves()
				looks := often(500)
				if e.Metric = metric; metric == "" {
					e, looks = interleaved(), often(200) // which find what there is by then
				}
				tr := trial{experiment: e, of: of, users: models[name], variants: same}
				r := tr.repeat(t, seeds, looks)
				t.Logf("%s: %v", mode, r.verdicts)
				if won := seeds - r.verdicts["open"]; won > atMost {
					t.Errorf("%d of %d seeds end: %v", won, seeds, r.verdicts)
				}
			})
		}
	}
}

// TestDifference: a better variant is found, and interleaving finds it sooner: the more so, the smaller it is.
func TestDifference(t *testing.T) {
	t.Parallel()
	f := func(name string, tr trial, until int, ratio float64) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			find := func(e *Experiment, until int) int {
				t.Helper()
				tr.experiment = e
				r := tr.repeat(t, finders, ever(until))
				t.Logf("%s, %s %s: %v, median of %d searches", name, e.Mode, e.metric(), r.verdicts, r.median)
				if found := r.verdicts["won treatment"]; found < finders*95/100 || r.verdicts["won control"] > 1 {
					t.Errorf("%d of %d seeds find it: %v", found, finders, r.verdicts)
				}
				return r.median
			}
			byMRR := halves()
			byMRR.Metric = ClickMRR
			split, mrr := find(halves(), until), find(byMRR, until)
			both := find(interleaved(), until)
			t.Logf("%s: split needs %.1f and %.1f times the searches", name, float64(split)/float64(both), float64(mrr)/float64(both))
			if ratio*float64(both) > float64(min(split, mrr)) {
				t.Errorf("interleaving needs %d searches, split %d and %d", both, split, mrr)
			}
		})
	}
	of := recordings(t)
	for _, name := range slices.Sorted(maps.Keys(models)) {
		f(name+", better", trial{of: of, users: models[name], variants: better}, 20_000, 2)
		f(name+", rarely better", trial{of: of, users: models[name], variants: rarelyBetter}, 160_000, 5)
	}
}

// TestGuardRailOnUsers: a variant that is slower by a third is stopped; one that is not is not, though the rail is where
// it is.
func TestGuardRailOnUsers(t *testing.T) {
	t.Parallel()
	of := recordings(t)
	e := halves()
	e.GuardRails = []GuardRail{{Metric: Latency, Increase: pointer(0)}}
	tr := trial{
		experiment: e, of: of, users: byPosition, variants: same,
	}
	r := tr.repeat(t, seeds, often(500))
	t.Logf("the same: %v", r.verdicts)
	if stopped := seeds - r.verdicts["open"]; stopped > atMost {
		t.Errorf("%d of %d seeds end: %v", stopped, seeds, r.verdicts)
	}
	tr.slower[1] = 17
	r = tr.repeat(t, seeds, often(500))
	t.Logf("slower by a third: %v", r.verdicts)
	if r.verdicts["stopped"] < seeds*95/100 {
		t.Errorf(`slower by a third: %v; want r.verdicts["stopped"] at least seeds * 95 / 100`, r.verdicts)
	}
}
