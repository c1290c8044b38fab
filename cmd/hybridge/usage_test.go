package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/cli"
)

// everyCommand calls f with each command that people use.
func everyCommand(cmd *cobra.Command, f func(*cobra.Command)) {
	if !cmd.Hidden {
		f(cmd)
	}
	for _, sub := range cmd.Commands() {
		everyCommand(sub, f)
	}
}

// The help of a command lists what counts for it, and folds what seldom does.
func TestHelp(t *testing.T) {
	t.Parallel()
	c := command{t: t, folder: t.TempDir()}
	root := (&cli.Program{Groups: groups}).RootCommand()
	everyCommand(root, func(cmd *cobra.Command) {
		path := strings.TrimPrefix(strings.TrimPrefix(cmd.CommandPath(), "hybridge"), " ")
		_, help, _ := c.run("", append(strings.Fields(path), "--help")...)
		isTarget := cmd.Flags().Lookup("server") != nil
		if isTarget != strings.Contains(help, "\nWhich gateway:\n") {
			t.Errorf("%s: which gateway is not said: %s", path, help)
		}
		folded := false
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			folded = folded || !f.Hidden && slices.Equal(f.Annotations["hybridge_group"], []string{"own"})
		})
		if folded != strings.Contains(help, "Settings, without a gateway: --data-dir") || folded && strings.Contains(help, "--redis-url") {
			t.Errorf("%s: the settings are not folded: %s", path, help)
		}
		for line := range strings.Lines(help) {
			if len(line) > 140 {
				t.Errorf("%s: a line is too long: %s; want at most 140 line", path, line)
			}
		}
	})
	c.want(cli.ExitOK, "", "serve --help", "Settings:", "--redis-url", "hybridge help settings")
	c.want(cli.ExitOK, "", "backup --help", "--data-dir")
	c.want(cli.ExitOK, "", "doctor --help", "Which gateway:", "Settings:", "--redis-url")
	c.want(cli.ExitOK, "", "help settings", "--data-dir, HYBRIDGE_DATA_DIR", "HYBRIDGE_LIMITS_RATE", "Default: text")
	c.want(cli.ExitOK, "", "help kb show", "hybridge kb show KB [flags]")
	c.want(cli.ExitOK, "", "--help", "Search:", "Gateway:", "standard error")
	c.want(cli.ExitUsage, "", "help nope", `unknown command "nope"`)
	if _, help, _ := c.run("", "backup", "--help"); strings.Contains(help, "--embedding-url") {
		t.Errorf("a backup embeds nothing: %s", help)
	}
}

// Wrong usage has exit code 2 and points to the help, of which it prints nothing.
func TestWrongUsage(t *testing.T) {
	t.Parallel()
	c := command{t: t, folder: t.TempDir()}
	f := func(line, says, help string) {
		t.Helper()
		code, out, errs := c.run("", strings.Fields(line)...)
		want := "See '" + help + " --help'.\n"
		if code != cli.ExitUsage || out != "" || !strings.Contains(errs, says) || !strings.HasSuffix(errs, want) ||
			strings.Count(errs, "\n") != 2 {
			t.Errorf("%s: %d %s %s, want %q and %q", line, code, brief.Of(out), errs, says, want)
		}
	}
	f("search --presett rrf x", "unknown flag: --presett; did you mean --preset?", "hybridge search")
	f("search --kbs x y", "did you mean --kb?", "hybridge search")
	f("search 退款 -租户", `unknown flag: -租户; put -- before`, "hybridge search")
	f("search --kb", "--kb needs a value", "hybridge search")
	f("search --top-k ten x", `--top-k is "ten"; it must be a whole number`, "hybridge search")
	f("search --diversity much x", `--diversity is "much"; it must be a number`, "hybridge search")
	f("search --threshold 2 x", `--threshold is "2"; it must be 0 to 1, or auto`, "hybridge search")
	f("search", "QUESTION is missing: hybridge search QUESTION...", "hybridge search")
	f("serch --kb x y", `unknown command "serch" of hybridge; did you mean search?`, "hybridge")
	f("kb delte x", `unknown command "delte" of hybridge kb; did you mean delete?`, "hybridge kb")
	f("completion bsh", `unknown command "bsh" of hybridge completion; did you mean bash or zsh?`, "hybridge completion")
	f("kb show", "KB is missing: hybridge kb show KB", "hybridge kb show")
	f("kb show a b", `one argument too many, "b"`, "hybridge kb show")
	f("mappings apply", "KB is missing", "hybridge mappings apply")
	f("mappings apply a b c", `one argument too many, "c"`, "hybridge mappings apply")
	f("serve now", `one argument too many, "now"`, "hybridge serve")
	f("serve --log-format jsn", `must be text or json; did you mean json?`, "hybridge serve")
	f("ingest x.md", "--kb is missing", "hybridge ingest")
	f("kb create x --engine embedded --engines embedded,postgres", "omitted with --engine", "hybridge kb create")
	f("kb create x --layout ragflow", "given with --attach", "hybridge kb create")
	f("mappings apply x 1 --analyzer smartcn", `--analyzer is "smartcn"; it must be omitted with PLAN`, "hybridge mappings apply")
	f("keys create x --expires soon", "a duration, as 90s or 720h", "hybridge keys create")
	f("search --parent=perhaps x", `--parent is "perhaps"; it must be true or false`, "hybridge search")
	f("kb delete x", "needs --yes", "hybridge kb delete")
	f("mappings cleanup x", "needs --yes", "hybridge mappings cleanup")
}

