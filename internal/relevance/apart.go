package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/hybridge-search/hybridge/evaluation"
	"github.com/hybridge-search/hybridge/evaluation/tune"
	"github.com/hybridge-search/hybridge/internal/offline"
)

// apartReport is the result for sets that are tuned separately.
type apartReport struct {
	Preset string
	Metric string
	Sets   []apartSet
}

// apartSet is the result of tuning on one set, measured on held-out questions.
type apartSet struct {
	Set       string
	Questions int
	Start     float64 // the preset as it is
	Tuned     apartGain
	PerQuery  *apartGain // nil: the preset fuses no z-scores
}

type apartGain struct {
	Unseen      float64
	Gain        evaluation.Interval
	P           float64
	Recommended bool
	Variant     string // that all questions choose
}

func gainOf(r *tune.Result) apartGain {
	return apartGain{Unseen: r.Unseen, Gain: r.Gain, P: r.P, Recommended: r.Recommended}
}

// apart tunes every set by itself, and fits weights per query where the preset can have them.
func apart(ctx context.Context, t *table, e *offline.Evaluator) (report, error) {
	all, err := t.tuning(e)
	if err != nil {
		return nil, err
	}
	if err := all.Load(ctx); err != nil {
		return nil, err
	}
	report := &apartReport{Metric: all.Options.Metric.Name, Preset: t.Preset}
	for _, set := range all.Sets {
		one := offline.NewTuning(e, new(*all.Options), all.Name)
		one.Sets = []*evaluation.Set{set}
		one.Options.Digests = map[string]string{set.Name: all.Options.Digests[set.Name]}
		row, err := tuneOne(ctx, one)
		if err = errors.Join(err, one.Remove(ctx)); err != nil {
			return nil, err
		}
		report.Sets = append(report.Sets, row)
	}
	return report, nil
}

// tuneOne tunes by one set.
func tuneOne(ctx context.Context, t *offline.Tuning) (row apartSet, err error) {
	tuned, err := t.Tune(ctx)
	if err != nil {
		return row, err
	}
	row = apartSet{Set: t.Sets[0].Name, Questions: tuned.Questions, Start: tuned.Start, Tuned: gainOf(tuned)}
	row.Tuned.Variant = tuned.Best.String()
	row.PerQuery, err = perQueryGain(ctx, t)
	return row, err
}

// perQueryGain is nil for a preset whose weights cannot follow from the question.
func perQueryGain(ctx context.Context, t *offline.Tuning) (*apartGain, error) {
	fit, err := tune.NewPerQuery(*t.Options)
	if err != nil {
		return nil, nil //nolint:nilerr,nilnil // the preset fuses no z-scores
	}
	if err := t.Fetch(ctx, fit); err != nil {
		return nil, err
	}
	fitted, err := fit.Run(ctx)
	if err != nil {
		return nil, err
	}
	gain := gainOf(&fitted.Result)
	return &gain, nil
}

// WriteTables implements report.
func (r *apartReport) WriteTables(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, on questions that it was not chosen by (95 %% bootstrap intervals of the difference, p by "+
		"paired randomization; bold where it is recommended):\n\n", r.Metric)
	fmt.Fprintf(&b, "| set | questions | %s | tuned | difference | p | per query | difference | p |\n", r.Preset)
	b.WriteString("|---|---|---|---|---|---|---|---|---|\n")
	var start, tuned, fitted float64
	for i := range r.Sets {
		s := &r.Sets[i]
		fmt.Fprintf(&b, "| %s | %d | %.4f | %s | %s |\n", s.Set, s.Questions, s.Start, s.Tuned.cells(), s.PerQuery.cells())
		n := float64(len(r.Sets))
		start, tuned = start+s.Start/n, tuned+s.Tuned.Unseen/n
		if s.PerQuery != nil {
			fitted += s.PerQuery.Unseen / n
		}
	}
	fmt.Fprintf(&b, "| **mean** | | **%.4f** | **%.4f** | %+.4f | |", start, tuned, tuned-start)
	if len(r.Sets) > 0 && r.Sets[0].PerQuery != nil {
		fmt.Fprintf(&b, " **%.4f** | %+.4f | |\n", fitted, fitted-start)
	} else {
		b.WriteString(" | | |\n")
	}
	b.WriteString("\nWhat all questions of a set choose:\n\n| set | variant |\n|---|---|\n")
	for i := range r.Sets {
		fmt.Fprintf(&b, "| %s | `%s` |\n", r.Sets[i].Set, r.Sets[i].Tuned.Variant)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// cells formats the cells of a row.
func (g *apartGain) cells() string {
	if g == nil {
		return " | | "
	}
	unseen := fmt.Sprintf("%.4f", g.Unseen)
	if g.Recommended {
		unseen = "**" + unseen + "**"
	}
	return fmt.Sprintf("%s | %+.4f [%+.4f, %+.4f] | %.4f", unseen, g.Gain.Mean, g.Gain.Low, g.Gain.High, g.P)
}
