package enginetest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/filter"
)

func changeCases() []testCase {
	return []testCase{
		{"change/chunks are selected in pages", selecting},
		{"change/an edit decides about each chunk", editing},
		{"change/an edit keeps vectors and may give others", editedVectors},
		{"change/edits at once lose nothing", editsAtOnce},
		{"change/what is deleted does not come back", deletedWhileEdited},
		{"change/what is rewritten is not deleted", rewrittenWhileDeleted},
		{"change/a chunk belongs to its document", chunkOfAnother},
		{"change/what may not be replaced stays", notAdmitted},
	}
}

// change has an edit decide about chunks, which must not fail as a whole.
func (b *base) change(edit engine.Edit, ids ...string) []engine.ChangeOutcome {
	b.t.Helper()
	outcomes, err := b.engine.ChangeChunks(b.t.Context(),
		engine.ChangeRequest{KB: b.kb, IDs: ids, Edit: edit, Refresh: true})
	if err != nil || len(outcomes) != len(ids) {
		b.t.Fatalf("changing %d chunks gave %d outcomes, %v", len(ids), len(outcomes), err)
	}
	return outcomes
}

// selected are the ids of all pages of two.
func (b *base) selected(conditions ...filter.Condition) []string {
	b.t.Helper()
	all := []string{}
	for {
		request := engine.SelectRequest{KB: b.kb, Conditions: conditions, Limit: 2}
		if len(all) > 0 {
			request.After = all[len(all)-1]
		}
		page, err := b.engine.SelectChunks(b.t.Context(), request)
		if err != nil || len(page) > 2 {
			b.t.Fatalf("a page of %d ids, %v", len(page), err)
		}
		if all = append(all, page...); len(page) < 2 {
			return all
		}
	}
}

// setting is the edit that sets a member of the metadata.
func setting(key string, value any) engine.Edit {
	return func(c *engine.Chunk) (engine.Verdict, error) {
		if c.Metadata == nil {
			c.Metadata = map[string]any{}
		}
		c.Metadata[key] = value
		return engine.Put, nil
	}
}

func selecting(t *testing.T, s *suite) {
	b := s.base(t, schema{})
	chunks := make([]engine.Chunk, 5)
	for i := range chunks {
		chunks[i] = passage(fmt.Sprint("c", i), "red")
		chunks[i].DocumentID, chunks[i].Metadata = "d", map[string]any{"n": float64(i)}
	}
	chunks[4].Available = false // hidden ones are chunks too
	other := passage("b", "red")
	outcomes, err := s.engine.Write(t.Context(), // not refreshed: it is acknowledged
		engine.WriteRequest{KB: b.kb, Chunks: append(slices.Clone(chunks), other)})
	b.accepted(outcomes, err, append(chunks, other))
	same(t, "all", b.selected(), []string{"b", "c0", "c1", "c2", "c3", "c4"})
	same(t, "of a document", b.selected(engine.OfDocument("d")), []string{"c0", "c1", "c2", "c3", "c4"})
	three := filter.Condition{Field: "n", Range: &filter.Range{GTE: &filter.Value{V: float64(3)}}}
	same(t, "by two conditions", b.selected(engine.OfDocument("d"), three), []string{"c3", "c4"})
	not := engine.OfDocument("d")
	not.Not = true
	same(t, "of no such document", b.selected(not), []string{"b"})
	same(t, "none", b.selected(engine.OfDocument("nosuch")), []string{})
}

func editing(t *testing.T, s *suite) {
	b := s.base(t, schema{Dimensions: 2})
	hidden := passage("d", "red", 1, 0)
	hidden.Available = false
	b.write(passage("a", "red", 1, 0), passage("b", "red", 0, 1), passage("c", "red", 1, 1), hidden)
	no := fault.Invalid("metadata", "b", "another")
	out := b.change(func(c *engine.Chunk) (engine.Verdict, error) {
		switch c.ID {
		case "a":
			return engine.Remove, nil
		case "b":
			c.Content = "blue"
			return engine.Put, no
		case "c":
			c.Content = "green"
			return engine.Keep, nil
		default:
			c.Available = true
			return setting("v", "new")(c)
		}
	}, "d", "nosuch", "a", "b", "c")
	want := []engine.Verdict{engine.Put, engine.Missing, engine.Remove, engine.Keep, engine.Keep}
	for i, o := range out {
		if o.Verdict != want[i] || (o.Err != nil) != (o.ID == "b") {
			t.Errorf("outcome %d is %+v, want %v", i, o, want[i])
		}
	}
	if !errors.Is(out[3].Err, no) {
		t.Errorf("the edit's error is told as %v", out[3].Err)
	}
	same(t, "those left", b.ids(words(9, "red"), engine.Filter{}), []string{"b", "c", "d"})
	same(t, "what was not stored", b.ids(words(9, "blue green"), engine.Filter{}), []string{})
	same(t, "the new value", b.selected(in("v", "new")), []string{"d"})
	if d := b.describe(); d.Chunks != 3 || d.Vectors != 3 {
		t.Errorf("described as %+v", d)
	}
	b.change(func(c *engine.Chunk) (engine.Verdict, error) {
		if c.Metadata["twice"] != nil {
			return setting("thrice", true)(c)
		}
		return setting("twice", true)(c)
	}, "c", "c")
	if got := b.chunk("c").Metadata; got["twice"] != true || got["thrice"] != true {
		t.Errorf("edited twice in one call it has %v", got)
	}
	if _, err := s.engine.ChangeChunks(t.Context(), engine.ChangeRequest{
		KB: s.definition(schema{}), IDs: []string{"a"}, Edit: setting("x", 1),
	}); !fault.Is(err, fault.NotFound) {
		t.Errorf("of what does not exist: %v, want not_found", err)
	}
}

