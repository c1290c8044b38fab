package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/config"
	"github.com/hybridge-search/hybridge/internal/app/datadir"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/cli"
)

// completed asks what the shell would offer, without descriptions, and how it goes on.
func (c command) completed(words ...string) (offered, directive string) {
	c.t.Helper()
	code, out, _ := c.run("", append([]string{"__completeNoDesc"}, words...)...)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if code != cli.ExitOK {
		c.t.Errorf("%q: exit code %d: %s; want code exitOK", words, code, brief.Of(out))
	}
	return strings.Join(lines[:len(lines)-1], " "), lines[len(lines)-1]
}

// What the shell does with the offered words.
const (
	onlyWords = ":4" // and no names of files
	goesOn    = ":6" // words, and no space after one
	fileNames = ":0"
)

func TestCompletion(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	lock, _, err := datadir.Take(folder)
	if err != nil {
		t.Fatal(err)
	}
	settings := settingsIn(folder)
	settings.Rerankers = map[string]config.RerankService{"judge": {URL: "http://127.0.0.1:1"}}
	r := run(t, settings)
	if err := lock.Announce(r.url); err != nil {
		t.Fatal(err)
	}
	c := command{t: t, folder: folder}
	c.want(cli.ExitOK, "", "kb create manuals")
	c.want(cli.ExitOK, "", "kb create media")
	c.want(cli.ExitOK, `{"id": "a", "document_id": "d", "content": "如何申请退款", "metadata": {"lang": "zh", "year": 2026, "标签": "退款"}}`+"\n",
		"ingest --kb manuals -")
	c.want(cli.ExitOK, "", "keys list")
	c.want(cli.ExitOK, `{"base": "rrf"}`, "presets save really-flat -")

	f := func(line, wanted, directive string) {
		t.Helper()
		got, how := c.completed(strings.Split(line, " ")...)
		if got != wanted || how != directive {
			t.Errorf("%q offers %q %s, want %q %s", line, got, how, wanted, directive)
		}
	}
	f("search --kb ", "manuals media", onlyWords)
	f("search --kb me", "media", onlyWords)
	f("search --kb media,", "media,manuals", onlyWords)
	f("search --boosts ", "manuals= media=", goesOn)
	f("search --preset r", "ragflow really-flat rrf", onlyWords)
	f("presets show r", "ragflow really-flat rrf", onlyWords)
	f("presets delete ", "really-flat", onlyWords)
	f("presets save ", "really-flat", onlyWords)
	f("presets save really-flat ", "", fileNames)
	f("search --engine ", "embedded", onlyWords)
	f("search --rerank ", "judge", onlyWords)
	f("search --filter ", "document_id= document_name= lang= language= owner= written_at= year= 标签=", goesOn)
	f("search --kb media --filter ", "document_id= document_name= owner= written_at=", goesOn)
	f("search --filter lang=", "lang=zh", onlyWords)
	f("search --filter 标签=", "标签=退款", onlyWords)
	f("search --facet lang,y", "lang,year", onlyWords)
	f("search --group-by ", "document_id", onlyWords)
	f("search --facet-mode c", "conjunctive", onlyWords)
	f("search --copies ", "fold keep", onlyWords)
	f("search --weights text=1,v", "text=1,vector=", goesOn)
	f("search --top-k ", "", onlyWords)
	f("search wo", "", onlyWords)
	f("serve --log-format ", "text json", onlyWords)
	f("kb show ", "manuals media", onlyWords)
	f("kb delete me", "media", onlyWords)
	f("kb create ", "", onlyWords)
	f("kb export me", "media", onlyWords)
	f("kb export media ", "", fileNames)
	f("ingest --kb media ", "", fileNames)
	f("mappings diff ", "manuals media", onlyWords)
	f("rules show ma", "manuals", onlyWords)
	f("synonyms show ", "manuals media global", onlyWords)
	f("synonyms save global ", "", fileNames)
	f("help mapp", "mappings", onlyWords)
	f("search --server "+r.url+" --kb ma", "manuals", onlyWords)
	f("search --server http://127.0.0.1:1 --kb ma", "", onlyWords)

	r.stop()
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	f("search --kb ", "", onlyWords) // the address in the data directory is of a gateway that has gone
	f("search --preset r", "ragflow rrf", onlyWords)
	f("search --engine ", "embedded elasticsearch postgres", onlyWords)
}

// Where no gateway is, none starts and nothing is made; one that does not answer is not waited for.
func TestCompletionWithoutAGateway(t *testing.T) {
	t.Parallel()
	c := command{t: t, folder: filepath.Join(t.TempDir(), "none")}
	if offered, _ := c.completed("search", "--kb", ""); offered != "" {
		t.Errorf(`it offers %q; want offered ""`, offered)
	}
	if _, err := os.Stat(c.folder); err == nil {
		t.Error("completion made the data directory")
	}
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close() //nolint:errcheck // it only listened
	if offered, _ := c.completed("search", "--server", "http://"+silent.Addr().String(), "--kb", ""); offered != "" {
		t.Errorf(`it offers %q; want offered ""`, offered)
	}
	c.environ = []string{"HYBRIDGE_LOG_LEVEL=loud"} // a wrong setting is told when a command runs
	if offered, _ := c.completed("search", "--copies", ""); offered != "fold keep" {
		t.Errorf(`it offers %q; want offered "fold keep"`, offered)
	}
}
