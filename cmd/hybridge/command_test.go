package main

import (
	"bytes"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/internal/app/datadir"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/internal/cli/content"
	"github.com/hybridge-search/hybridge/search"
)

// command runs a command line with its own data directory and environment.
type command struct {
	t       *testing.T
	folder  string
	environ []string
}

func (c command) run(stdin string, args ...string) (code int, stdout, stderr string) {
	c.t.Helper()
	var out, errs bytes.Buffer
	p := &cli.Program{
		Groups: groups,
		Stdin:  strings.NewReader(stdin), Stdout: &out, Stderr: &errs,
		Environ: append([]string{"HYBRIDGE_DATA_DIR=" + c.folder}, c.environ...), Version: version,
	}
	code = p.Run(c.t.Context(), args)
	return code, out.String(), errs.String()
}

// want runs a command line and checks its exit code and parts of its output.
func (c command) want(code int, stdin, args string, parts ...string) {
	c.t.Helper()
	got, out, errs := c.run(stdin, strings.Fields(args)...)
	if got != code {
		c.t.Errorf("%s: exit code %d, want %d: %s %s", args, got, code, brief.Of(out), errs)
	}
	for _, part := range parts {
		if !strings.Contains(out+errs, part) {
			c.t.Errorf("%s does not say %q: %s %s", args, part, brief.Of(out), errs)
		}
	}
}

func TestCommandsWithoutAServer(t *testing.T) {
	t.Parallel()
	c := command{t: t, folder: t.TempDir()}
	c.want(cli.ExitOK, "", "kb create manuals", "created manuals on embedded, keyword search only")
	c.want(cli.ExitFailed, "", "kb create manuals", "exists already")
	c.want(cli.ExitOK, "", "kb create titled --dimensions 2 --vector title_vector=title --vector image_vector",
		"2 dimensions, title_vector of the title, image_vector")
	c.want(cli.ExitOK, "", "kb delete --yes titled", "deleted titled")
	c.want(cli.ExitOK, "", "kb create parted --fields title=3,important_keywords=5", "created parted")
	c.want(cli.ExitOK, `{"id": "a", "title": "Tea", "content": "water", "important_keywords": ["kettle"], "questions": ["how hot"]}`+"\n",
		"ingest --kb parted -", "1 created")
	c.want(cli.ExitFailed, `{"id": "b", "content": "water", "questions": [" "]}`+"\n", "ingest --kb parted -", "0 created", "questions[0]")
	c.want(cli.ExitOK, "", "search --kb parted kettle", "Tea")
	c.want(cli.ExitOK, "", "kb delete --yes parted", "deleted parted")
	c.want(cli.ExitUsage, "", "kb create other --fields title=1.5", "fields.title", "2 to 100")
	c.want(cli.ExitUsage, "", "kb create other --dimensions 2 --vector title=title", "vector_fields[0].name", "title_vector")
	c.want(cli.ExitFailed, `{"id": "a", "document_id": "d", "content": "how to request a refund"}`+"\n{bad\n",
		"ingest --kb manuals -", "chunks: 1 created, 0 updated, 1 failed", "standard input:2")
	c.want(cli.ExitOK, "", "search --kb manuals refund", "how to request a **refund**", "rank 1", "documents: d (1)")
	c.want(cli.ExitOK, "", "search refunds --explain --weights text=1", "plan: balanced", "terms: refund^1")
	c.want(cli.ExitOK, "", `search wombat --also refund --explain --signal {"match":{"field":"kind","values":["a"]},"weight":1}`,
		"text:1", "match:kind")
	c.want(cli.ExitOK, "", "search refund --parent", "| how to request a refund")
	c.want(cli.ExitUsage, "", "search wombat --signal {", "--signal", "half_life")
	c.want(cli.ExitUsage, "", "search wombat --diversity 2", "diversity")
	c.want(cli.ExitUsage, "", "search wombat --rerank nosuch", "rerank", "nosuch")
	c.want(cli.ExitOK, "", "analyze refunds", "refund", "plan: balanced")
	c.want(cli.ExitOK, "", "kb list", "manuals", "embedded")
	c.want(cli.ExitOK, "", "kb show manuals", "1 document, 1 chunk, 0 vectors")
	c.want(cli.ExitOK, "", "kb create more", "created more")
	c.want(cli.ExitOK, `{"id": "b", "document_id": "e", "content": "How to request a refund?"}`+"\n", "ingest --kb more -", "1 created")
	c.want(cli.ExitOK, "", "search --kb manuals,more --boosts manuals=2 refund", "also in: more/e", "1 of 2 (near-duplicates: 1)")
	c.want(cli.ExitOK, "", "search --kb manuals,more --boosts more=2 refund", "also in: manuals/d")
	c.want(cli.ExitOK, "", "search --kb manuals,more --boosts more=2 --copies keep refund", "2 of 2", "lowered by the boost of manuals")
	c.want(cli.ExitUsage, "", "search --kb manuals --boosts manuals=x refund", "--boosts manuals")
	c.want(cli.ExitUsage, "", "search --kb manuals --boosts manuals=101 refund", "boosts.manuals")
	c.want(cli.ExitOK, "", "kb delete --yes more", "deleted more")
	c.want(cli.ExitOK, "", "kb delete --yes manuals", "deleted manuals")
	c.want(cli.ExitNotFound, "", "search refund", "there is no knowledge base")
}

