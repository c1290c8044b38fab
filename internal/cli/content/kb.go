// Package content has the commands on what is searched: kb.go (with recall.go), ingest.go (with folder.go, upload.go,
// prune.go and dryrun.go), export.go, import.go and import_index.go, synonyms.go, rules.go and mappings.go.
package content

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/hybridge-search/hybridge/catalog"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway"
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/locale"
)

// Commands are the commands on searchable content.
func Commands(p *cli.Program) []*cobra.Command {
	return []*cobra.Command{
		knowledgeBaseCommand(p), ingestCommand(p), synonymsCommand(p), rulesCommand(p), mappingsCommand(p),
	}
}

func knowledgeBaseCommand(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "kb",
		Aliases: []string{"knowledge-base"},
		Short:   "Create, list, show, check, export, import and delete knowledge bases",
	}
	cmd.AddCommand(kbCreateCommand(p), kbListCommand(p), kbShowCommand(p), kbCheckCommand(p), kbRecallCommand(p),
		kbInvalidateCommand(p),
		kbExportCommand(p), kbImportCommand(p), kbDeleteCommand(p))
	return cmd
}

func kbCreateCommand(p *cli.Program) *cobra.Command {
	var spec catalog.Spec
	var kind, index, layout, value string
	var dimensions int
	var vectors []string
	boosts := map[string]string{}
	cmd := &cobra.Command{
		Use:   "create ID",
		Short: "Create a knowledge base, or attach an existing index",
		Example: `  hybridge kb create manuals --name "Product manuals"
  hybridge kb create manuals --vector title_vector=title
  hybridge kb create old --attach ragflow_1 --layout ragflow --elasticsearch-url http://127.0.0.1:9200`,
	}
	flags := cmd.Flags()
	flags.StringVar(&spec.Name, "name", "", "Display name (default: the ID)")
	flags.StringVar(&spec.Engine, "engine", "", "embedded, elasticsearch or postgres (default: the gateway's)")
	flags.StringSliceVar(&spec.Engines, "engines", nil,
		"Instead of --engine: all engines that hold it, the reference first")
	flags.StringVar(&kind, "kind", "chunks", "chunks or qa")
	flags.IntVar(&dimensions, "dimensions", 0,
		"Dimensions of the vectors; 0: keyword search only (default: the embedding model's)")
	flags.StringVar(&spec.EmbeddingModel, "embedding-model-name", "",
		"Configured embedding model, or the model of vectors that are provided (default: embedding.model)")
	flags.StringVar(&spec.Analyzer, "analyzer", "", "Analyzer of texts (default: jieba)")
	flags.StringVar(&spec.SearchAnalyzer, "search-analyzer", "",
		"Analyzer of questions, ik_smart or ik_max_word (default: that of texts)")
	flags.StringVar(&spec.VectorIndex, "vector-index", "",
		"Type of the vector index, such as int8_hnsw (default: the engine's)")
	flags.StringArrayVar(&vectors, vectorFlag, nil, vectorUsage)
	flags.StringToStringVar(&boosts, "fields", nil,
		"Factor of the parts of the text, 1 or from 2 on, such as title=3,important_keywords=5")
	flags.StringVar(&spec.BM25, "bm25", "", "BM25 formula of the text legs, lucene or okapi (default: lucene)")
	flags.BoolVar(&spec.Shared, "shared", false, "Share one index with other small knowledge bases")
	flags.StringVar(&index, "attach", "", "Read this index, never writing to it")
	flags.StringVar(&layout, "layout", "ragflow", "Field names of the index to attach")
	flags.StringVar(&value, "value", "", "Only chunks of this knowledge base within the index to attach")
	asJSON := cli.AddJSON(flags)
	cli.AddTarget(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		spec.ID, spec.Kind, spec.VectorFields = args[0], engine.KnowledgeKind(kind), vectorFields(vectors)
		if cmd.Flags().Changed("dimensions") {
			spec.Dimensions = &dimensions
		}
		var err error
		if spec.Fields, err = cli.ParseNumbers("--fields", boosts); err != nil {
			return err
		}
		if err := cli.GivenWith(cmd.Flags(), "attach", "layout", "value"); err != nil {
			return err
		}
		if cmd.Flags().Changed("engine") {
			if err := cli.LeftOut(cmd.Flags(), "--engine", "engines"); err != nil {
				return err
			}
		}
		if index != "" {
			spec.Attach = &engine.Attachment{Index: index, Layout: layout, Value: value}
		}
		return p.WithGateway(cmd, func(ctx context.Context, c *cli.Client) error {
			return createKnowledgeBase(ctx, p, c, spec, *asJSON)
		})
	}
	return cmd
}