func editedVectors(t *testing.T, s *suite) {
	b := s.base(t, schema{Dimensions: 2})
	b.write(passage("a", "red", 1, 0), passage("b", "red", 0, 1))
	b.change(setting("v", "x"), "a", "b")
	same(t, "vectors stay", b.ids(near(5, 1, 0), engine.Filter{}), []string{"a", "b"})
	out := b.change(func(c *engine.Chunk) (engine.Verdict, error) {
		c.Vectors = map[string][]float32{engine.FieldVector: {1, 0}}
		if c.ID == "a" {
			c.Vectors[engine.FieldVector] = []float32{0, 1}
		}
		return engine.Put, nil
	}, "a", "b")
	same(t, "others are searched", b.ids(near(5, 1, 0), engine.Filter{}), []string{"b", "a"})
	if out[0].Err != nil || out[1].Err != nil {
		t.Errorf("outcomes %+v", out)
	}
	out = b.change(func(c *engine.Chunk) (engine.Verdict, error) {
		c.Vectors = map[string][]float32{engine.FieldVector: {1, 2, 3}}
		return engine.Put, nil
	}, "a")
	if out[0].Err == nil || out[0].Verdict != engine.Keep {
		t.Errorf("a vector of another dimension gave %+v", out[0])
	}
	same(t, "nothing was stored", b.ids(near(5, 1, 0), engine.Filter{}), []string{"b", "a"})
}

// many runs a function several times at once and waits.
func many(n int, do func(i int)) {
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() { do(i) })
	}
	group.Wait()
}

func editsAtOnce(t *testing.T, s *suite) {
	b := s.base(t, schema{Dimensions: 2})
	ids := []string{"a", "b", "c"}
	for _, id := range ids {
		b.write(passage(id, "red", 1, 0))
	}
	const writers, rounds = 4, 5
	many(writers, func(w int) {
		for round := range rounds {
			out, err := s.engine.ChangeChunks(t.Context(), engine.ChangeRequest{
				KB: b.kb, IDs: ids, Edit: setting(fmt.Sprint(w, "-", round), true),
			})
			for _, o := range out {
				err = errors.Join(err, o.Err)
			}
			if err != nil {
				t.Errorf("writer %d: %v", w, err)
			}
		}
	})
	b.write() // what is fetched is refreshed
	for _, id := range ids {
		if got := len(b.chunk(id).Metadata); got != writers*rounds {
			t.Errorf("%d of %d acknowledged members are in %s", got, writers*rounds, id)
		}
	}
}

// deletedWhileEdited: whoever deletes a document while others change it sees none of its chunks again.
func deletedWhileEdited(t *testing.T, s *suite) {
	b := s.base(t, schema{})
	for round := range 5 {
		document := fmt.Sprint("d", round)
		ids := make([]string, 20)
		chunks := make([]engine.Chunk, len(ids))
		for i := range ids {
			ids[i] = fmt.Sprint(document, "-", i)
			chunks[i] = passage(ids[i], "red")
			chunks[i].DocumentID = document
		}
		b.write(chunks...)
		many(3, func(i int) {
			if i == 0 {
				if n, err := s.engine.DeleteDocument(t.Context(), b.kb, document); err != nil || n != len(ids) {
					t.Errorf("deleting gave %d, %v", n, err)
				}
				return
			}
			for j := range 3 {
				_, err := s.engine.ChangeChunks(t.Context(),
					engine.ChangeRequest{KB: b.kb, IDs: ids, Edit: setting(fmt.Sprint(i, j), 1.0)})
				if err != nil {
					t.Errorf("changing: %v", err)
				}
			}
		})
		same(t, "what is left of "+document, b.selected(engine.OfDocument(document)), []string{})
	}
}

