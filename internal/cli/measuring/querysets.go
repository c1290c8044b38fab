// Package measuring has the commands that tell which search is better: eval.go and tune.go measure files here (with
// evalcompare.go, tuneapart.go, tuneperquery.go and markedpage.go); querysets.go, judgments.go, gradings.go,
// evaluationsrun.go and tunings.go have a gateway do so, events.go and experiments.go are about its users.
// rowimport.go sends it rows of files.
package measuring

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hybridge-search/hybridge/evaluation/exchange"
	"github.com/hybridge-search/hybridge/evaluation/library"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway/quality"
	"github.com/hybridge-search/hybridge/internal/cli"
)

// Commands are the commands that measure which search is better.
func Commands(p *cli.Program) []*cobra.Command {
	return []*cobra.Command{
		evalCommand(p), tuneCommand(p), querySetsCommand(p), judgmentsCommand(p), evaluationsCommand(p),
		tuningsCommand(p), eventsCommand(p), experimentsCommand(p),
	}
}

const formatUsage = "Format of the file: jsonl, csv, beir, trec, ranx, rre or ltr (default: detected)"

func pathOf(collection, id string) string { return collection + "/" + url.PathEscape(id) }

func querySetsCommand(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "query-sets",
		Short: "Create, list, import, export and delete query sets",
		Long: `A query set is questions to knowledge bases, kept by the gateway, by which hybridge evaluations measures. Their
judgments are in lists: hybridge judgments.`,
	}
	cmd.AddCommand(querySetCreateCommand(p), querySetListCommand(p), querySetImportCommand(p),
		querySetExportCommand(p), deleteFrom(p, cli.QuerySetsPath, &cobra.Command{
			Use: "delete QUERYSET", Short: "Delete a query set with its queries and judgments",
		}))
	return cmd
}

func querySetCreateCommand(p *cli.Program) *cobra.Command {
	var spec library.QuerySetSpec
	cmd := &cobra.Command{
		Use: "create ID", Short: "Create a query set",
		Example: "  hybridge query-sets create faq --kb manuals",
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&spec.KnowledgeBases, "kb", nil, "Knowledge base of its queries; may be repeated")
	flags.StringVar(&spec.Name, "name", "", "Display name (default: the ID)")
	flags.StringVar(&spec.Note, "note", "", "Purpose")
	asJSON := cli.AddJSON(flags)
	cli.AddTarget(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(spec.KnowledgeBases) == 0 {
			return cli.MissingFlag("--kb", "the knowledge bases that its queries are asked of")
		}
		return p.WithGateway(cmd, func(ctx context.Context, c *cli.Client) error {
			if err := makeNew(ctx, c, pathOf(cli.QuerySetsPath, args[0]), newSet(spec)); err != nil {
				return err
			}
			return p.Done(*asJSON, "created", args[0])
		})
	}
	return cmd
}

// makeNew makes a set; one that exists, or is made at the same time by somebody else, is a fault.Conflict.
func makeNew(ctx context.Context, c *cli.Client, path string, edit any) error {
	var there struct{ ID string }
	switch err := c.Get(ctx, path, &there); {
	case err == nil:
		return fault.New(fault.Conflict, "%q exists already", there.ID)
	case !fault.Is(err, fault.NotFound):
		return err
	default:
		return c.Put(ctx, path, edit)
	}
}

func newSet(spec library.QuerySetSpec) quality.QuerySetEdit {
	return quality.QuerySetEdit{QuerySetSpec: spec, BaseVersion: new(int64)}
}

func newList(spec library.JudgmentListSpec) quality.JudgmentListEdit {
	return quality.JudgmentListEdit{JudgmentListSpec: spec, BaseVersion: new(int64)}
}

func querySetListCommand(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List query sets"}
	return cli.List(p, cmd, cli.QuerySetsPath, "ID\tQUERIES\tKNOWLEDGE BASES\tNAME", func(s *library.QuerySet) string {
		return fmt.Sprintf("%s\t%d\t%s\t%s", s.ID, s.Queries, strings.Join(s.KnowledgeBases, ", "), s.Name)
	})
}

