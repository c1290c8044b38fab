package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic/rest"
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/internal/cli/content/foreign"
	"github.com/hybridge-search/hybridge/internal/devservices"
)

func TestImportOfAnIndex(t *testing.T) {
	t.Parallel()
	server, name := devservices.Indices(t)
	name += "-articles"
	devservices.Talk(t, http.MethodPut, server+"/"+name, `{"mappings": {"properties": {"body": {"type": "text"},
		"headline": {"type": "keyword"}, "year": {"type": "integer"}, "embedding": {"type": "dense_vector", "dims": 2}}}}`)
	var lines strings.Builder
	for i := range 450 {
		fmt.Fprintf(&lines, "{\"index\":{\"_id\":\"a%d\"}}\n"+
			`{"body": "Article %d about water. 关于水的文章。", "headline": "Number %d", "year": %d, "embedding": [%d, 1]}`+"\n",
			i, i, i, 1900+i, i)
	}
	devservices.Talk(t, http.MethodPost, server+"/"+name+"/_bulk?refresh=true", lines.String()+"{\"index\":{\"_id\":\"empty\"}}\n{\"year\": 1}\n")
	c := command{t: t, folder: t.TempDir()}
	of := func(kb, more string) string {
		return "kb import --kb " + kb + " --from-elasticsearch " + server + " --index " + name + " " + more
	}
	c.want(cli.ExitFailed, "", of("articles", "--map content=body --map title=headline --map vector=embedding"),
		"chunks: 450 created, 0 updated, 1 failed", "content is", "must be text")
	c.want(cli.ExitOK, "", "kb list", "articles", "2 dimensions")
	c.want(cli.ExitOK, "", "search --kb articles --top-k 1 --filter year:=1907 water 水", "Number 7", "of 1 in")
	c.want(cli.ExitFailed, "", of("articles", "--map content=body"), "0 created, 450 updated, 1 failed")
	c.want(cli.ExitFailed, "", of("plain", "--map content=body --only-mapped"), "450 created")
	c.want(cli.ExitOK, "", "search --kb plain --filter year:=1907 water", "0 of 0")
	c.want(cli.ExitFailed, "", of("plain", "--map content=body --map vector=embedding"), "exists with", "2")
	c.want(cli.ExitFailed, "", of("plain", "--map question=body"), "its kind is chunks")
	c.want(cli.ExitUsage, "", of("none", "--map content=bodi"), "a field of "+name)
	c.want(cli.ExitUsage, "", "kb import --kb none --index x file", "--from-elasticsearch")
	c.want(cli.ExitUsage, "", "kb import --kb none --from-elasticsearch "+server+" --map content=body", "--index")
	c.want(cli.ExitUsage, "", "kb import --kb none --from-elasticsearch nowhere --index x --map content=body", "http(s) URL")
	c.want(cli.ExitNotFound, "", "kb show none")
}

func TestImportOfAnIndexGoesOn(t *testing.T) {
	t.Parallel()
	server, name := devservices.Indices(t)
	name += "-texts"
	var lines strings.Builder
	for i := range 300 {
		fmt.Fprintf(&lines, "{\"index\":{}}\n{\"body\": \"Text %d.\"}\n", i)
	}
	devservices.Talk(t, http.MethodPost, server+"/"+name+"/_bulk?refresh=true", lines.String())
	c := command{t: t, folder: t.TempDir()}
	c.want(cli.ExitOK, "", "kb create goes-on")
	code, out, errs := c.run("", "kb", "show", "goes-on", "--json")
	var kb engine.KnowledgeBase
	if err := json.Unmarshal([]byte(out), &kb); err != nil || code != cli.ExitOK {
		t.Fatalf("%d %s %v; want no error and code exitOK", code, errs, err)
	}
	client, err := rest.New(&rest.Options{URLs: []string{server}, Timeout: time.Minute, JSON: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	mapping, err := foreign.ParseMapping("--map", []string{"content=body"})
	if err != nil {
		t.Fatal(err)
	}
	r, err := foreign.Open(t.Context(), client, &foreign.Options{Index: name, Mapping: mapping})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	const note = "goes-on.import"
	t.Cleanup(func() { _ = os.Remove(note) })
	command := "kb import --kb goes-on --from-elasticsearch " + server + " --index " + name + " --map content=body"
	for _, of := range []struct {
		created time.Time
		want    string
	}{
		{kb.CreatedAt, "100 created, 0 updated"},
		{kb.CreatedAt.Add(-time.Second), "200 created, 100 updated"}, // of one that was deleted since
	} {
		at, err := json.Marshal(map[string]any{
			"knowledge_base": "goes-on", "created_at": of.created, "index": name, "place": r.Place(),
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(note, at, 0o600); err != nil {
			t.Fatal(err)
		}
		c.want(cli.ExitOK, "", command, of.want)
		if _, err := os.Stat(note); !os.IsNotExist(err) {
			t.Errorf("%s is still there: %v", note, err)
		}
	}
}