// rewrittenWhileDeleted: what was acknowledged as new is not taken by a deletion of what is old.
func rewrittenWhileDeleted(t *testing.T, s *suite) {
	b := s.base(t, schema{})
	const chunks = 40
	ids := make([]string, chunks)
	of := func(status string) []engine.Chunk {
		all := make([]engine.Chunk, chunks)
		for i := range all {
			ids[i] = fmt.Sprintf("c%02d", i)
			all[i] = passage(ids[i], status)
			all[i].Metadata = map[string]any{"status": status}
		}
		return all
	}
	for range 4 {
		b.write(of("old")...)
		fresh := of("new")
		many(2, func(i int) {
			if i == 0 {
				for one := range slices.Chunk(fresh, 4) {
					out, err := s.engine.Write(t.Context(), engine.WriteRequest{KB: b.kb, Chunks: one})
					b.accepted(out, err, one)
				}
				return
			}
			old := []filter.Condition{in("status", "old")}
			found, err := s.engine.SelectChunks(t.Context(), engine.SelectRequest{KB: b.kb, Conditions: old, Limit: chunks})
			if err == nil {
				_, err = s.engine.ChangeChunks(t.Context(),
					engine.ChangeRequest{KB: b.kb, IDs: found, Edit: engine.RemoveThose(old)})
			}
			if err != nil {
				t.Errorf("deleting: %v", err)
			}
		})
		same(t, "the new ones", b.selected(in("status", "new")), ids)
	}
}

func chunkOfAnother(t *testing.T, s *suite) {
	b := s.base(t, schema{})
	part := func(id, document, text string) engine.Chunk {
		c := passage(id, text)
		c.DocumentID = document
		return c
	}
	b.write(part("0", "a", "red"), part("1", "a", "red"), part("2", "a", "red"))
	refuses := func(what string, err error) {
		t.Helper()
		var f *fault.Error
		if !errors.As(err, &f) || f.Kind != fault.Conflict || f.Field != "id" {
			t.Errorf("%s gave %v, want a conflict of id", what, err)
		}
	}
	out, err := s.engine.Write(t.Context(), engine.WriteRequest{KB: b.kb, Refresh: true, Chunks: []engine.Chunk{
		part("0", "b", "blue"), part("3", "b", "blue"), part("1", "a", "blue"), part("3", "c", "green"),
	}})
	if err != nil || len(out) != 4 || out[1].Status != engine.Created || out[2].Status != engine.Updated ||
		out[0].Status != engine.Failed || out[3].Status != engine.Failed {
		t.Fatalf("outcomes %+v, %v", out, err)
	}
	refuses("writing it", out[0].Err)
	refuses("an id that the same request gives another document", out[3].Err)
	same(t, "what was written", b.ids(words(9, "blue green"), engine.Filter{}), []string{"1", "3"})
	_, err = s.engine.ReplaceDocument(t.Context(), "b",
		engine.WriteRequest{KB: b.kb, Chunks: []engine.Chunk{part("4", "b", "white"), part("0", "b", "white")}})
	refuses("replacing the document", err)
	if refused, yes := engine.AsRefused(err); !yes || refused.ID != "0" {
		t.Errorf("the replacement is refused because of %+v", refused)
	}
	same(t, "nothing of it was written", b.ids(words(9, "white"), engine.Filter{}), []string{})
	same(t, "nothing of it was removed", b.selected(), []string{"0", "1", "2", "3"})
	out, err = s.engine.Write(t.Context(),
		engine.WriteRequest{KB: b.kb, Chunks: []engine.Chunk{part("0", "b", "blue")}, Copy: true, Refresh: true})
	if err != nil || out[0].Status != engine.Updated {
		t.Errorf("a copy gave %+v, %v", out, err)
	}
	same(t, "a copy takes its place", b.selected(engine.OfDocument("b")), []string{"0", "3"})
}

func notAdmitted(t *testing.T, s *suite) {
	b := s.base(t, schema{})
	owned := func(id, owner, text string) engine.Chunk {
		c := passage(id, text)
		c.DocumentID, c.Owner, c.Metadata = "d", owner, map[string]any{"k": owner}
		return c
	}
	b.write(owned("a", "me", "red"), owned("b", "you", "red"))
	mine := func(stored *engine.Chunk) error {
		if stored.Owner != "me" || !maps.Equal(stored.Metadata, map[string]any{"k": "me"}) {
			return fault.New(fault.Forbidden, "chunk %q is not yours", stored.ID)
		}
		return nil
	}
	blue := []engine.Chunk{owned("a", "me", "blue"), owned("b", "me", "blue"), owned("c", "me", "blue")}
	out, err := s.engine.Write(t.Context(), engine.WriteRequest{KB: b.kb, Admit: mine, Refresh: true, Chunks: blue})
	if err != nil || out[0].Status != engine.Updated || !fault.Is(out[1].Err, fault.Forbidden) ||
		out[2].Status != engine.Created {
		t.Fatalf("outcomes %+v, %v", out, err)
	}
	same(t, "what was written", b.ids(words(9, "blue"), engine.Filter{}), []string{"a", "c"})
	_, err = s.engine.ReplaceDocument(t.Context(), "d",
		engine.WriteRequest{KB: b.kb, Admit: mine, Chunks: []engine.Chunk{owned("a", "me", "green")}})
	if refused, yes := engine.AsRefused(err); !yes || refused.ID != "b" || !fault.Is(err, fault.Forbidden) {
		t.Errorf("replacing a document with a chunk that may not go gave %v", err)
	}
	same(t, "everything is as before", b.ids(words(9, "green"), engine.Filter{}), []string{})
	same(t, "all are there", b.selected(), []string{"a", "b", "c"})
}