// querySetImport are the flags of an import.
type querySetImport struct {
	format, judgments string
	bases             []string
	chunks, replace   bool
}

func querySetImportCommand(p *cli.Program) *cobra.Command {
	var f querySetImport
	cmd := &cobra.Command{
		Use:   "import QUERYSET FILE",
		Short: "Add the queries of a file, or of a folder in BEIR's layout with its judgments",
		Long: `Adds queries: of JSON Lines (id and text, or _id as BEIR has it), of CSV with a column query, of RRE's ratings,
or of standard input with -. Of a folder it takes queries.jsonl and, with --judgments, qrels.tsv or qrels/test.tsv. With
--kb the query set is made where there is none.
Problems of a file are reported on standard error, by line, with what was done about them; if rows are skipped or
refused, the exit code is 1 and the others are stored. A query that has judgments keeps its text, unless --replace
says otherwise.`,
		Example: `  hybridge query-sets import faq questions.csv
  hybridge query-sets import scifact ./scifact --kb scifact --judgments scifact`,
	}
	flags := cmd.Flags()
	flags.StringVar(&f.format, "format", "", "Format of the file: jsonl, csv or rre (default: detected)")
	flags.StringSliceVar(&f.bases, "kb", nil, "Create the query set for these knowledge bases, if missing")
	flags.StringVar(&f.judgments, "judgments", "",
		"For a folder: the judgment list to add its judgments to, created if missing")
	flags.BoolVar(&f.chunks, "chunks", false, "The folder judges chunks, by ID, not documents")
	flags.BoolVar(&f.replace, "replace", false,
		"Also replace the text of queries that have judgments, which then apply to the new text")
	return p.Calling(cmd, func(ctx context.Context, c *cli.Client, args []string) error {
		return importQuerySet(ctx, p, c, &f, args)
	})
}

func importQuerySet(ctx context.Context, p *cli.Program, c *cli.Client, f *querySetImport, args []string) error {
	set, path := args[0], args[1]
	in := &rowImport{program: p}
	var folder *exchange.Folder
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		if folder, err = exchange.OpenFolder(path, &in.report, ""); err != nil {
			return err
		}
		path = folder.Queries
	}
	if f.judgments != "" && folder == nil {
		return fault.Invalid("--judgments", f.judgments, "omitted where a file is imported: hybridge judgments import")
	}
	var queries []exchange.Query
	err := in.open(folder, path, f.format, func(file *exchange.File, r io.Reader) (err error) {
		queries, _, err = file.Queries(r)
		return err
	})
	if err != nil {
		return err
	}
	if len(f.bases) > 0 {
		spec := library.QuerySetSpec{KnowledgeBases: f.bases}
		if err := makeIfFree(ctx, c, pathOf(cli.QuerySetsPath, set), newSet(spec)); err != nil {
			return err
		}
	}
	err = in.queries(ctx, c, set, queries, f.replace)
	if err != nil || f.judgments == "" {
		return in.finish(err)
	}
	return in.finish(in.qrels(ctx, c, f, &folderRead{folder: folder, set: set, queries: queries}))
}

// folderRead is a folder whose queries were imported.
type folderRead struct {
	folder  *exchange.Folder
	set     string
	queries []exchange.Query
}

// qrels imports the judgments of a folder, into a list that is made for them if there is none.
func (in *rowImport) qrels(ctx context.Context, c *cli.Client, f *querySetImport, of *folderRead) error {
	var judgments []exchange.Judgment
	how := exchange.Reading{Chunks: f.chunks}
	err := in.open(of.folder, of.folder.Judgments, "", func(file *exchange.File, r io.Reader) (err error) {
		judgments, err = file.Judgments(r, how)
		return err
	})
	if err != nil {
		return err
	}
	name := in.name
	if err := in.compare(of, judgments); err != nil {
		return err
	}
	in.name = name
	spec := library.JudgmentListSpec{QuerySet: of.set, MaxGrade: min(exchange.Highest(judgments), library.MaxGrade)}
	if err := makeIfFree(ctx, c, pathOf(cli.ListsPath, f.judgments), newList(spec)); err != nil {
		return err
	}
	return in.judgments(ctx, c, f.judgments, judgments)
}

