package embedded

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
)

// TestWhatOneTransactionTakes: changes that wait are taken in their order, as many as fit; one that is larger than
// that goes alone.
func TestWhatOneTransactionTakes(t *testing.T) {
	for _, c := range []struct {
		waiting []int // chunks of each
		want    string
	}{
		{[]int{1, 2, 3}, "[1 2 3]"},
		{[]int{maxGroup - 1, 1, 1}, "[4095 1] [1]"},
		{[]int{maxGroup, 0, 0, 1}, "[4096 0 0] [1]"}, // deletions put nothing
		{[]int{maxGroup + 1, 1}, "[4097] [1]"},
		{[]int{1, maxGroup + 1, 1}, "[1] [4097] [1]"},
		{[]int{0, maxGroup, maxGroup}, "[0 4096] [4096]"},
	} {
		b := &base{}
		for _, n := range c.waiting {
			b.queue.waiting = append(b.queue.waiting, &change{put: make([]*prepared, n)})
		}
		var groups []string
		for len(b.queue.waiting) > 0 {
			var sizes []int
			for _, taken := range b.nextGroup() {
				sizes = append(sizes, len(taken.put))
			}
			groups = append(groups, fmt.Sprint(sizes))
		}
		if got := strings.Join(groups, " "); got != c.want {
			t.Errorf("%v waiting: taken as %s, want %s", c.waiting, got, c.want)
		}
	}
}

// TestOneOfAGroupFails: SQLite refuses a chunk of one caller in the transaction of several; the others' are stored, and
// each caller is told of its own.
func TestOneOfAGroupFails(t *testing.T) {
	e := opened(t)
	kb := engine.KnowledgeBase{
		Ref: engine.Ref{Tenant: "t", ID: "kb"}, Engine: "embedded", Kind: engine.KindChunks, Analyzer: "jieba",
	}
	if err := e.CreateKnowledgeBase(t.Context(), kb); err != nil {
		t.Fatal(err)
	}
	write := func(ids ...string) engine.WriteRequest {
		req := engine.WriteRequest{KB: kb}
		for _, id := range ids {
			req.Chunks = append(req.Chunks, engine.Chunk{ID: id, DocumentID: "d" + id, Content: "word", Available: true})
		}
		return req
	}
	if _, err := e.Write(t.Context(), write("old", "older")); err != nil {
		t.Fatal(err)
	}
	b := e.bases[kb.Ref]
	if _, err := e.files.writer.ExecContext(t.Context(), "CREATE TRIGGER refuses BEFORE INSERT ON "+b.table.name+
		" WHEN NEW.id = 'bad' BEGIN SELECT RAISE(ABORT, 'refused'); END"); err != nil {
		t.Fatal(err)
	}
	put := func(ids ...string) *change {
		req := write(ids...)
		return &change{put: b.prepare(pointers(req.Chunks)), request: &req}
	}
	gone := "dold"
	group := []*change{put("a", "a"), put("b", "bad"), {document: &gone}, put("c")}
	for _, c := range group {
		c.done = make(chan struct{})
	}
	b.mu.Lock()
	b.runGroup(group)
	b.mu.Unlock()
	for i, want := range []string{"created updated", "", "1 deleted", "created"} {
		c := group[i]
		<-c.done
		var got []string
		for _, o := range c.outcomes {
			got = append(got, string(o.Status))
		}
		if c.deleted > 0 {
			got = append(got, fmt.Sprint(c.deleted, " deleted"))
		}
		if failed := want == ""; (c.err != nil) != failed || !failed && strings.Join(got, " ") != want {
			t.Errorf("change %d: %q, %v; want %q", i, got, c.err, want)
		}
	}
	var ids []string
	stored, err := e.Chunks(t.Context(), engine.ChunksRequest{KB: kb, IDs: []string{"old", "older", "a", "b", "bad", "c"}})
	for i := range stored {
		ids = append(ids, stored[i].ID)
	}
	slices.Sort(ids)
	if err != nil || !slices.Equal(ids, []string{"a", "c", "older"}) {
		t.Errorf("stored are %v, %v", ids, err)
	}
	if d, err := e.Describe(t.Context(), kb); err != nil || d.Chunks != 3 {
		t.Errorf("described as %+v, %v", d, err)
	}
}
