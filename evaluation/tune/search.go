package tune

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/hybridge-search/hybridge/evaluation"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/search"
)

// folds are a set of parts of the questions, a bit each.
type folds uint32

func (f folds) has(fold int) bool { return f&(1<<fold) != 0 }

func (f folds) without(fold int) folds { return f &^ (1 << fold) }

// split are the questions by fold: those of each set are dealt out in a random order, so that every fold has its
// share of every set.
func (t *Tuner) split() [][]int {
	parts := make([][]int, t.o.Folds)
	random := rand.New(rand.NewPCG(t.o.Seed, 1))
	bySet := map[string][]int{}
	for i := range t.questions {
		bySet[t.questions[i].Set] = append(bySet[t.questions[i].Set], i)
	}
	next := 0
	for _, set := range t.sets {
		those := bySet[set]
		random.Shuffle(len(those), func(i, j int) { those[i], those[j] = those[j], those[i] })
		for _, q := range those {
			parts[next%len(parts)] = append(parts[next%len(parts)], q)
			next++
		}
	}
	for _, part := range parts {
		slices.Sort(part)
	}
	return parts
}

// splitByFamily makes a fold of every family of sets.
func (t *Tuner) splitByFamily() error {
	t.families, t.parts = nil, nil
	for _, set := range t.sets {
		if family := evaluation.Family(set); !slices.Contains(t.families, family) {
			t.families = append(t.families, family)
		}
	}
	if n := len(t.families); n < MinFolds || n > MaxFolds {
		return fault.New(fault.InvalidArgument, "the sets are of %d families (%s), each a fold; 3 to 10 are accepted: "+
			"sets are of one family when their names are alike up to the first _", n, strings.Join(t.families, ", "))
	}
	t.parts = make([][]int, len(t.families))
	for q := range t.questions {
		fold := slices.Index(t.families, evaluation.Family(t.questions[q].Set))
		t.parts[fold] = append(t.parts[fold], q)
	}
	return nil
}

// folds returns the folds of a result, before anything is measured.
func (t *Tuner) folds() []Fold {
	all := make([]Fold, len(t.parts))
	for i, part := range t.parts {
		all[i].Questions = len(part)
		if t.families != nil {
			all[i].Family = t.families[i]
		}
	}
	return all
}

// trial is one variant of an arm: its places, and what it reached in each fold of each set.
type trial struct {
	places []float64
	sums   []float64 // [fold][set]
}

// searched is an arm with what was tried of it.
type searched struct {
	*arm
	fixed []trial         // where all trials are known beforehand
	found map[folds]trial // the best on some folds
}

// try measures a variant on the questions of some folds.
func (t *Tuner) try(a *arm, places []float64, on folds) (trial, error) {
	_, plan, err := t.o.Space.plan(a, places)
	if err != nil {
		return trial{}, err
	}
	done := trial{places: places, sums: make([]float64, len(t.parts)*len(t.sets))}
	for fold, part := range t.parts {
		if !on.has(fold) {
			continue
		}
		t.evaluator.measure(t.rows[a.columns], plan, part, t.values)
		for _, q := range part {
			done.sums[fold*len(t.sets)+t.setOf[q]] += t.values[q]
		}
	}
	t.tried++
	return done, nil
}

// mean is a trial's score over some folds: the mean over sets of the mean over their questions, the higher the
// better.
func (t *Tuner) mean(of *trial, on folds) float64 {
	whole := 0.0
	for set := range t.sets {
		sum, n := 0.0, 0
		for fold := range t.parts {
			if on.has(fold) {
				sum += of.sums[fold*len(t.sets)+set]
				n += t.counts[fold*len(t.sets)+set]
			}
		}
		if n > 0 {
			whole += sum / float64(n)
		}
	}
	if whole /= float64(len(t.sets)); t.o.Metric.LowerIsBetter {
		return -whole
	}
	return whole
}

