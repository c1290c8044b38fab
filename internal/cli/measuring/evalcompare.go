package measuring

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/hybridge-search/hybridge/evaluation"
	"github.com/hybridge-search/hybridge/evaluation/exchange"
	"github.com/hybridge-search/hybridge/evaluation/metric"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/cli"
)

// compareFlags are the flags of eval for comparisons, and for the differences that fail it.
type compareFlags struct {
	baseline, against       string
	metrics, rules, reports []string
}

func (f *compareFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.baseline, "baseline", "",
		"Compare with an earlier run: a file written by --per-query, or by trec_eval")
	flags.StringVar(&f.against, "against", "", "Baseline that the other systems are compared with")
	flags.StringSliceVar(&f.metrics, "metrics", []string{"ndcg@10", "mrr@10", "recall@100"},
		"Metrics to compare by: "+strings.Join(metric.Families(), ", ")+", each with a depth")
	flags.StringArrayVar(&f.rules, "fail-if", nil,
		"Exit with 1 if a comparison meets the condition, such as 'ndcg@10 < -0.005 p<0.05'; may be repeated")
	flags.StringArrayVar(&f.reports, "report", nil,
		"Write the comparisons into this file: .md, .html or .xml (JUnit); may be repeated")
}

// comparing compares results as they come; nil does not.
type comparing struct {
	flags   *compareFlags
	runs    []*evaluation.Result // of --baseline
	metrics []metric.Metric
	rules   []evaluation.Rule
	done    evaluation.Comparisons
	odd     exchange.Report // of the baseline
}

// reportFormats write comparisons, by the end of a file's name.
var reportFormats = map[string]func(*evaluation.Comparisons, io.Writer) error{
	".md":   (*evaluation.Comparisons).WriteTables,
	".html": (*evaluation.Comparisons).WriteHTML,
	".xml":  (*evaluation.Comparisons).WriteJUnit,
}

// openComparing reads everything that an evaluation must not be made in vain for.
func openComparing(flags *pflag.FlagSet, f *compareFlags) (c *comparing, err error) {
	if f.baseline == "" && f.against == "" {
		return nil, cli.GivenWith(flags, "baseline", "fail-if", "report", "metrics")
	}
	if f.baseline != "" {
		if err := cli.LeftOut(flags, "--baseline", "against"); err != nil {
			return nil, err
		}
	}
	c = &comparing{flags: f}
	if err := c.open(); err != nil {
		return nil, err
	}
	if f.baseline != "" {
		c.runs, err = evaluation.ReadRun(f.baseline, &c.odd)
	}
	return c, err
}

// open reads rules, metrics and the names of reports.
func (c *comparing) open() (err error) {
	for _, text := range c.flags.rules {
		rule, err := evaluation.ParseRule(text)
		if err != nil {
			return err
		}
		c.rules = append(c.rules, rule)
	}
	if c.metrics, err = metric.ParseAll(c.flags.metrics); err != nil {
		return err
	}
	for i := range c.rules {
		if !slices.ContainsFunc(c.metrics, func(m metric.Metric) bool { return m.Name == c.rules[i].Metric.Name }) {
			c.metrics = append(c.metrics, c.rules[i].Metric)
		}
	}
	for _, name := range c.flags.reports {
		if reportFormats[filepath.Ext(name)] == nil {
			return fault.Invalid("--report", name, "a file that ends in .md, .html or .xml")
		}
	}
	return nil
}

// add compares the results on a set.
func (c *comparing) add(set *evaluation.Set, results []*evaluation.Result) error {
	if c == nil {
		return nil
	}
	earlier := c.runs
	if c.flags.against != "" {
		i := slices.IndexFunc(results, func(r *evaluation.Result) bool { return r.System == c.flags.against })
		if i < 0 {
			return fault.Invalid("--against", c.flags.against, "one of the presets and systems that are measured")
		}
		earlier, results = results[i:i+1], slices.Concat(results[:i], results[i+1:])
	}
	for _, now := range results {
		before, err := evaluation.Baseline(earlier, now)
		if err != nil {
			return err
		}
		compared, err := evaluation.Compare(set, now, before, c.metrics)
		if err != nil {
			return err
		}
		c.done.All = append(c.done.All, compared)
	}
	return nil
}

// finish checks the rules, and writes the reports; errReported means that a rule is broken.
func (c *comparing) finish(stderr io.Writer) (err error) {
	evaluation.CorrectAll(c.done.All)
	if c.done.Checks, err = evaluation.CheckAll(c.rules, c.done.All); err != nil {
		return err
	}
	for _, name := range c.flags.reports {
		var page bytes.Buffer
		if err := reportFormats[filepath.Ext(name)](&c.done, &page); err != nil {
			return err
		}
		if err := os.WriteFile(name, page.Bytes(), 0o600); err != nil {
			return fault.Wrap(fault.InvalidArgument, err, "write --report")
		}
	}
	broken := c.done.Broken()
	for _, b := range broken {
		fmt.Fprintf(stderr, "hybridge: %s of %s on %s: %s\n", b.Rule, b.System, b.Set, b.Difference)
	}
	if len(broken) > 0 {
		return cli.ErrReported
	}
	return nil
}

// compared is a report with comparisons below it.
type compared struct {
	tables
	comparing *comparing
}

// WriteTables implements tables.
func (c *compared) WriteTables(w io.Writer) error {
	if err := c.tables.WriteTables(w); err != nil {
		return err
	}
	return c.comparing.done.WriteTables(w)
}

// MarshalJSON puts the members of both beside each other.
func (c *compared) MarshalJSON() ([]byte, error) {
	report, ok := c.tables.(*evaluation.Report)
	if !ok {
		return nil, fmt.Errorf("a %T is not compared", c.tables)
	}
	return json.Marshal(struct {
		*evaluation.Report
		*evaluation.Comparisons

		Odd []*exchange.Oddity `json:"baseline_oddities,omitempty"`
	}{report, &c.comparing.done, c.comparing.odd.Oddities})
}
