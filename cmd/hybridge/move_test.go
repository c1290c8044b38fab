package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/internal/devservices"
	"github.com/hybridge-search/hybridge/search"
)

// moved is what is moved between engines: 240 chunks with unit vectors of two fields.
func moved() string {
	r := rand.New(rand.NewPCG(3, 4))
	words := strings.Fields("refund order coffee 退款 申请 invoice délai card 订单 water")
	unit := func() []float32 {
		var square float64
		v := make([]float64, 16)
		for i := range v {
			v[i] = r.NormFloat64()
			square += v[i] * v[i]
		}
		scaled := make([]float32, len(v))
		for i := range v {
			scaled[i] = float32(v[i] / math.Sqrt(square))
		}
		return scaled
	}
	var lines bytes.Buffer
	for i := range 240 {
		chunk := map[string]any{
			"id": fmt.Sprintf("c%d/文", i), "document_id": fmt.Sprintf("d%d", i%9), "ordinal": i / 9, "document_name": "d.md",
			"title": words[i%len(words)], "content": strings.Join([]string{words[r.IntN(10)], words[r.IntN(10)], words[r.IntN(5)]}, " "),
			"owner": "anna", "available": i%11 != 0, "positions": [][]float64{{1, 0.5, 2, 3, 4}},
			"metadata": map[string]any{"n": float64(i) / 3, "tags": []any{"a", i%2 == 0}, "big": json.RawMessage("1e20")},
		}
		if i%13 != 0 {
			chunk["vector"] = unit()
			chunk["vectors"] = map[string]any{"title_vector": unit()}
		}
		text, err := json.Marshal(chunk)
		if err != nil {
			panic(err)
		}
		lines.Write(append(text, '\n'))
	}
	return lines.String()
}

// linesOf are the chunks of an export, by the bytes of their vectors too.
func linesOf(t *testing.T, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	return lines[1:]
}

// What one engine exports, each of the others imports: the same chunks, vectors bit for bit,
// and the same answers.
//
// Promise: "Every engine imports it" (docs/guide/en/ingesting.md).
func TestMovingBetweenEngines(t *testing.T) {
	t.Parallel()
	c := settingsIn(t.TempDir())
	c.Elasticsearch.URL = []string{""}
	c.Elasticsearch.URL[0], c.Elasticsearch.IndexPrefix = devservices.Indices(t)
	c.Postgres.URL, c.DefaultEngine = devservices.NewDatabase(t).URL, "embedded"
	r := run(t, c)
	do := command{t: t, folder: t.TempDir(), environ: []string{"HYBRIDGE_SERVER=" + r.url}}
	files := t.TempDir()
	chunks := filepath.Join(files, "chunks.ndjson")
	if err := os.WriteFile(chunks, []byte(moved()), 0o600); err != nil {
		t.Fatal(err)
	}
	moves := []struct {
		from, engine, more string
		to                 []string
	}{
		{"embedded", "embedded", "", []string{"elasticsearch", "postgres"}},
		{"elasticsearch", "elasticsearch", "", []string{"embedded", "postgres"}},
		{"postgres", "postgres", "", []string{"embedded", "elasticsearch"}},
		{"half", "postgres", " --vector-index half_hnsw", []string{"postgres", "embedded"}},
	}
	answers := func(kb string) (all []search.Hit) {
		t.Helper()
		for _, query := range []string{"refund 退款", "coffee card", "订单 délai"} {
			var found search.Response
			r.must(http.MethodPost, "/v1/search", map[string]any{
				"query": query, "knowledge_bases": []string{kb}, "top_k": 20, "candidates": 240,
				"vector": make1(16), "preset": "linear",
			}, &found)
			all = append(all, found.Hits...)
		}
		return all
	}
	for _, move := range moves {
		from, file := move.from, filepath.Join(files, move.from+".jsonl")
		do.want(cli.ExitOK, "", "kb create "+from+" --dimensions 16 --vector title_vector=title --engine "+move.engine+move.more)
		do.want(cli.ExitOK, "", "ingest --kb "+from+" "+chunks, "240 created", "0 failed")
		r.must(http.MethodPut, "/v1/rules/"+from, map[string]any{"rules": []any{map[string]any{
			"name": "water", "when": map[string]any{"match": "exact", "queries": []string{"water"}}, "pin": []any{map[string]any{"chunk_id": "c1/文"}},
		}}}, nil)
		do.want(cli.ExitOK, "", "kb export "+from+" "+file, "240 chunks")
		want, wantAnswers := linesOf(t, file), answers(from)
		for _, to := range move.to {
			copied := from + "-" + to
			again := filepath.Join(files, copied+".jsonl")
			do.want(cli.ExitOK, "", "kb import "+file+" --kb "+copied+" --engine "+to, "240 created", "0 failed")
			do.want(cli.ExitOK, "", "kb export "+copied+" "+again)
			sameLines(t, copied, linesOf(t, again), want)
			sameHits(t, copied, answers(copied), wantAnswers)
			do.want(cli.ExitOK, "", "rules show "+copied, "water", "c1/文")
		}
	}
}

