package measuring

import (
	"context"
	"fmt"
	"io"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/hybridge-search/hybridge/evaluation/exchange"
	"github.com/hybridge-search/hybridge/evaluation/library"
	"github.com/hybridge-search/hybridge/gateway/quality"
	"github.com/hybridge-search/hybridge/internal/cli"
)

func judgmentsCommand(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "judgments",
		Short: "Create, list, import, export and delete judgment lists",
		Long: `A judgment list has grades of chunks, or of whole documents, for the queries of a query set. A judgment of a
chunk keeps a hash of its text: it is found again under another id, and not taken for one of another text.`,
	}
	cmd.AddCommand(listCreateCommand(p), listListCommand(p), listImportCommand(p), listExportCommand(p),
		listGradeCommand(p), listAgreementCommand(p),
		deleteFrom(p, cli.ListsPath, &cobra.Command{Use: "delete LIST", Short: "Delete a judgment list with its judgments"}))
	return cmd
}

func listCreateCommand(p *cli.Program) *cobra.Command {
	var spec library.JudgmentListSpec
	var source string
	cmd := &cobra.Command{
		Use: "create ID", Short: "Create a judgment list",
		Example: "  hybridge judgments create people --query-set faq",
	}
	flags := cmd.Flags()
	flags.StringVar(&spec.QuerySet, "query-set", "", "Query set that is judged")
	flags.IntVar(&spec.MaxGrade, "max-grade", 3, "The highest grade; 0 is not relevant")
	flags.StringVar(&source, "source", string(library.People), "Who gives the grades: people, model or clicks")
	flags.StringVar(&spec.Name, "name", "", "Display name (default: the ID)")
	flags.StringVar(&spec.Note, "note", "", "Purpose")
	asJSON := cli.AddJSON(flags)
	cli.AddTarget(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if spec.QuerySet == "" {
			return cli.MissingFlag("--query-set", "the query set whose queries are judged")
		}
		spec.Source = library.Source(source)
		return p.WithGateway(cmd, func(ctx context.Context, c *cli.Client) error {
			if err := makeNew(ctx, c, pathOf(cli.ListsPath, args[0]), newList(spec)); err != nil {
				return err
			}
			return p.Done(*asJSON, "created", args[0])
		})
	}
	return cmd
}

func listListCommand(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List judgment lists"}
	columns := "ID\tJUDGMENTS\tQUERY SET\tGRADES\tSOURCE\tNAME"
	return cli.List(p, cmd, cli.ListsPath, columns, func(l *library.JudgmentList) string {
		return fmt.Sprintf("%s\t%d\t%s\t0-%d\t%s\t%s", l.ID, l.Judgments, l.QuerySet, l.MaxGrade, l.Source, l.Name)
	})
}

// judgmentImport are the flags of an import.
type judgmentImport struct {
	format, base string
	chunks       bool
}

func listImportCommand(p *cli.Program) *cobra.Command {
	var f judgmentImport
	cmd := &cobra.Command{
		Use:   "import LIST FILE",
		Short: "Add the judgments of a file",
		Long: `Adds judgments: of JSON Lines as export prints them, of Quepid's CSV (query, docid, rating), of BEIR's TSV, of
TREC's qrels, of ranx's JSON or CSV, of RRE's ratings, of lines for learning to rank (grade qid:query … # document), or
of standard input with -. Those of another program are of documents, unless --chunks says otherwise. A judgment of the
same query and chunk is replaced.
Problems of a file are reported on standard error, by line, with what was done about them; if rows are skipped or
refused, the exit code is 1 and the others are stored. A list has the scale that it was made with: judgments create
--max-grade.`,
		Example: `  hybridge judgments import people ratings.csv
  hybridge judgments import people qrels.txt --format trec --chunks`,
	}
	flags := cmd.Flags()
	flags.StringVar(&f.format, "format", "", formatUsage)
	flags.BoolVar(&f.chunks, "chunks", false, "The file judges chunks, by ID, not documents")
	flags.StringVar(&f.base, "kb", "",
		"Knowledge base of the judged hits (default: the query set's, if it has one)")
	return p.Calling(cmd, func(ctx context.Context, c *cli.Client, args []string) error {
		return importJudgments(ctx, p, c, &f, args)
	})
}

func importJudgments(ctx context.Context, p *cli.Program, c *cli.Client, f *judgmentImport, args []string) error {
	texts, err := textsOf(ctx, c, args[0])
	if err != nil {
		return err
	}
	how := exchange.Reading{Chunks: f.chunks, KnowledgeBase: f.base, ByText: make(map[string]string, len(texts))}
	for id, text := range texts {
		how.ByText[text] = id
	}
	in := &rowImport{program: p}
	var judgments []exchange.Judgment
	err = in.open(nil, args[1], f.format, func(file *exchange.File, r io.Reader) (err error) {
		judgments, err = file.Judgments(r, how)
		return err
	})
	if err == nil {
		err = in.judgments(ctx, c, args[0], judgments)
	}
	return in.finish(err)
}

// textsOf are the texts of a list's queries, by their ids.
func textsOf(ctx context.Context, c *cli.Client, list string) (map[string]string, error) {
	var described library.JudgmentList
	if err := c.Get(ctx, pathOf(cli.ListsPath, list), &described); err != nil {
		return nil, err
	}
	queries, err := queriesOf(ctx, c, described.QuerySet)
	texts := make(map[string]string, len(queries))
	for i := range queries {
		texts[queries[i].ID] = queries[i].Text
	}
	return texts, err
}

func listExportCommand(p *cli.Program) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use: "export LIST", Short: "Print the judgments of a list",
		Example: "  hybridge judgments export people --format trec > qrels.txt",
	}
	cmd.Flags().StringVar(&format, "format", string(exchange.Lines), "jsonl, csv (as Quepid), beir or trec")
	return p.Calling(cmd, func(ctx context.Context, c *cli.Client, args []string) error {
		judgments, err := judgmentsOf(ctx, c, args[0])
		if err != nil {
			return err
		}
		var texts map[string]string
		if exchange.Format(format) == exchange.CSV {
			if texts, err = textsOf(ctx, c, args[0]); err != nil {
				return err
			}
		}
		return write(p, func(w io.Writer) error {
			return exchange.WriteJudgments(w, exchange.Format(format), judgments, texts)
		})
	})
}

// judgmentsOf reads all judgments of a list.
func judgmentsOf(ctx context.Context, c *cli.Client, list string) (all []library.Judgment, err error) {
	for after := ""; ; {
		var page quality.Judgments
		path := fmt.Sprintf("%s/judgments?limit=1000&after=%s", pathOf(cli.ListsPath, list), url.QueryEscape(after))
		if err := c.Get(ctx, path, &page); err != nil {
			return nil, err
		}
		all = append(all, page.Judgments...)
		if after = page.Next; after == "" {
			return all, nil
		}
	}
}
