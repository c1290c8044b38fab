package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/ingest"
	"github.com/hybridge-search/hybridge/internal/cli"
)

// tableSize is how many chunks a document of these tests has.
const tableSize = 240

// atOnce is a knowledge base of a test, and what several clients do to it at once.
type atOnce struct {
	*bound
	kb string
}

// TestChangesTogetherOnEveryEngine: of clients that change the same document at once none undoes what another was told is
// done, and what cannot be done is refused by the line or the chunk that it is about.
//
// Promise: "both count, on every chunk" (docs/guide/en/ingesting.md).
func TestChangesTogetherOnEveryEngine(t *testing.T) {
	onEachEngine(t, func(t *testing.T, b *bound) {
		for i, test := range []struct {
			name string
			run  func(*atOnce)
		}{
			{"two patches at once both count", (*atOnce).twoPatches},
			{"a document deleted while it is patched is gone", (*atOnce).deletedWhilePatched},
			{"a document replaced while it is patched has no old chunk", (*atOnce).replacedWhilePatched},
			{"writers and patches lose no value", (*atOnce).writersAndPatches},
			{"deleting what is old leaves what is new", (*atOnce).oldDeletedWhileRewritten},
			{"an id of another document", (*atOnce).idOfAnother},
			{"one id in two lines", (*atOnce).twoLinesOfOneID},
			{"a chunk that takes no more members", (*atOnce).fullChunk},
		} {
			t.Run(test.name, func(t *testing.T) {
				own := &bound{&running{t: t, url: b.url, http: b.http}}
				x := &atOnce{own, fmt.Sprint("table", i)}
				x.as("root", http.MethodPost, "/v1/knowledge-bases", fmt.Sprintf(`{"id": %q, "dimensions": 0}`, x.kb), http.StatusCreated)
				test.run(x)
			})
		}
	})
}

func (x *atOnce) path(rest string) string { return cli.BasePath(x.kb) + rest }

// lines are chunks of a document; their status is the first word of what they say.
func (x *atOnce) lines(document, prefix, says string, from, to int) string {
	var lines strings.Builder
	status, _, _ := strings.Cut(says, " ")
	for i := from; i < to; i++ {
		fmt.Fprintf(&lines, `{"id": "%s%03d", "document_id": %q, "content": %q, "metadata": {"status": %q}}`+"\n",
			prefix, i, document, says, status)
	}
	return lines.String()
}

func (x *atOnce) write(lines string) {
	x.t.Helper()
	text := x.as("root", http.MethodPost, x.path("/documents"), lines, http.StatusOK)
	if n := strings.Count(text, `"status":"failed"`); n > 0 {
		x.t.Errorf("%d chunks failed: %s; want n 0", n, text)
	}
}

func (x *atOnce) patch(members string) (int, string) {
	x.t.Helper()
	return x.send("root", http.MethodPatch, x.path("/documents/d"), cli.AsJSON, `{"metadata": `+members+`}`)
}

// stored are the chunks that there are in the end, by id.
func (x *atOnce) stored() map[string]ingest.Chunk {
	x.t.Helper()
	x.as("root", http.MethodPost, x.path("/delete"), `{"filter": {"nowhere": "x"}, "dry_run": true}`, http.StatusOK) // makes all visible
	all := map[string]ingest.Chunk{}
	for line := range strings.Lines(x.as("root", http.MethodGet, x.path("/chunks?limit=1000"), "", http.StatusOK)) {
		var c ingest.Chunk
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			x.t.Fatalf("%s: %v", line, err)
		}
		all[c.ID] = c
	}
	return all
}

// untilDone does all at once, each again until it says that it is done.
func untilDone(all ...func() (done bool)) {
	var group sync.WaitGroup
	for _, do := range all {
		group.Go(func() {
			for !do() {
			}
		})
	}
	group.Wait()
}

// patchesUntil patches again and again until the channel is closed.
func (x *atOnce) patchesUntil(ended <-chan struct{}) func() bool {
	round := 0
	return func() bool {
		round++
		if status, text := x.patch(fmt.Sprintf(`{"round": %d}`, round)); status != http.StatusOK && status != http.StatusNotFound {
			x.t.Errorf("patching: %d %s; want status StatusOK or status StatusNotFound", status, text)
		}
		select {
		case <-ended:
			return true
		default:
			return false
		}
	}
}

