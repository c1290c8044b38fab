// Package tune searches the fusion of a preset: weights, normaliser, the constant k of reciprocal rank fusion,
// signals. What the legs say of each question is fetched once (search.Searcher.Observe) and fused in memory by
// every variant, so that a variant costs some microseconds a question. It speaks to no engine itself.
//
// What is found is measured by nested cross-validation (Varma and Simon, "Bias in error estimation when using
// cross-validation for model selection", 2006; Cawley and Talbot, "On Over-fitting in Model Selection", JMLR
// 2010): each part of the questions is measured by a variant that was chosen without it.
package tune

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/hybridge-search/hybridge/evaluation/metric"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/search"
)

// Limits.
const (
	MinFolds  = 3
	MaxFolds  = 10
	MaxTrials = 1_000_000
	// MaxBytes limits the memory of the observations.
	MaxBytes = 1 << 30
)

// Options say what is searched, and how.
type Options struct {
	Space  Space
	Metric metric.Metric
	Method Method
	Trials int // of one search, over all arms
	Folds  int
	// ByFamily makes every family of sets (evaluation.Family) a fold, instead of Folds random parts of the questions:
	// what is found is measured on sets that nothing was known of.
	ByFamily bool
	Seed     uint64
	// Digests are the SHA-256 of sets, by name: where a preset comes from. They may be left out.
	Digests map[string]string
	// Progress is told how many trials of how many are done, by one goroutine at a time; nil: nobody is.
	Progress func(done, of int)
}

func (o *Options) validate() error {
	if err := o.Method.Validate(); err != nil {
		return err
	}
	switch {
	case o.Trials < 1 || o.Trials > MaxTrials:
		return fault.Invalid("trials", o.Trials, "1 to 1000000")
	case !o.ByFamily && (o.Folds < MinFolds || o.Folds > MaxFolds):
		return fault.Invalid("folds", o.Folds, "3 to 10")
	case o.Space.TopK < 1:
		return fault.Invalid("top_k", o.Space.TopK, "at least 1")
	}
	for i, p := range o.Space.Parameters {
		if slices.ContainsFunc(o.Space.Parameters[:i], func(other Parameter) bool { return other.Name == p.Name }) {
			return fault.Invalid("space", p.Name, "named once")
		}
	}
	return nil
}

// Tuner is one search: New, Ask for every question by each of Requests, Run. Add may be called by several
// goroutines at a time, all else by one.
type Tuner struct {
	o       Options
	fetches []search.Request
	legs    []int // of the plan of each
	rows    []*rows
	known   bool        // features of questions are kept
	order   []*searched // the preset as it is, then the arms

	adding    sync.Mutex
	bytes     int
	at        map[[2]string]int // of questions, by set and id
	questions []question
	sets      []string
	families  []string // of each fold, where folds are families

	evaluator *evaluator
	parts     [][]int
	setOf     []int     // by question
	counts    []int     // of questions, by [fold][set]
	values    []float64 // by question, of the last trial
	trials    int       // of a search of one arm
	tried     int
	done      int
	whole     int
}

// New makes a Tuner of a space.
func New(o Options) (*Tuner, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	if len(o.Space.Parameters) == 0 {
		return nil, fault.Invalid("space", "nothing", "at least one parameter")
	}
	t := &Tuner{o: o, at: map[[2]string]int{}}
	arms, err := t.o.Space.arms()
	if err != nil {
		return nil, err
	}
	if t.fetches, t.rows, err = t.o.Space.sortOut(arms); err != nil {
		return nil, err
	}
	for i := range arms {
		t.order = append(t.order, &searched{arm: &arms[i], found: map[folds]trial{}})
	}
	for i := range t.fetches {
		plan, err := t.o.Space.planOf(&t.fetches[i])
		if err != nil {
			return nil, err
		}
		t.legs = append(t.legs, len(plan.Legs))
	}
	searchedArms := 0
	for _, s := range t.order {
		if len(s.ranges) > 0 {
			searchedArms++
		}
	}
	t.trials = max(1, o.Trials/max(1, searchedArms))
	return t, nil
}

// Requests are the ways by which every question is asked once: all but the question itself.
func (t *Tuner) Requests() []search.Request { return t.fetches }

