// Package searching has the commands that search: search.go, answer.go, analyze.go and presets.go. query.go has the
// flags of a search, page.go prints an answer for people.
package searching

import (
	"context"
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway"
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/search"
)

// Commands are the commands that search.
func Commands(p *cli.Program) []*cobra.Command {
	return []*cobra.Command{
		searchCommand(p), answerCommand(p), analyzeCommand(p), presetsCommand(p),
	}
}

func searchCommand(p *cli.Program) *cobra.Command {
	var q query
	cmd := &cobra.Command{
		Use:   "search QUESTION...",
		Short: "Search for a question",
		Long: `Searches for one question. Quoted words are a required phrase, and -word excludes a word; put
-- before a question that begins with a minus.`,
		Example: `  hybridge search --kb docs 如何调整权重
  hybridge search --kb docs --facet lang --filter lang=zh --group-by document_id 退款
  hybridge search --kb docs --preset rrf --weights text=0.7,vector=0.3 '"knowledge base" -tenant'`,
	}
	q.add(cmd.Flags())
	q.addThresholds(cmd.Flags())
	q.addSeveral(cmd.Flags())
	q.addRanking(cmd.Flags())
	q.addCounts(cmd.Flags())
	cmd.Flags().BoolVar(&q.explain, "explain", false, "Explain the ranking")
	inJSON := cli.AddJSON(cmd.Flags())
	cli.AddTarget(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		req, err := q.request(cmd.Flags(), args)
		if err != nil {
			return err
		}
		req.DidYouMean = new(true)
		return p.WithGateway(cmd, func(ctx context.Context, c *cli.Client) error {
			if err := nameAllBases(ctx, c, &req); err != nil {
				return err
			}
			if *inJSON {
				return printAnswer(ctx, p, c, "/v1/search", req)
			}
			return searchForPeople(ctx, p, c, req)
		})
	}
	return cmd
}

// nameAllBases sets all knowledge bases if the request names none.
func nameAllBases(ctx context.Context, c *cli.Client, req *search.Request) error {
	if len(req.KnowledgeBases) > 0 {
		return nil
	}
	var list gateway.KnowledgeBases
	if err := c.Get(ctx, "/v1/knowledge-bases", &list); err != nil {
		return err
	}
	for i := range list.KnowledgeBases {
		req.KnowledgeBases = append(req.KnowledgeBases, list.KnowledgeBases[i].ID)
	}
	if len(req.KnowledgeBases) == 0 {
		return fault.New(fault.NotFound, "there is no knowledge base; `hybridge kb create` makes one")
	}
	return nil
}

// printAnswer prints the answer of the gateway as it is.
func printAnswer(ctx context.Context, p *cli.Program, c *cli.Client, path string, req any) error {
	var answer json.RawMessage
	if err := c.Post(ctx, path, req, &answer); err != nil {
		return err
	}
	return cli.PrintJSON(p.Stdout, answer)
}

func searchForPeople(ctx context.Context, p *cli.Program, c *cli.Client, req search.Request) error {
	size, fragments, pre, post := 160, 2, cli.MarkStart, cli.MarkEnd
	req.Highlight = &search.Highlight{FragmentSize: &size, Fragments: &fragments, Pre: &pre, Post: &post}
	var response search.Response
	if err := c.Post(ctx, "/v1/search", req, &response); err != nil {
		return err
	}
	shown := newPage(p.Stdout, p.HasColours())
	shown.group = req.GroupBy != nil
	return shown.print(&response)
}