func (x *atOnce) twoPatches() {
	x.write(x.lines("d", "c", "old text", 0, tableSize))
	one := func(members string) func() bool {
		return func() bool {
			status, text := x.patch(members)
			if status != http.StatusOK || x.count(text, "chunks") != tableSize {
				x.t.Errorf(`%s: %d %s; want status StatusOK and x.count(text, "chunks") tableSize`, members, status, text)
			}
			return true
		}
	}
	untilDone(one(`{"first": "1"}`), one(`{"second": "2"}`))
	for id, c := range x.stored() {
		if m := fmt.Sprint(c.Metadata); !strings.Contains(m, "first:") || !strings.Contains(m, "second:") {
			x.t.Fatalf(`chunk %s has the metadata %v; want "first:" in it and "second:" in it`, id, c.Metadata)
		}
	}
}

func (x *atOnce) deletedWhilePatched() {
	x.write(x.lines("d", "c", "old text", 0, tableSize))
	ended := make(chan struct{})
	untilDone(x.patchesUntil(ended), func() bool {
		defer close(ended)
		text := x.as("root", http.MethodDelete, x.path("/documents/d"), "", http.StatusOK)
		if n := x.count(text, "deleted"); n != tableSize {
			x.t.Errorf("%d chunks were deleted; want n tableSize", n)
		}
		return true
	})
	if left := x.stored(); len(left) > 0 {
		x.t.Errorf("%d chunks are left; want len(left) 0", len(left))
	}
}

func (x *atOnce) replacedWhilePatched() {
	x.write(x.lines("d", "old", "old text", 0, tableSize))
	ended := make(chan struct{})
	untilDone(x.patchesUntil(ended), func() bool {
		defer close(ended)
		x.as("root", http.MethodPut, x.path("/documents/d"), x.lines("d", "new", "new text", 0, tableSize/2), http.StatusOK)
		return true
	})
	left := x.stored()
	for id := range left {
		if !strings.HasPrefix(id, "new") {
			x.t.Fatalf("chunk %s is left", id)
		}
	}
	if len(left) != tableSize/2 {
		x.t.Errorf("%d chunks, want %d", len(left), tableSize/2)
	}
}

func (x *atOnce) writersAndPatches() {
	const writers, rounds = 4, 4
	x.write(x.lines("d", "c", "old text", 0, tableSize))
	ended := make(chan struct{})
	var left sync.WaitGroup
	left.Add(writers)
	go func() { left.Wait(); close(ended) }()
	all := []func() bool{x.patchesUntil(ended)}
	for w := range writers {
		round, share := 0, tableSize/writers
		all = append(all, func() bool {
			round++
			x.write(x.lines("d", "c", fmt.Sprintf("new %d", round), w*share, (w+1)*share))
			if round == rounds {
				left.Done()
			}
			return round == rounds
		})
	}
	untilDone(all...)
	stored := x.stored()
	for id, c := range stored {
		if c.Content != fmt.Sprintf("new %d", rounds) {
			x.t.Fatalf("chunk %s is %q", id, c.Content)
		}
	}
	if len(stored) != tableSize {
		x.t.Errorf("%d chunks; want tableSize stored", len(stored))
	}
}

func (x *atOnce) oldDeletedWhileRewritten() {
	x.write(x.lines("d", "c", "old text", 0, tableSize))
	ended := make(chan struct{})
	untilDone(func() bool {
		x.as("root", http.MethodPost, x.path("/delete"), `{"filter": {"status": "old"}}`, http.StatusOK)
		select {
		case <-ended:
			return true
		default:
			return false
		}
	}, func() bool {
		defer close(ended)
		for from := 0; from < tableSize; from += 20 {
			x.write(x.lines("d", "c", "new text", from, from+20))
		}
		return true
	})
	stored := x.stored()
	for id, c := range stored {
		if c.Content != "new text" {
			x.t.Fatalf(`chunk %s is %q; want c.Content "new text"`, id, c.Content)
		}
	}
	if len(stored) != tableSize {
		x.t.Errorf("of %d chunks that were written as new %d are there", tableSize, len(stored))
	}
}

