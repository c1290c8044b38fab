package measuring

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/hybridge-search/hybridge/evaluation"
	"github.com/hybridge-search/hybridge/evaluation/tune"
	"github.com/hybridge-search/hybridge/internal/cli"
)

// ApartReport is the output for sets that are tuned separately.
type ApartReport struct {
	Preset string     `json:"preset"`
	Metric string     `json:"metric"`
	Sets   []apartSet `json:"sets"`
}

// apartSet is the result of tuning on one set, measured on held-out questions.
type apartSet struct {
	Set       string     `json:"set"`
	Digest    string     `json:"digest"`
	Questions int        `json:"questions"`
	Start     float64    `json:"start"` // the preset as it is
	Tuned     apartGain  `json:"tuned"`
	PerQuery  *apartGain `json:"per_query,omitempty"` // nil: the preset fuses no z-scores
}

type apartGain struct {
	Unseen      float64             `json:"unseen"`
	Gain        evaluation.Interval `json:"gain"`
	P           float64             `json:"p"`
	Recommended bool                `json:"recommended"`
	Variant     string              `json:"variant,omitempty"` // that all questions choose
}

func gainOf(r *tune.Result) apartGain {
	return apartGain{Unseen: r.Unseen, Gain: r.Gain, P: r.P, Recommended: r.Recommended}
}

// tuneApart tunes every set by itself, and fits weights per query where the preset can have them.
func tuneApart(ctx context.Context, p *cli.Program, f *tuneFlags, t *tuning) error {
	report, err := t.apart(ctx)
	if err = errors.Join(err, t.close(ctx)); err != nil {
		return err
	}
	return printTuned(ctx, p, report, f)
}

func (t *tuning) apart(ctx context.Context) (*ApartReport, error) {
	if err := t.load(ctx); err != nil {
		return nil, err
	}
	report := &ApartReport{Metric: t.options.Metric.Name, Preset: t.options.Space.Preset}
	for _, set := range t.sets {
		one := &tuning{program: t.program, evaluator: t.evaluator, options: new(*t.options), sets: []*evaluation.Set{set}}
		one.options.Digests = map[string]string{set.Name: t.options.Digests[set.Name]}
		tuned, err := one.tune(ctx)
		if err != nil {
			return nil, errors.Join(err, one.remove(ctx))
		}
		row := apartSet{
			Set: set.Name, Digest: set.Digest(), Questions: tuned.Questions, Start: tuned.Start, Tuned: gainOf(tuned),
		}
		row.Tuned.Variant = tuned.Best.String()
		if row.PerQuery, err = one.perQueryGain(ctx); err != nil {
			return nil, errors.Join(err, one.remove(ctx))
		}
		report.Sets = append(report.Sets, row)
		if err := one.remove(ctx); err != nil {
			return nil, err
		}
	}
	return report, nil
}

// perQueryGain is nil for a preset whose weights cannot follow from the question.
func (t *tuning) perQueryGain(ctx context.Context) (*apartGain, error) {
	fit, err := tune.NewPerQuery(*t.options)
	if err != nil {
		return nil, nil //nolint:nilerr,nilnil // the preset fuses no z-scores
	}
	if err := t.fetch(ctx, fit); err != nil {
		return nil, err
	}
	fitted, err := fit.Run(ctx)
	if err != nil {
		return nil, err
	}
	gain := gainOf(&fitted.Result)
	return &gain, nil
}

// WriteTables implements tables.
func (r *ApartReport) WriteTables(w io.Writer) error {
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
