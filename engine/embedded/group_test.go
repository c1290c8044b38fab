package embedded

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/lib/sqlite"
	"github.com/hybridge-search/hybridge/textquery"
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

func openedWith(t *testing.T) (*Engine, engine.KnowledgeBase) {
	t.Helper()
	e := opened(t)
	kb := engine.KnowledgeBase{
		Ref: engine.Ref{Tenant: "t", ID: "kb"}, Engine: "embedded", Kind: engine.KindChunks, Analyzer: "jieba",
	}
	if err := e.CreateKnowledgeBase(t.Context(), kb); err != nil {
		t.Fatal(err)
	}
	return e, kb
}

// TestOneOfAGroupFails: SQLite refuses a chunk of one caller in the transaction of several; the others' are stored, and
// each caller is told of its own.
func TestOneOfAGroupFails(t *testing.T) {
	e, kb := openedWith(t)
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
		t.Errorf(`stored are %v, %v; want no error and {"a", "c", "older"}`, ids, err)
	}
	if d, err := e.Describe(t.Context(), kb); err != nil || d.Chunks != 3 {
		t.Errorf("described as %+v, %v; want no error and d.Chunks 3", d, err)
	}
}

// slowed has the next transaction wait, as for a sync, until it is released.
func slowed(t *testing.T, e *Engine) (release func()) {
	t.Helper()
	disk, err := sqlite.Connect(filepath.Join(e.options.Path, "hybridge.db"), 1, sqlite.Immediate)
	if err != nil {
		t.Fatal(err)
	}
	tx, err := disk.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := errors.Join(tx.Rollback(), disk.Close()); err != nil {
			t.Error(err)
		}
	}
}

// readsAtOnce reads what there was before a transaction that is under way, and fails when that takes seconds; told is
// closed when it has been read.
func readsAtOnce(t *testing.T, e *Engine, kb engine.KnowledgeBase) (told chan struct{}) {
	t.Helper()
	told = make(chan struct{})
	go func() {
		defer close(told)
		if d, err := e.Describe(t.Context(), kb); err != nil || d.Chunks != 1 {
			t.Errorf("meanwhile: %+v, %v; want no error and d.Chunks 1", d, err)
		}
		if _, err := e.Search(t.Context(), &engine.Request{KB: kb, Legs: []engine.Leg{{
			Name: "text", Field: engine.FieldText, K: 9, Text: &textquery.Query{Terms: []textquery.Term{{Text: "word", Weight: 1}}},
		}}}); err != nil {
			t.Errorf("a search meanwhile: %v", err)
		}
	}()
	select {
	case <-told:
	case <-time.After(5 * time.Second):
		t.Error("what only reads waits for a write")
	}
	return told
}

// TestASlowDisk: while a transaction takes long, searches are answered by what was there, and writes that have come
// meanwhile are one transaction; none is told to have failed because its time is over while it is being stored.
func TestASlowDisk(t *testing.T) {
	e, kb := openedWith(t)
	write := func(ctx context.Context, id string) error {
		_, err := e.Write(ctx, engine.WriteRequest{KB: kb, Chunks: []engine.Chunk{{ID: id, DocumentID: id, Content: "word", Available: true}}})
		return err
	}
	if err := write(t.Context(), "before"); err != nil {
		t.Fatal(err)
	}
	release := slowed(t, e)
	commits := func() (n int) {
		if err := e.files.readers.QueryRowContext(t.Context(), "SELECT generation FROM knowledge_bases").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	begun := commits()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	const writers = 8
	var work sync.WaitGroup
	errs := make([]error, writers)
	b := e.bases[kb.Ref]
	for i := range writers {
		work.Go(func() { errs[i] = write(ctx, fmt.Sprint("c", i)) })
	}
	waiting := func() int {
		b.queue.Lock()
		defer b.queue.Unlock()
		return len(b.queue.waiting)
	}
	for waiting() < writers-1 && ctx.Err() == nil { // the first is being stored
		time.Sleep(time.Millisecond)
	}
	<-ctx.Done()
	reader := readsAtOnce(t, e, kb)
	release()
	work.Wait()
	<-reader
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
	if d, err := e.Describe(t.Context(), kb); err != nil || d.Chunks != 1+writers {
		t.Errorf("afterwards: %+v, %v; want no error and d.Chunks 1 + writers", d, err)
	}
	if made := commits() - begun; made > 3 {
		t.Errorf("%d transactions for %d writes that came while one was under way; want made at most 3", made, writers)
	}
}