// A name that is not there is compared with those that are.
func TestDidYouMean(t *testing.T) {
	t.Parallel()
	c := command{t: t, folder: t.TempDir()}
	c.want(cli.ExitOK, "", "kb create manuals")
	c.want(cli.ExitUsage, "", "search --preset rff x", `preset is "rff"`, "did you mean rrf?", "See 'hybridge search --help'")
	c.want(cli.ExitUsage, "", "search --engine embeddd x", "did you mean embedded?")
	c.want(cli.ExitUsage, "", "search --copies fol x", "did you mean fold?")
	c.want(cli.ExitUsage, "", "search --facet-mode disjuntive x", "did you mean disjunctive?")
	c.want(cli.ExitUsage, "", "kb create x --engine elasticsearh", "did you mean elasticsearch?")
	c.want(cli.ExitUsage, "", "keys create x --roles serch", "did you mean search?")
	c.want(cli.ExitNotFound, "", "search --kb manual x", "did you mean manuals?")
	c.want(cli.ExitNotFound, "", "kb show manusl", "did you mean manuals?")
	c.want(cli.ExitNotFound, "", "kb delete --yes manua1s", "did you mean manuals?")
	c.want(cli.ExitNotFound, "", "rules show manual", "did you mean manuals?")
	c.want(cli.ExitNotFound, "", "ingest --kb manual usage_test.go", "did you mean manuals?")
	c.environ = []string{"HYBRIDGE_LOGLEVEL=warn"}
	c.want(cli.ExitUsage, "", "kb list", "HYBRIDGE_LOGLEVEL does not exist", "did you mean HYBRIDGE_LOG_LEVEL?")
	c.environ = nil
	file := filepath.Join(c.folder, "settings.yaml")
	if err := os.WriteFile(file, []byte("log:\n  levl: warn\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.want(cli.ExitUsage, "", "kb list --config "+file, "log.levl does not exist", "did you mean log.level?")
	if _, _, errs := c.run("", "kb", "show", "elsewhere"); strings.Contains(errs, "did you mean") {
		t.Errorf("nothing is like that: %s", errs)
	}
}

// With --json an error is that of the HTTP API, on standard error, with the same exit code.
func TestErrorsAsJSON(t *testing.T) {
	t.Parallel()
	c := command{t: t, folder: t.TempDir()}
	f := func(line string, code int, want endpoint.Problem, meant ...string) {
		t.Helper()
		got, out, errs := c.run("", strings.Fields(line)...)
		var told struct {
			endpoint.Problem
			DidYouMean []string `json:"did_you_mean"`
		}
		if err := json.Unmarshal([]byte(errs), &told); err != nil || got != code || out != "" {
			t.Fatalf("%s: %d %s %s: %v", line, got, brief.Of(out), errs, err)
		}
		if told.Code != want.Code || told.Field != want.Field || told.Status != want.Status || told.Title != want.Title ||
			!strings.Contains(told.Detail, want.Detail) || !slices.Equal(told.DidYouMean, meant) {
			t.Errorf("%s: %s, want %+v %v", line, errs, want, meant)
		}
	}
	wrong := endpoint.Problem{Status: 400, Title: "Bad Request", Code: "invalid_argument"}
	at := func(field, detail string) endpoint.Problem {
		p := wrong
		p.Field, p.Detail = field, detail
		return p
	}
	f("search --json --nope x", cli.ExitUsage, at("--nope", "unknown flag"))
	f("search --presett=rrf --json x", cli.ExitUsage, at("--presett", "unknown flag"), "--preset")
	f("kb lst --json", cli.ExitUsage, at("", `unknown command "lst"`), "list")
	f("kb show --json", cli.ExitUsage, at("KB", "KB is missing"))
	f("search --json --kb nope x", cli.ExitNotFound,
		endpoint.Problem{Status: 404, Title: "Not Found", Code: "not_found", Field: "knowledge_base", Detail: "nope"})
	f("kb list --json --server http://127.0.0.1:1", cli.ExitUnavailable,
		endpoint.Problem{Status: 503, Title: "Service Unavailable", Code: "unavailable", Detail: "does not answer"})
	f("kb delete nope --json", cli.ExitUsage, at("--yes", "needs --yes"))
	if _, _, errs := c.run("", "search", "--nope", "--", "--json"); strings.HasPrefix(errs, "{") {
		t.Errorf(`what comes after -- is the question: %s; want one that does not begin with "{"`, errs)
	}
}
