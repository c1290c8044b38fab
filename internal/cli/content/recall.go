package content

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/search/recall"
)

// maxQuestionFile is more than a gateway takes.
const maxQuestionFile = 16 << 20

func kbRecallCommand(p *cli.Program) *cobra.Command {
	var req recall.Request
	var sample, k, candidates int
	var file string
	cmd := &cobra.Command{
		Use:   "recall KB",
		Short: "Measure the recall of approximate search on a knowledge base",
		Long: "Asks each query twice, as searches do and comparing every vector, on the knowledge base as it is now. It\n" +
			"tells the recall of each vector field, how far sampled statistics are off, what both do to the answers\n" +
			"of a preset, and the setting that would mend it.",
		Example: `  hybridge kb recall manuals
  hybridge kb recall manuals --preset vector --candidates 10 --sample 300
  hybridge kb recall manuals --queries questions.txt --json`,
	}
	flags := cmd.Flags()
	flags.IntVar(&sample, "sample", recall.DefaultSample,
		"Number of vectors of the knowledge base to query with, 1 to 500")
	flags.StringVar(&file, "queries", "", "Use the questions in this file instead, one per line, at most 500")
	flags.IntVar(&k, "k", recall.DefaultK, "Depth of the comparison, 1 to 100")
	flags.StringVar(&req.Preset, "preset", "", "Preset to measure (default: the gateway's)")
	flags.IntVar(&candidates, "candidates", 0,
		"Candidates per leg (default: the preset's); a small number shows the recall of the index itself")
	flags.StringVar(&req.Engine, "engine", "", "Engine to measure, if the knowledge base has several")
	asJSON := cli.AddJSON(flags)
	cli.AddTarget(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		flags := cmd.Flags()
		if flags.Changed("queries") {
			if err := cli.LeftOut(flags, "--queries", "sample"); err != nil {
				return err
			}
			var err error
			if req.Queries, err = readQuestions(file); err != nil {
				return err
			}
		}
		if flags.Changed("sample") {
			req.Sample = &sample
		}
		if flags.Changed("k") {
			req.K = &k
		}
		if flags.Changed("candidates") {
			req.Candidates = &candidates
		}
		return p.WithGateway(cmd, func(ctx context.Context, c *cli.Client) error {
			report, err := measureRecall(ctx, c, args[0], &req)
			if err != nil {
				return err
			}
			if *asJSON {
				return cli.PrintJSON(p.Stdout, report)
			}
			return printRecall(p.Stdout, report)
		})
	}
	return cmd
}

func measureRecall(ctx context.Context, c *cli.Client, id string, req *recall.Request) (*recall.Report, error) {
	report := &recall.Report{}
	return report, c.Post(ctx, cli.BasePath(id)+"/recall", req, report)
}

// readQuestions reads the questions of a file, one a line; lines without text are skipped.
func readQuestions(name string) ([]string, error) {
	f, err := os.Open(filepath.Clean(name))
	if err != nil {
		return nil, fault.Wrap(fault.InvalidArgument, err, "--queries cannot be read")
	}
	defer f.Close() //nolint:errcheck // it was only read
	text, err := io.ReadAll(io.LimitReader(f, maxQuestionFile+1))
	if err != nil {
		return nil, fault.Wrap(fault.InvalidArgument, err, "--queries cannot be read")
	}
	if len(text) > maxQuestionFile {
		return nil, fault.Invalid("--queries", name, "a file of at most 16 MiB")
	}
	var all []string
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, maxQuestionFile+1)
	for lines.Scan() {
		if line := strings.TrimSpace(lines.Text()); line != "" {
			all = append(all, line)
		}
	}
	if len(all) == 0 {
		return nil, fault.Invalid("--queries", name, "a file with a question on each line")
	}
	return all, nil
}

func printRecall(w io.Writer, r *recall.Report) error {
	out := &cli.Printer{W: w}
	out.Line("%s on %s, preset %s: %d of %s measured to depth %d", r.KnowledgeBase, r.Engine, r.Preset, r.Measured,
		cli.CountedQueries(r.Asked), r.K)
	if r.Why != "" {
		out.Line("%s", r.Why)
	}
	rows := cli.NewTable(w)
	rows.Line("FIELD\tVECTORS\tRECALL\tLOST\tUSUAL\tEXACT\tANSWERED BY\tWORST")
	for i := range r.Fields {
		f := &r.Fields[i]
		rows.Line("%s\t%d\t%s\t%d\t%.1f ms\t%.1f ms\t%s\t%s", f.Field, f.Vectors, f.Recall.Interval, f.Recall.Lost,
			f.ApproximateMS, f.ExactMS, strings.Join(slices.Sorted(maps.Keys(f.Methods)), ", "), worstOf(&f.Recall))
	}
	if out.Err == nil {
		out.Err = rows.Flush()
	}
	for i := range r.Fields {
		if m := r.Fields[i].Moments; m != nil {
			out.Line("%s: over %d of %d vectors, the mean of the cosines is off by %.3f deviations (at most %.3f), "+
				"the deviation is %.3f of the exact one (%.3f at worst)", r.Fields[i].Field, m.Sample, r.Fields[i].Vectors,
				m.Mean, m.WorstMean, m.Deviation, m.WorstBy)
		}
	}
	if a := r.Answers; a != nil {
		out.Line("answers keep %s of the exact ones; %s something", a.Kept.Interval, lacking(&a.Kept))
		if s := a.Statistics; s != nil {
			out.Line("with sampled statistics alone %s; %s something", s.Interval, lacking(s))
		}
	}
	if r.WayOut != "" {
		out.Line("%s", r.WayOut)
	}
	return out.Err
}

func lacking(s *recall.Share) string {
	if s.Lost == 1 {
		return "1 query lacks"
	}
	return fmt.Sprintf("%d queries lack", s.Lost)
}

// worstOf is the query that lacks most.
func worstOf(s *recall.Share) string {
	if s.Worst == nil {
		return ""
	}
	const shown = 60 // runes of a question
	text := []rune(s.Worst.Query)
	if len(text) > shown {
		text = append(text[:shown], '…')
	}
	return fmt.Sprintf("%.2f %s", s.Worst.Share, string(text))
}