// best is the best trial of an arm on some folds. Of equal ones the first stays.
func (t *Tuner) best(ctx context.Context, s *searched, on folds) (trial, error) {
	if known, is := s.found[on]; is {
		return known, nil
	}
	var best trial
	var err error
	if methods[t.o.Method].adapt == nil || len(s.ranges) == 0 {
		best, err = t.bestOfFixed(ctx, s, on)
	} else {
		best, err = t.climb(ctx, s, on)
	}
	if err == nil {
		s.found[on] = best
	}
	return best, err
}

// all are every fold.
func (t *Tuner) all() folds { return 1<<len(t.parts) - 1 }

// bestOfFixed measures every trial once, on all folds.
func (t *Tuner) bestOfFixed(ctx context.Context, s *searched, on folds) (best trial, err error) {
	if s.fixed == nil {
		points := [][]float64{{}}
		if n := len(s.ranges); n > 0 {
			points = methods[t.o.Method].points(n, t.trials, t.random(s, 0))
		}
		for _, places := range points {
			if err := ctx.Err(); err != nil {
				return best, err
			}
			done, err := t.try(s.arm, places, t.all())
			if err != nil {
				return best, err
			}
			s.fixed = append(s.fixed, done)
			t.progress(1)
		}
	}
	best = s.fixed[0]
	for i := range s.fixed[1:] {
		if one := &s.fixed[i+1]; t.mean(one, on) > t.mean(&best, on) {
			best = *one
		}
	}
	return best, nil
}

// climb searches the folds anew.
func (t *Tuner) climb(ctx context.Context, s *searched, on folds) (best trial, err error) {
	first := true
	err = methods[t.o.Method].adapt(&climb{
		ctx: ctx, dimensions: len(s.ranges), trials: t.trials, random: t.random(s, on),
		try: func(places []float64) (float64, error) {
			done, err := t.try(s.arm, places, on)
			if err != nil {
				return 0, err
			}
			t.progress(1)
			value := t.mean(&done, on)
			if first || value > t.mean(&best, on) {
				best, first = done, false
			}
			return value, nil
		},
	})
	if err != nil {
		return best, err
	}
	return t.try(s.arm, best.places, t.all()) // also where it was not searched
}

// random is the same for the same arm and folds.
func (t *Tuner) random(s *searched, on folds) *rand.Rand {
	return rand.New(rand.NewPCG(t.o.Seed, uint64(on)<<32|uint64(slices.Index(t.order, s))))
}

// work is the number of trials that a search will make.
func (t *Tuner) work() (n int) {
	searches := 1
	if methods[t.o.Method].adapt != nil {
		k := len(t.parts)
		searches = 1 + k + k*(k-1)/2
	}
	for _, s := range t.order {
		switch {
		case len(s.ranges) == 0:
			n++
		case methods[t.o.Method].adapt == nil:
			n += len(methods[t.o.Method].points(len(s.ranges), t.trials, t.random(s, 0)))
		default:
			n += t.trials * searches
		}
	}
	return n
}

// choose takes an arm by how its best on all but one of some folds does on that one, each in turn, and then the
// best of that arm on all of them.
func (t *Tuner) choose(ctx context.Context, on folds) (s *searched, best trial, err error) {
	highest := 0.0
	for _, candidate := range t.order {
		held := trial{sums: make([]float64, len(t.parts)*len(t.sets))}
		for fold := range t.parts {
			if !on.has(fold) {
				continue
			}
			found, err := t.best(ctx, candidate, on.without(fold))
			if err != nil {
				return nil, best, err
			}
			copy(held.sums[fold*len(t.sets):(fold+1)*len(t.sets)], found.sums[fold*len(t.sets):])
		}
		if value := t.mean(&held, on); s == nil || value > highest {
			s, highest = candidate, value
		}
	}
	best, err = t.best(ctx, s, on)
	return s, best, err
}

// plan returns the request and the plan of a trial.
func (t *Tuner) plan(s *searched, of *trial) (*search.Request, *search.Plan, error) {
	return t.o.Space.plan(s.arm, of.places)
}
