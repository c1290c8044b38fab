package searching

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/gateway/searches"
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/rag"
	answers "github.com/hybridge-search/hybridge/rag/answer"
)

func answerCommand(p *cli.Program) *cobra.Command {
	var q query
	var maxChars int
	cmd := &cobra.Command{
		Use:   "answer QUESTION...",
		Short: "Have a model answer a question, with citations",
		Long: `Answer searches as search does and has the gateway's model (answer.url) answer from the hits. Sentences are
printed as they are written, each with the numbers of its sources; [?] is at one that has none. Where nothing
relevant is found the model is not asked. The exit code is 5 when nothing answers the question.`,
		Example: `  hybridge answer --kb docs 如何调整权重
  hybridge answer --kb docs --top-k 3 --filter lang=en --json how are weights changed`,
	}
	q.add(cmd.Flags())
	q.addThresholds(cmd.Flags())
	q.addSeveral(cmd.Flags())
	q.addRanking(cmd.Flags())
	cmd.Flags().IntVar(&maxChars, "max-chars", 0, "Characters of the hits that are sent to the model (default 4000)")
	inJSON := cli.AddJSON(cmd.Flags())
	cli.AddTarget(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		asked, err := q.request(cmd.Flags(), args)
		if err != nil {
			return err
		}
		req := searches.AnswerRequest{Request: asked}
		if cmd.Flags().Changed("max-chars") {
			req.MaxChars = &maxChars
		}
		return p.WithGateway(cmd, func(ctx context.Context, c *cli.Client) error {
			if err := nameAllBases(ctx, c, &req.Request); err != nil {
				return err
			}
			return answer(ctx, p, c, &req, *inJSON)
		})
	}
	return cmd
}

// answer asks, and prints the answer so far, even if it fails before its end.
func answer(ctx context.Context, p *cli.Program, c *cli.Client, req *searches.AnswerRequest, inJSON bool) error {
	do, err := cli.PostJSON("/v1/answer", req)
	if err != nil {
		return err
	}
	body, err := c.Stream(ctx, do)
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }()
	told := &ToldAnswer{Sentences: []answers.Sentence{}, page: newPage(p.Stdout, p.HasColours()), silent: inJSON}
	failed := told.read(body)
	if errors.Is(failed, errBroken) {
		failed = c.TransportFault(ctx, failed)
	}
	if inJSON {
		err = cli.PrintJSON(p.Stdout, told)
	} else {
		err = told.end()
	}
	if err := errors.Join(failed, err); err != nil {
		return err
	}
	if told.Unknown != nil {
		return cli.ErrUnanswered
	}
	return nil
}

// ToldAnswer is the data of the events of an answer.
type ToldAnswer struct {
	Sources   *searches.AnswerSources `json:"sources"`
	Sentences []answers.Sentence      `json:"sentences"`
	Unknown   *searches.UnknownAnswer `json:"unknown"` // null: there are sentences
	Done      *searches.AnswerDone    `json:"done"`    // null: it failed before its end

	page   *page
	silent bool   // sentences are not printed as they come
	space  string // between the printed text and the next sentence
}

// errBroken is an answer that could not be read to its end.
var errBroken = errors.New("the answer ended before it was complete")

// longestEvent bounds a line of an answer, in bytes. Sources are the longest.
const longestEvent = 16 << 20

// read takes the events until the last one. An error from the gateway is returned unchanged.
func (a *ToldAnswer) read(body io.Reader) error {
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, longestEvent)
	name := ""
	for lines.Scan() {
		if of, is := strings.CutPrefix(lines.Text(), "event: "); is {
			name = of
		}
		if data, is := strings.CutPrefix(lines.Text(), "data: "); is {
			if err := a.event(name, []byte(data)); err != nil || a.Done != nil {
				return err
			}
		}
	}
	return errors.Join(errBroken, lines.Err())
}

func (a *ToldAnswer) event(name string, data []byte) error {
	var problem endpoint.Problem
	var sentence answers.Sentence
	known := map[string]any{
		"sources": &a.Sources, "sentence": &sentence, "unknown": &a.Unknown, "done": &a.Done, "error": &problem,
	}
	into, is := known[name]
	if !is {
		return nil // of a later version
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fault.Wrap(fault.Unavailable, err,
			"the event %s of the answer is not understood; is the gateway another version?", name)
	}
	switch name {
	case "error":
		return &fault.Error{Kind: fault.Kind(problem.Code), Field: problem.Field, Detail: problem.Detail}
	case "sentence":
		a.Sentences = append(a.Sentences, sentence)
		if !a.silent {
			return a.print(sentence)
		}
	}
	return nil
}

// print adds a sentence to the text, with its citations before the white space that follows it.
func (a *ToldAnswer) print(s answers.Sentence) error {
	text := strings.TrimRight(s.Text, " \n")
	cited := ""
	for _, n := range s.Citations {
		cited += fmt.Sprintf("[%d]", n)
	}
	_, err := fmt.Fprintf(a.page.W, "%s%s %s", a.space, plainLines(text), a.page.faint(cmp.Or(cited, "[?]")))
	a.space = cmp.Or(s.Text[len(text):], " ")
	return err
}

// plainLines is plain for a text of several lines, whose indentation counts.
func plainLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		rest := strings.TrimLeft(line, " \t")
		lines[i] = line[:len(line)-len(rest)] + cli.Plain(rest)
	}
	return strings.Join(lines, "\n")
}

// end writes the part below the sentences: the sources they cite, or that there is no answer.
func (a *ToldAnswer) end() error {
	p := a.page
	if len(a.Sentences) > 0 {
		p.Line("\n")
	}
	if a.Unknown != nil {
		p.Line("%s", a.Unknown.Reason)
	}
	cited := map[int]bool{}
	for _, s := range a.Sentences {
		for _, n := range s.Citations {
			cited[n] = true
		}
	}
	if a.Sources == nil {
		return p.Err
	}
	for i := range a.Sources.Sources {
		if c := &a.Sources.Sources[i]; cited[c.Number] {
			a.source(c)
		}
	}
	for _, d := range a.Sources.Degraded {
		p.Line("without %s of %s: %s", d.Leg, d.KnowledgeBase, d.Reason)
	}
	if a.Done != nil {
		if a.Done.Truncated {
			p.Line("the answer was cut")
		}
		p.Line("%s", p.faint(p.Say("%s read, %d cited, in %.1f ms",
			cli.Counted(len(a.Sources.Sources), "source"), len(cited), a.Done.TookMS)))
	}
	return p.Err
}

func (a *ToldAnswer) source(c *rag.Citation) {
	where := cli.Plain(cmp.Or(c.Source, c.DocumentID))
	if c.Heading != "" {
		where += ": " + cli.Plain(c.Heading)
	}
	switch {
	case c.Lines != nil:
		where += a.page.Say(", lines %d-%d", c.Lines.First, c.Lines.Last)
	case c.Page != nil:
		where += a.page.Say(", page %d", *c.Page)
	}
	relevance := ""
	if c.Relevance != nil {
		relevance = "  " + a.page.Say("%s relevant", chance(*c.Relevance))
	}
	a.page.Line("[%d] %s%s  %s", c.Number, a.page.bold(where), relevance,
		a.page.faint(c.KnowledgeBase+"/"+cli.Plain(c.ID)))
	if c.URL != "" {
		a.page.Line("    %s", cli.Plain(c.URL))
	}
}
