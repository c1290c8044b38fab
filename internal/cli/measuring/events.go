package measuring

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/hybridge-search/hybridge/evaluation/clicks"
	"github.com/hybridge-search/hybridge/events"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/locale"
)

const eventsPath = "/v1/events"

func eventsCommand(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "events",
		Short: "What users searched for and clicked on",
		Long: `Reports on the log of searches and of what users did with the answers, which events.enabled of the gateway's
configuration turns on.`,
	}
	cmd.AddCommand(eventsAnalyticsCommand(p), eventsJudgmentsCommand(p), eventsDeleteCommand(p))
	return cmd
}

func eventsAnalyticsCommand(p *cli.Program) *cobra.Command {
	var from, to, kb string
	var limit int
	cmd := &cobra.Command{
		Use:   "analytics",
		Short: "Top, failing, slow and reworded questions, and what changed",
		Long: `Counts the searches of a period, and those of the period of equal length before. Times are as 2026-11-28 or
2026-11-28T12:00:00Z.`,
		Example: `  hybridge events analytics
  hybridge events analytics --kb shop --from 2026-11-01 --to 2026-12-01 --limit 50`,
	}
	flags := cmd.Flags()
	flags.StringVar(&from, "from", "", "First time or day (default: 7 days before --to)")
	flags.StringVar(&to, "to", "", "Time or day up to which (default: now)")
	flags.StringVar(&kb, "kb", "", "Only searches of this knowledge base")
	flags.IntVar(&limit, "limit", 10, "Rows per list, 1 to 1000")
	asJSON := cli.AddJSON(flags)
	cli.AddTarget(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		query := url.Values{"limit": {strconv.Itoa(limit)}}
		for name, value := range map[string]string{"from": from, "to": to, "knowledge_base": kb} {
			if value != "" {
				query.Set(name, value)
			}
		}
		return p.WithGateway(cmd, func(ctx context.Context, c *cli.Client) error {
			report := &events.Analytics{}
			if err := c.Get(ctx, eventsPath+"/analytics?"+query.Encode(), report); err != nil {
				return err
			}
			if *asJSON {
				return cli.PrintJSON(p.Stdout, report)
			}
			return printAnalytics(p.Stdout, report)
		})
	}
	return cmd
}

func printAnalytics(w io.Writer, a *events.Analytics) error {
	out := &cli.Printer{W: w}
	t, b := &a.Totals, &a.Before
	out.Line("%s to %s, and as long before", a.From.Format(time.RFC3339), a.To.Format(time.RFC3339))
	rows := cli.NewTable(w)
	rows.Line("\tNOW\tBEFORE")
	for _, row := range []struct {
		name        string
		now, before int
	}{
		{"searches", t.Searches, b.Searches},
		{"found nothing", t.ZeroResult, b.ZeroResult},
		{"refused", t.Refused, b.Refused},
		{"failed", t.Failed, b.Failed},
		{"clicked", t.Clicked, b.Clicked},
		{"orphaned events", t.Orphans, b.Orphans},
	} {
		rows.Line("%s\t%d\t%d", locale.Text(row.name), row.now, row.before)
	}
	rows.Line("click-through\t%s\t%s", shown(t.ClickThrough, "%.3f"), shown(b.ClickThrough, "%.3f"))
	rows.Line("median time\t%s\t%s", shown(t.MedianMS, "%.1f ms"), shown(b.MedianMS, "%.1f ms"))
	rows.Line("95 of 100 within\t%s\t%s", shown(t.P95MS, "%.1f ms"), shown(b.P95MS, "%.1f ms"))
	if out.Err == nil {
		out.Err = rows.Flush()
	}
	for _, list := range []struct {
		title string
		rows  []events.Question
	}{
		{"Asked most", a.Top},
		{"Changed most", a.Changed},
		{"Found nothing", a.ZeroResult},
		{"Refused", a.Refused},
		{"Slow", a.Slow},
	} {
		if out.Err == nil && len(list.rows) > 0 {
			out.Line("")
			out.Line("%s:", locale.Text(list.title))
			out.Err = cmp.Or(out.Err, printQuestions(w, list.rows))
		}
	}
	if len(a.Reformulated) > 0 {
		out.Line("")
		out.Line("Put in other words:")
		for _, r := range a.Reformulated {
			out.Line("  %d  %s → %s", r.Count, cli.Plain(r.From+r.FromHash), cli.Plain(r.To+r.ToHash))
		}
	}
	return out.Err
}

func printQuestions(w io.Writer, questions []events.Question) error {
	rows := cli.NewTable(w)
	rows.Line("  COUNT\tBEFORE\tNOTHING\tREFUSED\tCLICKED\tSLOWEST\tQUESTION")
	for i := range questions {
		q := &questions[i]
		rows.Line("  %d\t%d\t%d\t%d\t%d\t%.0f ms\t%s", q.Count, q.Before, q.ZeroResult, q.Refused, q.Clicked, q.SlowestMS,
			cli.Plain(q.Query+q.TextHash))
	}
	return rows.Flush()
}