// sameLines reports the first line that differs.
func sameLines(t *testing.T, what string, got, want []string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Errorf("%s: %d lines, want %d; line %d is %v, want %v", what, len(got), len(want), i,
				got[min(i, len(got)):min(i+1, len(got))], want[min(i, len(want)):min(i+1, len(want))])
			return
		}
	}
}

// sameHits allows for what the engines' own arithmetic differs in.
func sameHits(t *testing.T, what string, got, want []search.Hit) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i].ID != want[i].ID || math.Abs(got[i].Score-want[i].Score) > 1e-3 {
			t.Errorf("%s: %d hits, want %d; they differ from %d on", what, len(got), len(want), i)
			return
		}
	}
}

// make1 is a vector of ones.
func make1(dims int) []float32 {
	v := make([]float32, dims)
	for i := range v {
		v[i] = 1
	}
	return v
}

// Promise: "within an hour" (docs/guide/en/ingesting.md).
func TestExportsAndImportsGoOn(t *testing.T) {
	t.Parallel()
	c := command{t: t, folder: t.TempDir()}
	folder := t.TempDir()
	in := func(name string) string { return filepath.Join(folder, name) }
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(in(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c.want(cli.ExitOK, "", "kb create a --dimensions 16 --vector title_vector=title")
	write("chunks.ndjson", moved())
	c.want(cli.ExitOK, "", "ingest --kb a "+in("chunks.ndjson"), "240 created")
	c.want(cli.ExitOK, "", "kb export a "+in("a"), "240 chunks")
	whole, err := os.ReadFile(in("a"))
	if err != nil {
		t.Fatal(err)
	}
	c.want(cli.ExitFailed, "", "kb export a "+in("a"), "a whole export already")
	for _, cut := range []int{0, 10, len(whole) / 3, bytes.LastIndexByte(whole[:len(whole)-1], '\n') + 1, len(whole) - 1} {
		write("cut", string(whole[:cut]))
		c.want(cli.ExitOK, "", "kb export a "+in("cut"), "240 chunks")
		if got, err := os.ReadFile(in("cut")); err != nil || !bytes.Equal(got, whole) {
			t.Errorf("cut at %d: %d bytes, want %d, %v", cut, len(got), len(whole), err)
		}
	}
	write("foreign", "a text\n")
	c.want(cli.ExitUsage, "", "kb export a "+in("foreign"), "is no export")
	c.want(cli.ExitFailed, "", "kb export a --without-vectors "+in("a"), "other options")
	c.want(cli.ExitOK, "", "kb export a --overwrite --without-vectors "+in("foreign"))

	lines := strings.SplitAfter(string(whole), "\n")
	write("b", strings.Join(lines[:100], ""))
	c.want(cli.ExitFailed, "", "kb import --kb b "+in("b"), "99 created", "no last line")
	write("b", string(whole))
	c.want(cli.ExitOK, "", "kb import --kb b "+in("b"), "141 created, 99 updated")
	c.want(cli.ExitOK, string(whole), "kb import --kb c -", "240 created")
	var at engine.KnowledgeBase
	if code, out, errs := c.run("", "kb", "show", "b", "--json"); code != cli.ExitOK || json.Unmarshal([]byte(out), &at) != nil {
		t.Fatal(out, errs)
	}
	note := fmt.Sprintf(`{"knowledge_base": "b", "created_at": %q, "offset": %d, "lines": 200, "chunks": 199}`,
		at.CreatedAt.Format("2006-01-02T15:04:05.999Z"), len(strings.Join(lines[:200], "")))
	write("b.import", note)
	c.want(cli.ExitOK, "", "kb import --kb b "+in("b"), "0 created, 41 updated")
	if _, err := os.Stat(in("b.import")); err == nil {
		t.Error("the note is still there")
	}
	write("b.import", note)
	c.want(cli.ExitOK, "", "kb import --kb d "+in("b"), "240 created") // another knowledge base
	write("bad", lines[0]+`{"id": "x"}`+"\n"+lines[1]+`{"end":{"chunks":2}}`+"\n")
	c.want(cli.ExitFailed, "", "kb import --kb d "+in("bad"), "1 updated, 1 failed", "bad:2")
	write("bad", lines[0]+lines[1]+`{"end":{"chunks":2}}`+"\n")
	c.want(cli.ExitFailed, "", "kb import --kb d "+in("bad"), "its last line says 2")
	c.want(cli.ExitOK, "", "kb create small --dimensions 2")
	c.want(cli.ExitFailed, "", "kb import --kb small "+in("a"), "number of dimensions is 2", "--kb")
	c.want(cli.ExitUsage, "", "kb import "+in("chunks.ndjson"), "is no export")
	c.want(cli.ExitUsage, "", "kb import "+in("nowhere"), "a file that exists")
	write("later", strings.Replace(lines[0], `"hybridge_export":1`, `"hybridge_export":2`, 1))
	c.want(cli.ExitUsage, "", "kb import "+in("later"), "format 2")
}
