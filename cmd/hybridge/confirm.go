package main

import (
	"bufio"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hybridge-search/hybridge/fault"
)

const yesFlag = "yes"

// confirmation asks before something is destroyed that nothing brings back.
type confirmation struct {
	program *program
	yes     bool
}

func (p *program) addConfirmation(cmd *cobra.Command) *confirmation {
	c := &confirmation{program: p}
	cmd.Flags().BoolVarP(&c.yes, yesFlag, "y", false, "Do not ask")
	return c
}

// possible refuses a command that could not ask: a script says what it means.
func (c *confirmation) possible(what string) error {
	if c.yes || isTerminal(c.program.stdin) && isTerminal(c.program.stderr) {
		return nil
	}
	return &fault.Error{
		Kind: fault.InvalidArgument, Field: "--" + yesFlag,
		Detail: fmt.Sprintf("%s needs --%s where nobody can be asked", what, yesFlag),
	}
}

// ask returns an error unless the answer is yes. What it asks is worked out only where it asks.
func (c *confirmation) ask(about func() (string, error)) error {
	if c.yes {
		return nil
	}
	question, err := about()
	if err != nil {
		return err
	}
	fmt.Fprintf(c.program.stderr, "%s [y/N] ", question)
	answer, _ := bufio.NewReader(c.program.stdin).ReadString('\n') // what cannot be read is no yes
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes", "是":
		return nil
	default:
		return fault.New(fault.Canceled, "not confirmed; nothing was deleted")
	}
}
