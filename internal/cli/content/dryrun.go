package content

import (
	"context"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/ingest"
	"github.com/hybridge-search/hybridge/internal/cli"
)

// preview is the output of --dry-run with --json.
type preview struct {
	KnowledgeBase string    `json:"knowledge_base"`
	DryRun        bool      `json:"dry_run"`
	Create        bool      `json:"create"` // the knowledge base
	Streams       []string  `json:"ndjson,omitempty"`
	Add           []string  `json:"add"`
	Replace       []string  `json:"replace"`
	Unchanged     []string  `json:"unchanged"`
	Remove        []string  `json:"remove"`
	Skipped       []failure `json:"skipped"`
	Failures      []failure `json:"failures"`
}

// dryRun shows the effect of a run. It asks the gateway about each file, so that the answer is
// the same as in the run itself.
func (u *upload) dryRun(ctx context.Context, found *foundFiles) error {
	show := preview{
		KnowledgeBase: u.wish.kb, DryRun: true, Streams: u.wish.streams,
		Add: []string{}, Replace: []string{}, Unchanged: []string{}, Remove: []string{},
	}
	ids, err := u.documents(ctx, u.wish.selection.prefix)
	if fault.Is(err, fault.NotFound) && u.wish.create {
		show.Create, err = true, nil
	}
	if err != nil {
		return err
	}
	u.kb.ID = u.wish.kb
	u.known = map[string]bool{}
	for _, id := range ids {
		u.known[id] = true
	}
	u.preview = &show
	if err := u.files(ctx, found); err != nil {
		return err
	}
	if u.wish.prune && !show.Create {
		gone, err := u.gone(ctx, found)
		if err != nil {
			return err
		}
		for _, g := range gone {
			show.Remove = append(show.Remove, g.id)
		}
	}
	return u.show()
}

// count adds the outcome of a document.
func (s *preview) count(id string, known bool, status ingest.FileStatus) {
	switch {
	case !known:
		s.Add = append(s.Add, id)
	case status == ingest.FileUnchanged:
		s.Unchanged = append(s.Unchanged, id)
	default:
		s.Replace = append(s.Replace, id)
	}
}

func (u *upload) show() error {
	s := u.preview
	s.Skipped, s.Failures = append([]failure{}, u.summary.Skipped...), u.summary.Failures
	var err error
	if u.wish.inJSON {
		err = cli.PrintJSON(u.program.Stdout, s)
	} else {
		u.list()
		err = s.print(&cli.Printer{W: u.program.Stdout})
	}
	if err == nil && len(s.Skipped)+len(s.Failures) > 0 {
		return cli.ErrReported
	}
	return err
}

func (s *preview) print(out *cli.Printer) error {
	if s.Create {
		s.lines(out, "create", []string{s.KnowledgeBase})
	}
	s.lines(out, "send", s.Streams)
	s.lines(out, "add", s.Add)
	s.lines(out, "replace", s.Replace)
	s.lines(out, "remove", s.Remove)
	out.Line("nothing was written: %d to add, %d to replace, %d unchanged, %d to remove",
		len(s.Add), len(s.Replace), len(s.Unchanged), len(s.Remove))
	return out.Err
}

func (*preview) lines(out *cli.Printer, what string, ids []string) {
	for _, id := range ids {
		out.Line("%-7s %s", what, cli.Plain(id))
	}
}
