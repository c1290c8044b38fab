package content

import (
	"encoding/json"
	"io"

	"github.com/spf13/cobra"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway/versioned"
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/versions"
)

func rulesCommand(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rules",
		Short: "Show, edit and roll back query rules",
		Long: `Query rules pin chunks and documents to the top of the answers to some questions, or
hide them. Each knowledge base has a set, edited while the gateway runs; every edit is a
version. A set is a JSON list, as show prints it.`,
	}
	sets := cli.SetCommands[versioned.RuleSet]{
		Program: p, Path: "/v1/rules", Set: "KB",
		State: func(s *versioned.RuleSet) versions.Version {
			return versions.Version{
				Set: s.KnowledgeBase, Version: s.Version, Rules: s.Count,
				Author: s.Author, Comment: s.Comment, CreatedAt: s.CreatedAt,
			}
		},
		Print: func(w io.Writer, s *versioned.RuleSet) error { return cli.PrintJSON(w, s.Rules) },
		Edit:  ruleEdit,
	}
	cmd.AddCommand(
		sets.List(&cobra.Command{Use: "list", Short: "List the knowledge bases that have rules"}),
		sets.Show(&cobra.Command{Use: "show KB", Short: "Print the rules of a knowledge base"}),
		sets.Save(&cobra.Command{
			Use:     "put KB FILE",
			Aliases: []string{"save"},
			Short:   "Save the rules in a file as the new version; - reads standard input",
			Example: "  hybridge rules show manuals > r.json; $EDITOR r.json; hybridge rules put manuals r.json",
		}),
		sets.History(&cobra.Command{
			Use: "versions KB", Aliases: []string{"history"}, Short: "List the versions of the rules, the newest first",
		}),
		sets.Rollback(&cobra.Command{Use: "rollback KB VERSION", Short: "Return to an earlier version of the rules"}),
	)
	return cmd
}

// ruleEdit is the body for a list of rules, which the gateway reads: it knows best what is wrong
// with one.
func ruleEdit(text string, base *int, comment string) (any, error) {
	if !json.Valid([]byte(text)) {
		return nil, fault.Invalid("FILE", text, "a JSON list of rules, as hybridge rules show prints it")
	}
	return struct {
		Rules       json.RawMessage `json:"rules"`
		BaseVersion *int            `json:"base_version,omitempty"`
		Comment     string          `json:"comment,omitempty"`
	}{json.RawMessage(text), base, comment}, nil
}