// compare says where the parts of a folder do not fit together. What the folder's judgments have no query for, the
// query set may have: the gateway says so.
func (in *rowImport) compare(of *folderRead, judgments []exchange.Judgment) error {
	compared := &exchange.Compared{
		Judgments: judgments, QueriesFile: of.folder.Name(of.folder.Queries),
		CorpusFile: of.folder.Name(of.folder.Corpus), JudgmentsFile: of.folder.Name(of.folder.Judgments),
	}
	compared.Queries, compared.Kept = of.queries, true
	if _, err := os.Stat(of.folder.Corpus); err != nil {
		in.report.Check(compared)
		return nil
	}
	err := in.open(of.folder, of.folder.Corpus, "", func(file *exchange.File, r io.Reader) (err error) {
		compared.Corpus, err = file.Documents(r)
		return err
	})
	in.report.Check(compared)
	return err
}

// makeIfFree makes a set unless it exists.
func makeIfFree(ctx context.Context, c *cli.Client, path string, edit any) error {
	return cli.Ignoring(makeNew(ctx, c, path, edit), fault.Conflict)
}

func querySetExportCommand(p *cli.Program) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use: "export QUERYSET", Short: "Print the queries of a set",
		Example: "  hybridge query-sets export faq --format csv > questions.csv",
	}
	cmd.Flags().StringVar(&format, "format", string(exchange.Lines), "jsonl or csv")
	return p.Calling(cmd, func(ctx context.Context, c *cli.Client, args []string) error {
		queries, err := queriesOf(ctx, c, args[0])
		if err != nil {
			return err
		}
		return write(p, func(w io.Writer) error { return exchange.WriteQueries(w, exchange.Format(format), queries) })
	})
}

// queriesOf reads all queries of a set.
func queriesOf(ctx context.Context, c *cli.Client, set string) (all []library.Query, err error) {
	for after := ""; ; {
		var page quality.Queries
		path := fmt.Sprintf("%s/queries?limit=1000&after=%s", pathOf(cli.QuerySetsPath, set), url.QueryEscape(after))
		if err := c.Get(ctx, path, &page); err != nil {
			return nil, err
		}
		all = append(all, page.Queries...)
		if after = page.Next; after == "" {
			return all, nil
		}
	}
}

// write prints everything, or nothing.
func write(p *cli.Program, do func(w io.Writer) error) error {
	var text bytes.Buffer
	if err := do(&text); err != nil {
		return err
	}
	_, err := text.WriteTo(p.Stdout)
	return err
}

// cancelIn cancels a member of a collection.
func cancelIn(p *cli.Program, collection string, cmd *cobra.Command) *cobra.Command {
	asJSON := cli.AddJSON(cmd.Flags())
	return p.Calling(cmd, func(ctx context.Context, c *cli.Client, args []string) error {
		if err := c.Post(ctx, pathOf(collection, args[0])+"/cancel", nil, nil); err != nil {
			return err
		}
		return p.Done(*asJSON, "cancelled", args[0])
	})
}

// deleteFrom deletes a member of a collection, once that is confirmed.
func deleteFrom(p *cli.Program, collection string, cmd *cobra.Command) *cobra.Command {
	confirmed := p.AddConfirmation(cmd)
	asJSON := cli.AddJSON(cmd.Flags())
	cli.AddTarget(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := confirmed.Possible(strings.TrimPrefix(cmd.CommandPath(), "hybridge ")); err != nil {
			return err
		}
		return p.WithGateway(cmd, func(ctx context.Context, c *cli.Client) error {
			err := confirmed.Ask(func() (string, error) { return fmt.Sprintf("Delete %s for good?", args[0]), nil })
			if err != nil {
				return err
			}
			if _, err := c.Raw(ctx, cli.Call{Method: http.MethodDelete, Path: pathOf(collection, args[0])}); err != nil {
				return err
			}
			return p.Done(*asJSON, "deleted", args[0])
		})
	}
	return cmd
}
