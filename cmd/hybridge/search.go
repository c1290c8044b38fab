package main

import (
	"context"
	"encoding/json"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway"
	"github.com/hybridge-search/hybridge/search"
)

func (p *program) searchCommand() *cobra.Command {
	var q query
	cmd := &cobra.Command{
		Use:   "search QUESTION...",
		Short: "Ask a question",
		Long: `Search asks one question. Quoted words are a required phrase and -word excludes; put
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
	cmd.Flags().BoolVar(&q.explain, "explain", false, "Show how the answer came to be")
	inJSON := addJSON(cmd.Flags())
	addTarget(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		req, err := q.request(cmd.Flags(), args)
		if err != nil {
			return err
		}
		req.DidYouMean = new(true)
		return p.withGateway(cmd, func(ctx context.Context, c *client) error {
			if err := nameAllBases(ctx, c, &req); err != nil {
				return err
			}
			if *inJSON {
				return p.printAnswer(ctx, c, "/v1/search", req)
			}
			return p.searchForPeople(ctx, c, req)
		})
	}
	return cmd
}

// nameAllBases sets all knowledge bases if the request names none.
func nameAllBases(ctx context.Context, c *client, req *search.Request) error {
	if len(req.KnowledgeBases) > 0 {
		return nil
	}
	var list gateway.KnowledgeBases
	if err := c.get(ctx, "/v1/knowledge-bases", &list); err != nil {
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
func (p *program) printAnswer(ctx context.Context, c *client, path string, req any) error {
	do, err := postJSON(path, req)
	if err != nil {
		return err
	}
	text, err := c.raw(ctx, do)
	if err != nil {
		return err
	}
	return printJSON(p.stdout, json.RawMessage(text))
}

// markStart and markEnd are around marked words until they are replaced by colours or
// asterisks. Texts do not contain them.
const (
	markStart = "\x02"
	markEnd   = "\x03"
)

func (p *program) searchForPeople(ctx context.Context, c *client, req search.Request) error {
	size, fragments, pre, post := 160, 2, markStart, markEnd
	req.Highlight = &search.Highlight{FragmentSize: &size, Fragments: &fragments, Pre: &pre, Post: &post}
	do, err := postJSON("/v1/search", req)
	if err != nil {
		return err
	}
	text, err := c.raw(ctx, do)
	if err != nil {
		return err
	}
	var response search.Response
	if err := c.decode(text, &response); err != nil {
		return err
	}
	shown := newPage(p.stdout, p.hasColours())
	shown.group = req.GroupBy != nil
	return shown.print(&response)
}

// hasColours reports whether who reads the output sees colours, and wants them.
func (p *program) hasColours() bool {
	return isTerminal(p.stdout) && p.variable("NO_COLOR") == "" && p.variable("TERM") != "dumb"
}

// isTerminal reports whether w is a terminal.
func isTerminal(w any) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
