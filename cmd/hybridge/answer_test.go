package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/internal/cli/searching"
)

// A question is answered from the texts by the configured model; one that they do not answer is not.
func TestAnswerWithCitations(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.Header.Get("Authorization")
		_, err := fmt.Fprint(w, "data: {\"choices\":[{\"delta\":{\"content\":\"Within a week [1]. By card.\"}}]}\n\ndata: [DONE]\n\n")
		if err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	settings := settingsIn(t.TempDir())
	settings.Answer.URL, settings.Answer.Model, settings.Answer.APIKey = server.URL, "scripted", "sk-1"
	r := run(t, settings)
	r.must(http.MethodPost, "/v1/knowledge-bases", map[string]any{"id": "shop", "dimensions": 0}, nil)
	r.must(http.MethodPost, cli.BasePath("shop")+"/documents?refresh=true", shopTexts, nil)
	f := func(query string, want ...string) {
		t.Helper()
		status, body := r.ask(http.MethodPost, "/v1/answer", `{"query": "`+query+`", "knowledge_bases": ["shop"], "preset": "text"}`)
		for _, w := range want {
			if status != http.StatusOK || !strings.Contains(string(body), w) || strings.Contains(string(body), "sk-1") {
				t.Errorf("%s: %d %s, want %s", query, status, brief.Of(body), w)
			}
		}
	}
	f("when is a refund paid back within a week", `"source":"refunds"`, `{"text":"Within a week. ","citations":[1],"cited":true}`,
		`{"text":"By card.","citations":[],"cited":false}`, "event: done\n")
	if key := <-asked; key != "Bearer sk-1" {
		t.Errorf(`the key was %q; want key "Bearer sk-1"`, key)
	}
	f("zebra", `"sources":[]`, "event: unknown\n", "I don't know", `{"sentences":0,`)
	if len(asked) > 0 {
		t.Error("the model was asked what nothing answers")
	}
	without := run(t, settingsIn(t.TempDir()))
	status, body := without.ask(http.MethodPost, "/v1/answer", `{"query": "a", "knowledge_bases": ["shop"]}`)
	if status != http.StatusBadRequest || !strings.Contains(string(body), `"field":"answer.url"`) {
		t.Errorf("without a model: %d %s", status, brief.Of(body))
	}
}

// The command prints each sentence when it is written, and says by its exit code what became of the question.
func TestAnswerCommand(t *testing.T) {
	t.Parallel()
	more := make(chan string)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for piece := range more {
			if piece == "fail" {
				return
			}
			if _, err := fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":%q}}]}\n\n", piece); err != nil {
				return
			}
			if piece == "" {
				_, _ = io.WriteString(w, "data: [DONE]\n\n") // the client tells what is missing
				return
			}
			_ = http.NewResponseController(w).Flush()
		}
	}))
	t.Cleanup(server.Close)
	settings := settingsIn(t.TempDir())
	settings.Answer.URL, settings.Answer.Model = server.URL, "scripted"
	r := run(t, settings)
	r.must(http.MethodPost, "/v1/knowledge-bases", map[string]any{"id": "shop", "dimensions": 0}, nil)
	r.must(http.MethodPost, cli.BasePath("shop")+"/documents?refresh=true", shopTexts, nil)
	c := command{t: t, folder: t.TempDir()}
	say := func(pieces ...string) {
		go func() {
			for _, piece := range pieces {
				more <- piece
			}
		}()
	}
	const question = " --preset text when is a refund paid back within a week"
	line := "answer --server " + r.url + question

	var errs bytes.Buffer
	reader, writer := io.Pipe()
	p := &cli.Program{Groups: groups, Stdin: strings.NewReader(""), Stdout: writer, Stderr: &errs, Environ: []string{"HYBRIDGE_DATA_DIR=" + c.folder}}
	code := make(chan int, 1)
	go func() {
		code <- p.Run(t.Context(), strings.Fields(line))
		_ = writer.Close()
	}()
	more <- "Within a week [1]. By \u202ecard. "
	out := bufio.NewReader(reader)
	if first, err := out.ReadString(']'); err != nil || first != "Within a week. [1]" {
		t.Errorf(`first %q, %v, before the model goes on; want no error and first "Within a week. [1]"`, first, err)
	}
	say("Perhaps.\n", "")
	rest, err := io.ReadAll(out)
	if err != nil || <-code != cli.ExitOK {
		t.Errorf("%q %v %s; want no error and <-code exitOK", brief.Of(rest), err, errs.String())
	}
	for _, want := range []string{" By card. [?] Perhaps. [?]\n\n[1] refunds  60 % relevant  shop/refunds#0\n1 source", " read, 1 cited, in "} {
		if !strings.Contains(string(rest), want) || strings.Contains(string(rest), "\u202e") {
			t.Errorf("%q, want %q", brief.Of(rest), want)
		}
	}

	c.want(cli.ExitUnanswered, "", "answer --server "+r.url+" --preset text zebra", "I don't know", "0 sources read")
	say("NOT_IN_SOURCES", "")
	c.want(cli.ExitUnanswered, "", line, "I don't know: what was found")
	say("Within a week [1]. By", "fail")
	c.want(cli.ExitUnavailable, "", line, "Within a week. [1]", "\n[1] refunds", "hybridge: the answer service's answer ended before")
	say("Within a week [1].", "")
	_, text, _ := c.run("", strings.Fields(line+" --json")...)
	var told searching.ToldAnswer
	if err := json.Unmarshal([]byte(text), &told); err != nil || len(told.Sentences) != 1 || told.Done.Sentences != 1 ||
		told.Unknown != nil || len(told.Sources.Sources) == 0 {
		t.Errorf("%v: %s; want no error and 1 told.Sentences and told.Done.Sentences 1 and no told.Unknown and some told.Sources.Sources", err, text)
	}
	say("Within a week [1]. By", "fail")
	c.want(cli.ExitUnavailable, "", line+" --json", `"done": null`, `"code": "unavailable"`, `"text": "Within a week. "`)
	c.want(cli.ExitUsage, "", line+" --max-chars 0", "max_chars")
	c.want(cli.ExitUsage, "", "answer", "QUESTION is missing")
	c.want(cli.ExitUnavailable, "", "answer --server http://127.0.0.1:1 --kb shop a", "does not answer")
	without := run(t, settingsIn(t.TempDir()))
	c.want(cli.ExitUsage, "", "answer --kb shop --server "+without.url+" a", "this gateway has no model that answers; its setting answer.url")
	c.want(cli.ExitOK, "", "kb create own")
	c.want(cli.ExitUsage, "", "answer a", "this gateway has no model that answers; its setting answer.url")
}
