package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/cli"
)

// newTerminal opens a terminal, and the side on which somebody sits.
func newTerminal(t *testing.T) (terminal, person *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = person.Close() })
	if err := unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = terminal.Close() })
	return terminal, person
}

// On a terminal it says how much goes, and asks; only yes is yes.
func TestDeletingAsks(t *testing.T) {
	t.Parallel()
	c := command{t: t, folder: t.TempDir()}
	f := func(answer string, code int, says string) {
		t.Helper()
		terminal, person := newTerminal(t)
		asked := make(chan string, 1)
		go func() {
			question, _ := bufio.NewReader(person).ReadString(']')
			asked <- question
			fmt.Fprintln(person, answer)
		}()
		var out bytes.Buffer
		p := &cli.Program{Groups: groups, Stdin: terminal, Stdout: &out, Stderr: terminal, Environ: []string{"HYBRIDGE_DATA_DIR=" + c.folder}}
		got := p.Run(t.Context(), []string{"kb", "delete", "manuals"})
		const want = "Delete manuals on embedded with 1 document and 2 chunks for good? [y/N]"
		if question := <-asked; question != want {
			t.Errorf("it asks %q; want question want", question)
		}
		if got != code || !strings.Contains(out.String(), says) {
			t.Errorf("%q: exit code %d, want %d: %s", brief.Of(answer), got, code, brief.Of(out.String()))
		}
	}
	c.want(cli.ExitOK, "", "kb create manuals")
	c.want(cli.ExitOK, `{"id": "a", "document_id": "d", "content": "one"}
{"id": "b", "document_id": "d", "content": "two"}
`, "ingest --kb manuals -", "2 created")
	c.want(cli.ExitUsage, "y\n", "kb delete manuals", "kb delete needs --yes where nobody can be asked")
	f("", cli.ExitFailed, "")
	f("n", cli.ExitFailed, "")
	f("perhaps", cli.ExitFailed, "")
	c.want(cli.ExitOK, "", "kb show manuals", "2 chunks")
	f("y", cli.ExitOK, "deleted manuals\n")
	c.want(cli.ExitNotFound, "", "kb show manuals", "does not exist")
	c.want(cli.ExitOK, "", "kb create again")
	c.want(cli.ExitOK, "", "kb delete -y --json again", `"deleted": "again"`)
}