func TestIngestingFiles(t *testing.T) {
	t.Parallel()
	c := command{t: t, folder: t.TempDir()}
	docs := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(docs, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("guide.md", "# 退款\n\n七天内可以申请退款。\n")
	write("page.html", "<title>Page</title><p>Coffee is brewed here.</p>")
	write("picture.png", "\x89PNG")
	ingest := "ingest --kb files --create " + docs
	c.want(cli.ExitFailed, "", ingest, "files: 2 written, 0 unchanged, 1 skipped, 0 failed", "picture.png: skipped, not one of the formats")
	write("guide.md", "# 退款\n\n三十天内可以申请退款。\n")
	code, out, errs := c.run("", append(strings.Fields(ingest), "--json")...)
	var summary content.UploadSummary
	if err := json.Unmarshal([]byte(out), &summary); err != nil || code != cli.ExitFailed || errs != "" {
		t.Fatalf(`%d %s %s: %v; want no error and code exitFailed and errs ""`, code, brief.Of(out), errs, err)
	}
	if want := (content.FileTally{Written: 1, Unchanged: 1, Skipped: 1}); summary.Files != want || len(summary.Failures) != 0 ||
		len(summary.Skipped) != 1 || summary.Skipped[0].Source != "picture.png" {
		t.Errorf("%+v, want %+v", summary, want)
	}
	code, out, _ = c.run("", "search", "--json", "--filter", "document_id=guide.md", "申请退款")
	var response search.Response
	if err := json.Unmarshal([]byte(out), &response); err != nil || code != cli.ExitOK {
		t.Fatalf("%d %s: %v; want no error and code exitOK", code, brief.Of(out), err)
	}
	if len(response.Hits) != 1 || !strings.Contains(response.Hits[0].Content, "三十天") {
		t.Errorf(`found %+v; want 1 response.Hits and "三十天" in it`, response.Hits)
	}
	c.want(cli.ExitOK, "", "search --auto is coffee brewed here", "% relevant  Page")
	c.want(cli.ExitOK, "", "search --auto --min-answerable 1 is coffee brewed here", "nothing found: nothing here answers that")
	c.want(cli.ExitOK, "", "search --min-relevance 1 is coffee brewed here", "nothing found: nothing here answers that")
}

func TestExitCodes(t *testing.T) {
	t.Parallel()
	c := command{t: t, folder: t.TempDir()}
	c.want(cli.ExitOK, "", "--help", "Exit codes")
	c.want(cli.ExitOK, "", "--version", "hybridge version")
	c.want(cli.ExitOK, "", "version", "hybridge version")
	c.want(cli.ExitOK, "", "kb list", "there is no knowledge base; `hybridge kb create` makes one")
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close() //nolint:errcheck // it only listened
	c.want(cli.ExitUsage, "", "serve --listen "+taken.Addr().String(), "an address that no other program listens on")
	c.want(cli.ExitOK, "", "completion bash", "bash completion")
	c.want(cli.ExitUsage, "", "serch", `unknown command "serch"`)
	c.want(cli.ExitUsage, "", "search", "QUESTION is missing: hybridge search QUESTION...")
	c.want(cli.ExitUsage, "", "search --nope x", "unknown flag: --nope")
	c.want(cli.ExitUsage, "", "search --min-relevance much x", "--min-relevance is \"much\"; it must be a number")
	c.want(cli.ExitUsage, "", "search --weights text=-1 x", "--weights text")
	c.want(cli.ExitUsage, "", "search --filter colour x", "field=text or field:=JSON")
	c.want(cli.ExitUsage, "", "search --filter a:=[ x", "--filter a")
	c.want(cli.ExitUsage, "", "search --server nowhere x", "--server")
	c.want(cli.ExitUsage, "", "ingest x.md", "--kb")
	c.want(cli.ExitUsage, "", "config check --listen nowhere", "listen", "host:port")
	c.want(cli.ExitUsage, "", "config check --config /nonexistent.yaml", "/nonexistent.yaml")
	c.want(cli.ExitUsage, "", "serve --listen 0.0.0.0:0", "there are no keys")
	c.want(cli.ExitNotFound, "", "kb show nope", `"nope" does not exist`)
	c.want(cli.ExitUnavailable, "", "kb list --server http://127.0.0.1:1", "does not answer")
	c.want(cli.ExitOK, "", "config check", "listen: 127.0.0.1:8080")
	c.environ = []string{"HYBRIDGE_LOG_LEVEL=loud"}
	c.want(cli.ExitUsage, "", "config check", "log.level is \"loud\"")
	c.environ = []string{"HYBRIDGE_EMBEDDING_API_KEY=hush", "HYBRIDGE_KEY=mine", "HYBRIDGE_SERVER="}
	if code, out, errs := c.run("", "config", "check", "--json"); code != cli.ExitOK || strings.Contains(out+errs, "hush") {
		t.Errorf(`%d %s %s; want code exitOK and no "hush" in it`, code, brief.Of(out), errs)
	}
}

func TestACommandUsesTheGatewayThatRuns(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	lock, _, err := datadir.Take(folder)
	if err != nil {
		t.Fatal(err)
	}
	r := run(t, settingsIn(folder))
	if err := lock.Announce(r.url); err != nil {
		t.Fatal(err)
	}
	c := command{t: t, folder: folder}
	c.want(cli.ExitOK, "", "kb create here")
	if n := r.chunks("here"); n != 0 {
		t.Errorf("%d chunks; want n 0", n)
	}
	c.want(cli.ExitFailed, "", "serve --listen 127.0.0.1:0", "the gateway at "+r.url+" uses the data directory")
	r.stop()
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	c.want(cli.ExitOK, "", "kb list", "here")
}