func createKnowledgeBase(ctx context.Context, p *cli.Program, c *cli.Client, spec catalog.Spec, inJSON bool) error {
	var kb engine.KnowledgeBase
	if err := c.Post(ctx, "/v1/knowledge-bases", spec, &kb); err != nil {
		return err
	}
	if inJSON {
		return cli.PrintJSON(p.Stdout, kb)
	}
	out := &cli.Printer{W: p.Stdout}
	out.Line("created %s on %s, %s", kb.ID, kb.Engine, vectorsOf(&kb))
	return out.Err
}

// vectorFlag names a vector field beside vector, as title_vector=title.
const (
	vectorFlag  = "vector"
	vectorUsage = "Additional vector field, such as title_vector=title (or =content), repeatable; " +
		"without = its vectors are provided"
)

// vectorFields parses the values of the flag.
func vectorFields(given []string) []engine.VectorField {
	fields := make([]engine.VectorField, len(given))
	for i, text := range given {
		fields[i].Name, fields[i].Source, _ = strings.Cut(text, "=")
	}
	return fields
}

func vectorsOf(kb *engine.KnowledgeBase) string {
	text := fmt.Sprintf("%d dimensions", kb.Dimensions)
	switch {
	case kb.KeywordOnly:
		return "keyword search only"
	case kb.Dimensions == 0:
		return "keyword search only, as there was no embedding model when it was made"
	case kb.EmbeddingModel != "":
		text += " of " + kb.EmbeddingModel
	}
	for _, v := range kb.VectorFields {
		text += ", " + v.Name
		if v.Source != "" {
			text += " of the " + v.Source
		}
	}
	return text
}

func kbListCommand(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List knowledge bases"}
	asJSON := cli.AddJSON(cmd.Flags())
	return p.Calling(cmd, func(ctx context.Context, c *cli.Client, _ []string) error {
		var list gateway.KnowledgeBases
		if err := c.Get(ctx, "/v1/knowledge-bases", &list); err != nil {
			return err
		}
		if *asJSON {
			return cli.PrintJSON(p.Stdout, list.KnowledgeBases)
		}
		if len(list.KnowledgeBases) == 0 {
			p.Note("there is no knowledge base; `hybridge kb create` makes one")
			return nil
		}
		return printKnowledgeBases(p.Stdout, list.KnowledgeBases)
	})
}

func printKnowledgeBases(w io.Writer, list []engine.KnowledgeBase) error {
	out := cli.NewTable(w)
	out.Line("ID\tNAME\tENGINE\tKIND\tVECTORS")
	for i := range list {
		kb := &list[i]
		out.Line("%s\t%s\t%s\t%s\t%s", kb.ID, kb.Name, kb.Engine, kb.Kind, locale.Text(vectorsOf(kb)))
	}
	return out.Flush()
}

func kbShowCommand(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{Use: "show KB", Short: "Show a knowledge base and its counts"}
	asJSON := cli.AddJSON(cmd.Flags())
	return p.Calling(cmd, func(ctx context.Context, c *cli.Client, args []string) error {
		var kb catalog.Described
		if err := c.Get(ctx, cli.BasePath(args[0]), &kb); err != nil {
			return err
		}
		if *asJSON {
			return cli.PrintJSON(p.Stdout, kb)
		}
		out := &cli.Printer{W: p.Stdout}
		name := kb.ID
		if kb.Name != "" && kb.Name != kb.ID {
			name += " (" + kb.Name + ")"
		}
		out.Line("%s on %s, %s", name, kb.Engine, vectorsOf(&kb.KnowledgeBase))
		out.Line("%s, %s, %s, %s", cli.Counted(kb.Documents, "document"), cli.Counted(kb.Chunks, "chunk"),
			cli.Counted(kb.Vectors, "vector"), humanize.IBytes(uint64(max(kb.Bytes, 0))))
		return out.Err
	})
}

func kbCheckCommand(p *cli.Program) *cobra.Command {
	var body gateway.Check
	cmd := &cobra.Command{
		Use:   "check KB",
		Short: "Check a knowledge base for damaged chunks and differences between its engines",
		Long: "Compares what the embedded engine stores with its checksums, what Elasticsearch and PostgreSQL search\n" +
			"and filter by with the chunks, and the engines of a knowledge base that lives on several chunk by\n" +
			"chunk with the first one. Damage and differences that are not repaired end it with exit code 1.",
	}
	cmd.Flags().BoolVar(&body.Repair, "repair", false,
		"Restore damaged chunks from another engine, and bring the other engines in line with the first")
	asJSON := cli.AddJSON(cmd.Flags())
	return p.Calling(cmd, func(ctx context.Context, c *cli.Client, args []string) error {
		report, err := check(ctx, c, args[0], body)
		if err != nil {
			return err
		}
		if *asJSON {
			err = cli.PrintJSON(p.Stdout, report)
		} else {
			err = printDrift(p.Stdout, report)
		}
		return errors.Join(err, drifted(args[0], report))
	})
}

