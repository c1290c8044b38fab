package postgres_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/postgres"
	"github.com/hybridge-search/hybridge/fault"
)

// TestTwoEnginesOnOneDatabase: under mixed writes and searches neither finds what
// was deleted before, and both find what was acknowledged, whoever wrote it.
func TestTwoEnginesOnOneDatabase(t *testing.T) {
	options := optionsOf(t)
	engines := []*postgres.Engine{open(t, options), open(t, options)}
	kb := baseOf(t, engines[0], 4, nil)
	ctx, stop := context.WithTimeout(t.Context(), 4*time.Second)
	defer stop()
	var work sync.WaitGroup
	for w := range 4 {
		work.Go(func() { comeAndGo(ctx, t, engines, kb, w) })
	}
	work.Wait()
	all := func(e *postgres.Engine) string {
		result, err := e.Search(t.Context(), both(kb, "word", 1, 0, 0, 0))
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(result.Hits)
	}
	// A write that was given up may still be committed for a moment.
	wait(t, func() bool { return all(engines[0]) == all(engines[1]) })
}

// comeAndGo writes, replaces and deletes chunks of its own, each step on one of the
// engines, and looks for them on another.
func comeAndGo(ctx context.Context, t *testing.T, engines []*postgres.Engine, kb engine.KnowledgeBase, worker int) {
	rng := rand.New(rand.NewPCG(uint64(worker), 3))
	pick := func() *postgres.Engine { return engines[rng.IntN(len(engines))] }
	for i := 0; ctx.Err() == nil; i++ {
		id, text := fmt.Sprintf("w%d-%d", worker, i%5), fmt.Sprintf("own%dx%d", worker, i)
		chunk := engine.Chunk{
			ID: id, DocumentID: id, Content: "word " + text, Available: true,
			Vectors: map[string][]float32{engine.FieldVector: {1, float32(worker), float32(i), 0}},
		}
		_, err := pick().Write(ctx, engine.WriteRequest{KB: kb, Chunks: []engine.Chunk{chunk}})
		found{kb, text, id, true}.expect(ctx, t, pick(), err)
		if rng.IntN(2) == 0 {
			_, err := pick().DeleteDocument(ctx, kb, id)
			found{kb, text, id, false}.expect(ctx, t, pick(), err)
		}
	}
}

// found says whether a chunk must be in the answer to its own word.
type found struct {
	kb       engine.KnowledgeBase
	word, id string
	there    bool
}

// expect searches after a change that gave err.
func (want found) expect(ctx context.Context, t *testing.T, e *postgres.Engine, err error) {
	var result *engine.Result
	if err == nil {
		result, err = e.Search(ctx, both(want.kb, want.word, 1, 0, 0, 0))
	}
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		t.Errorf("%s, there %v: %v", want.id, want.there, err)
		return
	}
	byText, byVector := false, false
	for _, h := range result.Hits {
		if h.ID == want.id {
			byText, byVector = h.Observations[0].Rank > 0, h.Observations[1].Rank > 0
		}
	}
	if byText != want.there || byVector != want.there {
		t.Errorf("%s, there %v: found by text %v, by vector %v (%v)", want.id, want.there, byText, byVector, result.Legs)
	}
}

// TestMadeAgainByAnother: an engine that knew a knowledge base finds the new one of
// the same name, and none when it is gone.
func TestMadeAgainByAnother(t *testing.T) {
	options := optionsOf(t)
	a, b := open(t, options), open(t, options)
	kb := baseOf(t, a, 2, []engine.Chunk{{ID: "old", DocumentID: "d", Content: "word", Available: true}})
	count := func() int {
		result, err := b.Search(t.Context(), both(kb, "word", 1, 0))
		if err != nil {
			t.Fatal(err)
		}
		return len(result.Hits)
	}
	if n := count(); n != 1 {
		t.Errorf("%d hits; want n 1", n)
	}
	if err := a.DeleteKnowledgeBase(t.Context(), kb.Ref); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Search(t.Context(), both(kb, "word", 1, 0)); !fault.Is(err, fault.NotFound) {
		t.Errorf("after the delete: %v; want an error of kind NotFound", err)
	}
	if err := a.CreateKnowledgeBase(t.Context(), kb); err != nil {
		t.Fatal(err)
	}
	if n := count(); n != 0 {
		t.Errorf("made again, it has %d hits; want n 0", n)
	}
}