// Add takes what the legs of a request said to a question, by the place of the request. It is fault.TooLarge once all
// of it takes more than MaxBytes.
func (t *Tuner) Add(request int, q Question, said *search.Observed) error {
	made := make([]row, len(t.rows))
	size := 0
	if want := t.legs[request]; len(said.Legs) != want {
		return fault.New(fault.InvalidArgument, "set %s has %d legs, the plan %d: either all sets have vectors or none",
			q.Set, len(said.Legs), want)
	}
	for i, r := range t.rows {
		if r.fetch == request {
			made[i] = rowOf(r.fusion, said, &q)
			if t.known {
				made[i].known = said.Features
			}
			size += made[i].bytes()
		}
	}
	t.adding.Lock()
	defer t.adding.Unlock()
	if t.bytes += size; t.bytes > MaxBytes {
		return fault.New(fault.TooLarge, "what was found takes more than 1 GiB of memory after %d questions (%d retrievals, "+
			"%d fusions); search a smaller space, or by fewer questions", len(t.questions), len(t.fetches), len(t.rows))
	}
	at := t.place(q)
	for i, r := range t.rows {
		if r.fetch != request {
			continue
		}
		for len(r.of) < len(t.questions) {
			r.of = append(r.of, row{})
		}
		r.of[at] = made[i]
	}
	return nil
}

// place returns the index of a question, which may be new.
func (t *Tuner) place(q Question) int {
	key := [2]string{q.Set, q.ID}
	at, known := t.at[key]
	if !known {
		at = len(t.questions)
		t.at[key] = at
		t.questions = append(t.questions, question{q, metric.NewJudged(q.Judged, q.Scale)})
	}
	return at
}

// Run searches, when all that was found is added.
func (t *Tuner) Run(ctx context.Context) (*Result, error) {
	started := time.Now()
	if err := t.prepare(); err != nil {
		return nil, err
	}
	t.whole = t.work()
	r := &Result{
		Date: started.UTC(), Preset: t.o.Space.Preset, Metric: t.o.Metric.Name, Method: t.o.Method,
		Hits: t.o.Space.TopK, Folds: t.folds(),
		Questions: len(t.questions), Retrievals: len(t.fetches), Arms: len(t.order), lowerIsBetter: t.o.Metric.LowerIsBetter,
		Bytes: t.bytes,
	}
	unseen := make([]float64, len(t.questions))
	for fold := range t.parts {
		s, best, err := t.choose(ctx, t.all().without(fold))
		if err != nil {
			return nil, err
		}
		request, plan, err := t.plan(s, &best)
		if err != nil {
			return nil, err
		}
		t.evaluator.measure(t.rows[s.columns], plan, t.parts[fold], unseen)
		r.Folds[fold].Variant = variantOf(request)
	}
	s, best, err := t.choose(ctx, t.all())
	if err != nil {
		return nil, err
	}
	if err := t.report(r, s, &best, unseen); err != nil {
		return nil, err
	}
	r.Tried, r.Seconds = t.tried, time.Since(started).Seconds()
	return r, nil
}

// prepare puts the questions into an order that does not depend on when they were added, and divides them.
func (t *Tuner) prepare() error {
	order := make([]int, len(t.questions))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return t.questions[a].compare(&t.questions[b].Question) })
	t.questions = inOrder(t.questions, order)
	for _, r := range t.rows {
		if len(r.of) < len(order) || slices.ContainsFunc(r.of, func(one row) bool { return one.columns == nil }) {
			return fault.New(fault.InvalidArgument, "not every question was asked in every way of retrieving")
		}
		r.of = inOrder(r.of, order)
	}
	t.sets, t.setOf = nil, make([]int, len(t.questions))
	for i := range t.questions {
		if n := len(t.sets); n == 0 || t.sets[n-1] != t.questions[i].Set {
			t.sets = append(t.sets, t.questions[i].Set)
		}
		t.setOf[i] = len(t.sets) - 1
	}
	if len(t.sets) == 0 {
		return fault.New(fault.InvalidArgument, "there are no judged questions")
	}
	if t.o.ByFamily {
		if err := t.splitByFamily(); err != nil {
			return err
		}
	} else {
		t.parts = t.split()
	}
	t.counts = make([]int, len(t.parts)*len(t.sets))
	for fold, part := range t.parts {
		for _, q := range part {
			t.counts[fold*len(t.sets)+t.setOf[q]]++
		}
	}
	for set, name := range t.sets {
		least := 0
		for fold := range t.parts {
			least += t.counts[fold*len(t.sets)+set]
		}
		if least < 2*len(t.parts) {
			return fault.New(fault.InvalidArgument, "set %s has %d judged questions; %d folds need %d",
				name, least, len(t.parts), 2*len(t.parts))
		}
	}
	t.values = make([]float64, len(t.questions))
	t.evaluator = newEvaluator(t.o.Metric, t.questions)
	return nil
}

func inOrder[T any](all []T, order []int) []T {
	ordered := make([]T, len(order))
	for i, at := range order {
		ordered[i] = all[at]
	}
	return ordered
}

// progress tells of trials that are done.
func (t *Tuner) progress(n int) {
	if t.done += n; t.o.Progress != nil {
		t.o.Progress(min(t.done, t.whole), t.whole)
	}
}
