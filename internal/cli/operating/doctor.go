package operating

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hybridge-search/hybridge/analysis/tokens"
	"github.com/hybridge-search/hybridge/config"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/app"
	"github.com/hybridge-search/hybridge/internal/app/datadir"
	"github.com/hybridge-search/hybridge/internal/cli"
)

// The states of a finding.
const (
	isFine    = "ok"
	isWarning = "warning"
	isProblem = "problem"
	isSkipped = "skipped"
)

// finding is the result of a check. Advice says what to do about it.
type finding struct {
	Check  string `json:"check"`
	State  string `json:"state"`
	Detail string `json:"detail"`
	Advice string `json:"advice,omitempty"`
}

func fine(format string, args ...any) finding {
	return finding{State: isFine, Detail: fmt.Sprintf(format, args...)}
}

func skip(format string, args ...any) finding {
	return finding{State: isSkipped, Detail: fmt.Sprintf(format, args...)}
}

func warn(format string, args ...any) finding {
	return finding{State: isWarning, Detail: fmt.Sprintf(format, args...)}
}

func problem(format string, args ...any) finding {
	return finding{State: isProblem, Detail: fmt.Sprintf(format, args...)}
}

// failedBy is a problem from an error.
func failedBy(err error) finding { return finding{State: isProblem, Detail: err.Error()} }

// do adds advice.
func (f finding) do(format string, args ...any) finding {
	f.Advice = fmt.Sprintf(format, args...)
	return f
}

// examination holds the inputs of the checks.
type examination struct {
	program *cli.Program
	cmd     *cobra.Command
	config  *config.Config
	running string // the URL of the gateway that uses the data directory; empty: none
	free    bool   // the data directory is not in use

	analyzer *tokens.Analyzer // nil: it does not work
}

// doctorChecks are asked in this order; none changes anything.
var doctorChecks = []struct {
	name string
	look func(x *examination, ctx context.Context) []finding
}{
	{"configuration", (*examination).configuration},
	{"data directory", (*examination).dataDirectory},
	{"data", (*examination).data},
	{"disk", (*examination).disk},
	{"elasticsearch", (*examination).elasticsearch},
	{"postgres", (*examination).postgres},
	{"redis", (*examination).redis},
	{"embedding", (*examination).embedding},
	{"dictionary", (*examination).dictionary},
	{"synonyms", (*examination).synonyms},
	{"gateway", (*examination).gateway},
}

// doctorPatience bounds one check.
const doctorPatience = 15 * time.Second

func doctorCommand(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check every component, with advice on what to fix",
		Long: "Checks the configuration, the data directory and every configured server; changes nothing.\n" +
			"The exit code is 1 if something is wrong.",
	}
	inJSON := cli.AddJSON(cmd.Flags())
	cli.AddGateway(cmd)
	cli.AddSettings(cmd, cli.OfSettings, "listen", "demo")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		x := &examination{program: p, cmd: cmd}
		findings := x.all(cmd.Context())
		if err := printFindings(p, findings, *inJSON); err != nil {
			return err
		}
		for i := range findings {
			if findings[i].State == isProblem {
				return cli.ErrReported
			}
		}
		return nil
	}
	return cmd
}

// all asks everything. Without a configuration there is nothing else to ask.
func (x *examination) all(ctx context.Context) (findings []finding) {
	for _, check := range doctorChecks {
		limited, cancel := context.WithTimeout(ctx, doctorPatience)
		found := check.look(x, limited)
		cancel()
		for _, f := range found {
			f.Check = check.name
			if f.State == isProblem { // only then may it be the words of others
				f.Detail = x.masked(f.Detail)
			}
			findings = append(findings, f)
		}
		if x.config == nil {
			return findings
		}
	}
	return findings
}

func printFindings(p *cli.Program, findings []finding, inJSON bool) error {
	language := p.Language()
	healthy := true
	for i := range findings {
		f := &findings[i]
		f.Detail, f.Advice = language.Text(f.Detail), language.Text(f.Advice)
		healthy = healthy && f.State != isProblem
	}
	if inJSON {
		return cli.PrintJSON(p.Stdout, struct {
			Healthy  bool      `json:"healthy"`
			Findings []finding `json:"findings"`
		}{healthy, findings})
	}
	return printTable(p.Stdout, findings)
}

func printTable(w io.Writer, findings []finding) error {
	out := cli.NewTable(w)
	for _, f := range findings {
		out.Line("%s\t%s\t%s", f.State, f.Check, cli.Plain(f.Detail))
		mark := "→"
		for line := range strings.Lines(f.Advice) {
			out.Line("\t\t%s %s", mark, cli.Plain(line))
			mark = " "
		}
	}
	return out.Flush()
}

