package cli

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/hybridge-search/hybridge/fault"
)

const yesFlag = "yes"

// Confirmation asks before something is destroyed that nothing brings back.
type Confirmation struct {
	Program *Program
	Yes     bool
}

// AddConfirmation adds the flag --yes, without which a person is asked.
func (p *Program) AddConfirmation(cmd *cobra.Command) *Confirmation {
	c := &Confirmation{Program: p}
	cmd.Flags().BoolVarP(&c.Yes, yesFlag, "y", false, "Do not ask")
	return c
}

// Possible refuses a command that cannot ask: a script must confirm by a flag.
func (c *Confirmation) Possible(what string) error {
	if c.Yes || isTerminal(c.Program.Stdin) && isTerminal(c.Program.Stderr) {
		return nil
	}
	return &fault.Error{
		Kind: fault.InvalidArgument, Field: "--" + yesFlag,
		Detail: fmt.Sprintf("%s needs --%s where nobody can be asked", what, yesFlag),
	}
}

// Ask returns an error unless the answer is yes. What it asks is worked out only where it asks.
func (c *Confirmation) Ask(about func() (string, error)) error {
	if c.Yes {
		return nil
	}
	question, err := about()
	if err != nil {
		return err
	}
	fmt.Fprintf(c.Program.Stderr, "%s [y/N] ", c.Program.language.Text(question))
	answer, _ := bufio.NewReader(c.Program.Stdin).ReadString('\n') // unreadable input is no yes
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes", "是":
		return nil
	default:
		return fault.New(fault.Canceled, "not confirmed; nothing was deleted")
	}
}

// HasColours reports whether who reads the output sees colours, and wants them.
func (p *Program) HasColours() bool {
	return isTerminal(p.Stdout) && p.Variable("NO_COLOR") == "" && p.Variable("TERM") != "dumb"
}

// isTerminal reports whether w is a terminal.
func isTerminal(w any) bool {
	file, ok := plainWriter(w).(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