func (x *atOnce) idOfAnother() {
	put := func(document string, ids, status int) string {
		return x.as("root", http.MethodPut, x.path("/documents/"+document), x.lines(document, "", "of "+document, 0, ids), status)
	}
	put("A", 3, http.StatusOK)
	if text := put("B", 2, http.StatusConflict); !strings.Contains(text, `"A\"`) || !strings.Contains(text, "line 1") {
		x.t.Errorf("the conflict is told as %s; want `\"A\\\"` in it and \"line 1\" in it", text)
	}
	text := x.as("root", http.MethodPost, x.path("/documents"),
		x.lines("B", "", "of B", 1, 2)+x.lines("B", "own", "of B", 0, 1), http.StatusOK)
	var refused, written ingest.Result
	decoder := json.NewDecoder(strings.NewReader(text))
	if err := decoder.Decode(&refused); err != nil || refused.Error == nil || refused.Error.Field != "id" ||
		refused.Error.Code != "conflict" || !strings.Contains(refused.Error.Detail, `"A"`) {
		x.t.Errorf("%v: %s; want no error and a refused.Error and refused.Error.Field \"id\" and refused.Error.Code \"conflict\" and `\"A\"` in it", err, text)
	}
	if err := decoder.Decode(&written); err != nil || written.Status != "created" || written.Line != 2 {
		x.t.Errorf(`%v: %s; want no error and written.Status "created" and written.Line 2`, err, text)
	}
	stored := x.stored()
	for _, id := range []string{"000", "001", "002"} {
		if c := stored[id]; c.DocumentID != "A" || c.Content != "of A" {
			x.t.Errorf(`chunk %s is of %s: %q; want c.DocumentID "A" and c.Content "of A"`, id, c.DocumentID, c.Content)
		}
	}
	if len(stored) != 4 {
		x.t.Errorf("%d chunks; want 4 stored", len(stored))
	}
}

func (x *atOnce) twoLinesOfOneID() {
	line := func(content string) string { return x.lines("d", "c", content, 0, 1) }
	for method, path := range map[string]string{http.MethodPost: "/documents", http.MethodPut: "/documents/d"} {
		text := x.as("root", method, x.path(path), line("one")+x.lines("d", "c", "between", 1, 2)+line("two"), http.StatusOK)
		if n := strings.Count(text, `"earlier_line":1`); n != 1 || strings.Count(text, "earlier_line") != 1 {
			x.t.Errorf(`%s: %s; want n 1 and strings.Count(text, "earlier_line") 1`, method, text)
		}
		if stored := x.stored(); len(stored) != 2 || stored["c000"].Content != "two" {
			x.t.Errorf(`%s: stored are %+v; want 2 stored and stored["c000"].Content "two"`, method, stored)
		}
	}
}

func (x *atOnce) fullChunk() {
	members := make(map[string]any, 250)
	for i := range 250 {
		members[fmt.Sprint("m", i)] = i
	}
	full, err := json.Marshal(map[string]any{"id": "full", "document_id": "d", "content": "a text", "metadata": members})
	if err != nil {
		x.t.Fatal(err)
	}
	x.write(x.lines("d", "c", "new text", 0, 5) + string(full))
	more := make(map[string]any, 10)
	for i := range 10 {
		more[fmt.Sprint("more", i)] = i
	}
	body, err := json.Marshal(more)
	if err != nil {
		x.t.Fatal(err)
	}
	status, text := x.patch(string(body))
	var problem endpoint.Problem
	if err := json.Unmarshal([]byte(text), &problem); err != nil || status != http.StatusBadRequest || problem.Changed == nil ||
		*problem.Changed != 5 || len(problem.Failed) != 1 || problem.Failed[0].ID != "full" || problem.Failed[0].Code != problem.Code {
		x.t.Errorf("%d %s: %v", status, text, err)
	}
	for id, c := range x.stored() {
		if _, changed := c.Metadata["more9"]; changed == (id == "full") {
			x.t.Errorf("chunk %s has the metadata %v", id, c.Metadata)
		}
	}
}