// TestStartTogether prepares one new schema from several engines at once.
func TestStartTogether(t *testing.T) {
	options := optionsOf(t)
	var work sync.WaitGroup
	for range 4 {
		work.Go(func() {
			e, err := postgres.Open(t.Context(), options)
			if err != nil {
				t.Error(err)
				return
			}
			_ = e.Close()
		})
	}
	work.Wait()
}

// TestInvalidatedIndexIsBuiltAgain looks at the cache's own account.
func TestInvalidatedIndexIsBuiltAgain(t *testing.T) {
	options := optionsOf(t)
	a, b := open(t, options), open(t, options)
	kb := baseOf(t, a, 2, []engine.Chunk{{ID: "a", DocumentID: "d", Content: "word", Available: true}})
	for _, e := range []*postgres.Engine{a, b} {
		if _, err := e.Search(t.Context(), both(kb, "word", 1, 0)); err != nil {
			t.Fatal(err)
		}
	}
	before, _ := b.Keywords().Totals()
	if err := a.Invalidate(t.Context(), kb.Ref); err != nil {
		t.Fatal(err)
	}
	result, err := b.Search(t.Context(), both(kb, "word", 1, 0))
	if err != nil || len(result.Hits) != 1 {
		t.Errorf("%+v, %v; want no error and 1 result.Hits", result, err)
	}
	if after, _ := b.Keywords().Totals(); after.Builds != before.Builds+1 {
		t.Errorf("another engine built %d indexes, then %d", before.Builds, after.Builds)
	}
	kb.ID = "nosuch"
	if err := a.Invalidate(t.Context(), kb.Ref); !fault.Is(err, fault.NotFound) {
		t.Errorf("invalidating what is not there: %v", err)
	}
}

// TestOkapi: the same chunks score by rank_bm25's formula when the knowledge base
// asks for it. BM25Okapi(corpus).get_scores(["fox"]) in Python.
func TestOkapi(t *testing.T) {
	e := open(t, optionsOf(t))
	kb := engine.KnowledgeBase{
		Ref: engine.Ref{Tenant: "t", ID: "kb"}, Kind: engine.KindChunks, Engine: postgres.Name, BM25: engine.BM25Okapi,
	}
	if err := e.CreateKnowledgeBase(t.Context(), kb); err != nil {
		t.Fatal(err)
	}
	write(t, e, kb, []engine.Chunk{
		{ID: "a", DocumentID: "d", Content: "red fox", Available: true},
		{ID: "b", DocumentID: "d", Content: "blue whale swims", Available: true},
		{ID: "c", DocumentID: "d", Content: "green tree", Available: true},
	})
	leg := engine.Leg{Name: "text", Field: engine.FieldText, K: 5, Text: queryOf("fox")}
	result, err := e.Search(t.Context(), &engine.Request{KB: kb, Legs: []engine.Leg{leg}})
	if err != nil || len(result.Hits) != 1 {
		t.Fatalf("%+v, %v; want no error and 1 result.Hits", result, err)
	}
	// ln(2.5) - ln(1.5) = 0.510826; · 2.5 / (1 + 1.5·(0.25 + 0.75·2/(7/3))) = 0.5459…
	const want = 0.5108256237659907 * 2.5 / (1 + 1.5*(0.25+0.75*2/(7.0/3)))
	if got := result.Hits[0].Observations[0].Raw; got < want-1e-6 || got > want+1e-6 {
		t.Errorf("score %v, want %v", got, want)
	}
	kb.ID, kb.BM25 = "other", "tf"
	if err := e.CreateKnowledgeBase(t.Context(), kb); !fault.Is(err, fault.InvalidArgument) {
		t.Errorf("formula tf: %v; want an error of kind InvalidArgument", err)
	}
}