// shown writes a number that may not be known.
func shown(value *float64, format string) string {
	if value == nil {
		return "-"
	}
	return fmt.Sprintf(format, *value)
}

func eventsJudgmentsCommand(p *cli.Program) *cobra.Command {
	var req clicks.Request
	var days int
	cmd := &cobra.Command{
		Use:   "judgments",
		Short: "Create a query set and judgments from clicks",
		Long: `Makes a query set of the questions that users asked, and a judgment list of what they clicked on, by a click
model that takes out where hits stood. hybridge evaluations and hybridge tunings take both.`,
		Example: `  hybridge events judgments --query-set users --judgments clicks --kb shop
  hybridge events judgments --query-set users --judgments clicks --kb shop --days 90 --min-impressions 30`,
	}
	flags := cmd.Flags()
	flags.StringVar(&req.QuerySet, "query-set", "", "The query set; created if missing")
	flags.StringVar(&req.JudgmentList, "judgments", "", "The judgment list; created if missing")
	flags.StringSliceVar(&req.KnowledgeBases, "kb", nil, "Knowledge bases whose searches are used")
	flags.IntVar(&days, "days", 30, "Days up to now, 1 to 366")
	flags.IntVar(&req.MinImpressions, "min-impressions", 10, "Minimum number of times that users have seen a hit")
	flags.IntVar(&req.MaxQueries, "max-queries", 1000, "Maximum number of questions")
	flags.Float64SliceVar(&req.Thresholds, "thresholds", nil,
		"Minimum relevance for grade 1, 2 and so on (default: 0.1,0.3,0.6)")
	asJSON := cli.AddJSON(flags)
	cli.AddTarget(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		switch {
		case req.QuerySet == "":
			return cli.MissingFlag("--query-set", "the id of a query set, there or not")
		case req.JudgmentList == "":
			return cli.MissingFlag("--judgments", "the id of a judgment list of clicks, there or not")
		case len(req.KnowledgeBases) == 0:
			return cli.MissingFlag("--kb", "the knowledge bases that were searched")
		case days < 1 || days > 366:
			return fault.Invalid("--days", days, "1 to 366")
		}
		req.To = time.Now().UTC()
		req.From = req.To.AddDate(0, 0, -days)
		return p.WithGateway(cmd, func(ctx context.Context, c *cli.Client) error {
			report := &clicks.Report{}
			if err := c.Post(ctx, eventsPath+"/judgments", req, report); err != nil {
				return err
			}
			if *asJSON {
				return cli.PrintJSON(p.Stdout, report)
			}
			out := &cli.Printer{W: p.Stdout}
			out.Line("%d searches with clicks: %d judgments of %s stored in %s, by the %s", report.Searches,
				report.Judgments, cli.CountedQueries(report.Queries), report.JudgmentList, report.Model)
			out.Line("%d hits were read fewer than %d times, %d are gone", report.TooFew, req.MinImpressions, report.Gone)
			return out.Err
		})
	}
	return cmd
}

func eventsDeleteCommand(p *cli.Program) *cobra.Command {
	var clientID string
	cmd := &cobra.Command{
		Use:     "delete",
		Short:   "Delete the log of a client",
		Long:    `Deletes the searches of a client with all their events, and its events on searches of others.`,
		Example: `  hybridge events delete --client 9a1f4c2e --yes`,
	}
	confirmed := p.AddConfirmation(cmd)
	flags := cmd.Flags()
	flags.StringVar(&clientID, "client", "", "client_id whose searches and events are deleted")
	asJSON := cli.AddJSON(flags)
	cli.AddTarget(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if clientID == "" {
			return cli.MissingFlag("--client", "the client_id of searches and events")
		}
		if err := confirmed.Possible("events delete"); err != nil {
			return err
		}
		return p.WithGateway(cmd, func(ctx context.Context, c *cli.Client) error {
			err := confirmed.Ask(func() (string, error) {
				return fmt.Sprintf("Delete the searches and events of client %s for good?", clientID), nil
			})
			if err != nil {
				return err
			}
			deleted := &events.Deleted{}
			path := eventsPath + "?client_id=" + url.QueryEscape(clientID)
			if err := c.Send(ctx, http.MethodDelete, path, nil, deleted); err != nil {
				return err
			}
			if *asJSON {
				return cli.PrintJSON(p.Stdout, deleted)
			}
			out := &cli.Printer{W: p.Stdout}
			out.Line("deleted: %d searches, %d events", deleted.Queries, deleted.Events)
			return out.Err
		})
	}
	return cmd
}