// check has the gateway look for damage and differences.
func check(ctx context.Context, c *cli.Client, id string, body gateway.Check) (*engine.DriftReport, error) {
	report := &engine.DriftReport{}
	return report, c.Post(ctx, cli.BasePath(id)+"/check", body, report)
}

func kbInvalidateCommand(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "invalidate KB",
		Short: "Drop the stored keyword indexes of a knowledge base, so that they are rebuilt",
	}
	asJSON := cli.AddJSON(cmd.Flags())
	return p.Calling(cmd, func(ctx context.Context, c *cli.Client, args []string) error {
		if err := c.Post(ctx, cli.BasePath(args[0])+"/invalidate", nil, nil); err != nil {
			return err
		}
		if *asJSON {
			return p.Done(true, "invalidated", args[0])
		}
		out := &cli.Printer{W: p.Stdout}
		out.Line("the next search of %s builds its keyword indexes", args[0])
		return out.Err
	})
}

func printDrift(w io.Writer, report *engine.DriftReport) error {
	out := &cli.Printer{W: w}
	out.Line("%s has %d chunks", report.Reference, report.Chunks)
	for i := range report.Engines {
		d := &report.Engines[i]
		out.Line("%s has %d: %d missing, %d extra, %d stale", d.Engine, d.Chunks,
			d.Missing.Count, d.Extra.Count, d.Stale.Count)
		for _, ids := range [][]string{d.Missing.First, d.Extra.First, d.Stale.First} {
			for _, id := range ids {
				out.Line("  %s", id)
			}
		}
	}
	for i := range report.Integrity {
		printIntegrity(out, &report.Integrity[i])
	}
	if report.Repaired {
		out.Line("repaired")
	}
	return out.Err
}

func printIntegrity(out *cli.Printer, found *engine.Integrity) {
	out.Line("%s finds %d chunks damaged", found.Engine, found.Damaged.Count)
	for _, id := range found.Damaged.First {
		out.Line("  %s", id)
	}
	if found.Restored > 0 {
		out.Line("%s got %d damaged chunks from another engine", found.Engine, found.Restored)
	}
	if found.Index != "" {
		out.Line("%s has a damaged index: %s", found.Engine, found.Index)
	}
	if found.Settings != "" {
		out.Line("%s: %s", found.Engine, found.Settings)
	}
	if found.Unsealed > 0 {
		out.Line("%s has %d chunks without a checksum; --repair gives them one", found.Engine, found.Unsealed)
	}
}

// drifted is an error if an engine has damage, or engines differ and were not repaired.
func drifted(id string, report *engine.DriftReport) error {
	for i := range report.Integrity {
		found := &report.Integrity[i]
		if found.Settings != "" {
			return fault.New(fault.Conflict, "knowledge base %s on engine %s: %s; "+
				"--repair undoes that, and hybridge mappings plan and apply do", id, found.Engine, found.Settings)
		}
		if !found.Sound() {
			return fault.New(fault.Corrupt, "knowledge base %s is damaged on engine %s: it goes on without those chunks; "+
				"--repair takes them from another engine, and bringing them again replaces them",
				id, found.Engine)
		}
	}
	for i := range report.Engines {
		if d := &report.Engines[i]; d.Differs() && !report.Repaired {
			return fault.New(fault.Conflict, "knowledge base %s differs between %s and %s; --repair makes them one",
				id, report.Reference, d.Engine)
		}
	}
	return nil
}

func kbDeleteCommand(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "delete KB",
		Short: "Delete a knowledge base with all its data",
		Long: "Deletes a knowledge base with all it holds, once that is confirmed. An index that is attached stays as it\n" +
			"is; only the knowledge base that reads it goes.",
	}
	confirmed := p.AddConfirmation(cmd)
	asJSON := cli.AddJSON(cmd.Flags())
	cli.AddTarget(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := confirmed.Possible("kb delete"); err != nil {
			return err
		}
		return p.WithGateway(cmd, func(ctx context.Context, c *cli.Client) error {
			err := confirmed.Ask(func() (string, error) { return deleteQuestion(ctx, c, args[0]) })
			if err != nil {
				return err
			}
			if _, err := c.Raw(ctx, cli.Call{Method: http.MethodDelete, Path: cli.BasePath(args[0])}); err != nil {
				return err
			}
			return p.Done(*asJSON, "deleted", args[0])
		})
	}
	return cmd
}

func deleteQuestion(ctx context.Context, c *cli.Client, id string) (string, error) {
	var kb catalog.Described
	if err := c.Get(ctx, cli.BasePath(id), &kb); err != nil {
		return "", err
	}
	if kb.Attach != nil {
		return fmt.Sprintf("Delete %s? The index %s that it reads stays.", kb.ID, kb.Attach.Index), nil
	}
	return fmt.Sprintf("Delete %s on %s with %s and %s for good?", kb.ID, kb.Engine,
		cli.Counted(kb.Documents, "document"), cli.Counted(kb.Chunks, "chunk")), nil
}