// masked hides the secrets of the configuration in texts of servers and libraries.
func (x *examination) masked(text string) string {
	if x.config == nil {
		return text
	}
	c := x.config
	secrets := []string{
		c.Elasticsearch.APIKey.Reveal(), c.Elasticsearch.Password.Reveal(), c.Embedding.APIKey.Reveal(),
		c.LLM.APIKey.Reveal(), c.Answer.APIKey.Reveal(), c.Judge.APIKey.Reveal(),
		x.program.Variable(cli.KeyVariable),
	}
	for _, r := range c.AllRerankers() {
		secrets = append(secrets, r.APIKey.Reveal())
	}
	urls := append([]string{c.Postgres.URL, c.Redis.URL, c.Embedding.URL}, c.Elasticsearch.URL...)
	for _, m := range c.AllEmbeddings() {
		secrets, urls = append(secrets, m.APIKey.Reveal()), append(urls, m.URL)
	}
	for _, text := range urls {
		if u, err := url.Parse(text); err == nil && u.User != nil {
			password, _ := u.User.Password()
			secrets = append(secrets, password, url.QueryEscape(password))
		}
	}
	for _, secret := range secrets {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "********")
		}
	}
	return text
}

func (x *examination) configuration(context.Context) []finding {
	c, err := x.program.Settings(x.cmd)
	if err == nil {
		_, err = app.Planners(c)
	}
	if err != nil {
		return []finding{failedBy(err).do("correct that setting; hybridge config check shows what is in effect")}
	}
	x.config = c
	if len(c.Keys) == 0 && c.OpenWithoutKeys {
		return []finding{warn("the configuration is valid, and open_without_keys lets whoever reaches %s read and write",
			c.Listen).
			do("make keys, unless something else keeps strangers out")}
	}
	return []finding{fine("the configuration is valid")}
}

func (x *examination) dataDirectory(context.Context) []finding {
	dir := x.config.DataDir
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		x.free = true
		return []finding{fine("%s does not exist yet; the first start makes it", dir)}
	case err != nil:
		return []finding{failedBy(err).do("let the gateway's user read data_dir")}
	case !info.IsDir():
		return []finding{problem("%s is no folder", dir).do("name a folder in data_dir")}
	case !datadir.Writable(dir):
		return []finding{problem("this user may not write in %s", dir).
			do("run as the gateway's user, or give the folder to this one")}
	}
	findings := []finding{fine("%s can be written", dir)}
	if info.Mode().Perm()&0o077 != 0 {
		findings = []finding{warn("%s is open to other users of this machine (mode %s)", dir, info.Mode().Perm()).
			do("close it: chmod 700")}
	}
	return append(findings, x.lock(dir)...)
}

// lock names the user of the data directory.
func (x *examination) lock(dir string) []finding {
	file, err := os.OpenFile(dir+string(os.PathSeparator)+datadir.LockFile, os.O_RDWR, 0)
	if errors.Is(err, os.ErrNotExist) {
		x.free = true
		return nil
	}
	if err != nil {
		return []finding{failedBy(err).do("give the file to the gateway's user")}
	}
	defer func() { _ = file.Close() }() // and with it the lock goes
	if x.free, err = datadir.TryLock(file); err != nil {
		return []finding{failedBy(err).do("put data_dir on a disk that can lock files")}
	}
	if x.free {
		return []finding{fine("no process uses it")}
	}
	if x.running, err = datadir.Announced(file); err != nil {
		return []finding{failedBy(err)}
	}
	if x.running == "" {
		return []finding{warn("another process uses it that does not serve").do("wait for that command to end, or end it")}
	}
	return []finding{fine("the gateway at %s uses it", x.running)}
}

const (
	leastFree      = 256 << 20
	leastFreeShare = 20 // a twentieth
)

func (x *examination) disk(context.Context) []finding {
	free, size, err := datadir.FreeSpace(existing(x.config.DataDir))
	switch {
	case err != nil:
		return []finding{skip("this system does not tell how much space is left: %v", err)}
	case free < leastFree:
		return []finding{problem("%d MB are free for %s; writes fail soon", free>>20, x.config.DataDir).
			do("make room on that disk")}
	case free < size/leastFreeShare:
		return []finding{warn("%d MB are free for %s, less than a twentieth of the disk", free>>20, x.config.DataDir).
			do("make room on that disk")}
	}
	return []finding{fine("%d MB are free", free>>20)}
}

// existing is the folder, or its nearest existing parent.
func existing(folder string) string {
	for {
		if _, err := os.Stat(folder); err == nil {
			return folder
		}
		i := strings.LastIndexByte(strings.TrimRight(folder, "/"), '/')
		if i < 0 {
			return "."
		}
		if folder = folder[:i]; folder == "" {
			return "/"
		}
	}
}

// unreachable gives advice on a server that does not answer, or refuses.
func unreachable(err error, setting string) finding {
	switch fault.KindOf(err) { //nolint:exhaustive // the others speak for themselves
	case fault.Unavailable, fault.Timeout:
		return failedBy(err).do("start that server, or correct %s", setting)
	case fault.Unauthenticated, fault.Forbidden:
		return failedBy(err).do("correct the user name, the password or the key, or give that user the rights")
	default:
		return failedBy(err)
	}
}
