package live_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/experiments/live"
	"github.com/hybridge-search/hybridge/fault"
)

// wants holds an error to its kind, its field, and words of it.
func wants(t *testing.T, err error, kind fault.Kind, field, says string) {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != kind || f.Field != field || !strings.Contains(f.Detail, says) {
		t.Errorf("%v, want %s of %q that says %q", err, kind, field, says)
	}
}

func TestWhatCannotRunIsRefused(t *testing.T) {
	b := newBench(t)
	f := func(field, says string, change func(*live.Definition)) {
		t.Helper()
		d := halves("x", byText, byVector)
		change(&d)
		_, err := b.store.Create(t.Context(), scope, d)
		kind := fault.InvalidArgument
		if strings.Contains(says, "does not exist") {
			kind = fault.NotFound
		}
		wants(t, err, kind, field, says)
	}
	request := func(text string) func(*live.Definition) {
		return func(d *live.Definition) { d.Variants[1].Request = json.RawMessage(text) }
	}
	f("variants", "add up to 0.8", func(d *live.Definition) { d.Variants[0].Share = 0.3 })
	f("variants[1].share", "more than 0", func(d *live.Definition) { d.Variants[1].Share = 0 })
	f("variants[1].request.preset", `"no such"; it must be one of`, request(`{"preset":"no such"}`))
	f("variants[1].request.presett", "is not a member of a search", request(`{"presett":"rrf"}`))
	f("variants[1].request.weights", "is not what a search has there", request(`{"weights":7}`))
	f("variants[1].request.weights.text", "finite number", request(`{"weights":{"text":-1}}`))
	f("variants[1].request.top_k", "the caller's and not a variant's", request(`{"top_k":5}`))
	f("variants[1].request.engine", `"elastic"`, request(`{"engine":"elastic"}`))
	f("end", "a time to come", func(d *live.Definition) { d.Start, d.End = begin.AddDate(0, -1, 0), begin.AddDate(0, 0, -1) })
	f("", `knowledge base "shop" does not exist`, func(d *live.Definition) { d.KnowledgeBases = []string{"shop"} })
	f("knowledge_bases", "named once", func(d *live.Definition) { d.KnowledgeBases = []string{"manuals", "manuals"} })
	bound := scope
	bound.KnowledgeBases = []string{"other"}
	d := halves("x", byText, byVector)
	d.KnowledgeBases = nil
	_, err := b.store.Create(t.Context(), bound, d)
	wants(t, err, fault.InvalidArgument, "knowledge_bases", "limited to")
	if list, err := b.store.List(t.Context(), scope); err != nil || len(list) > 0 {
		t.Errorf("%v, %v: something is there; want no error and len(list) 0", list, err)
	}
}

// Promise: "a definition never changes" (docs/guide/en/experiments.md).
func TestConflicts(t *testing.T) {
	b := newBench(t)
	b.fill("shop", chunks)
	b.create(halves("presets", byText, byVector))
	b.create(interleaved("both", `{"rules":true}`, `{"rules":false}`))
	refused := func(says string, d live.Definition) {
		t.Helper()
		_, err := b.store.Create(t.Context(), scope, d)
		wants(t, err, fault.Conflict, "", says)
	}
	refused(`"presets" exists already`, func() live.Definition {
		d := halves("presets", `{}`, `{}`)
		return d
	}())
	refused(`experiment "presets" sets preset`, halves("again", `{}`, `{"copies":"fold","preset":"rrf"}`))
	refused(`experiment "both" interleaves`, interleaved("lists", `{}`, `{"copies":"keep"}`))
	everywhere := halves("everywhere", byText, byVector)
	everywhere.KnowledgeBases = nil
	refused(`experiment "presets" sets preset`, everywhere)

	elsewhere := halves("elsewhere", byText, byVector)
	elsewhere.KnowledgeBases = []string{"shop"}
	b.create(elsewhere)
	b.create(halves("copies", `{}`, `{"copies":"keep"}`))
	later := halves("later", byText, byVector)
	later.Start, later.End = later.End, later.End.AddDate(0, 0, 1)
	if e := b.create(later); e.State != live.Scheduled {
		t.Errorf("it is %s; want e.State Scheduled", e.State)
	}
	if _, err := b.store.Stop(t.Context(), scope, "presets", "enough"); err != nil {
		t.Fatal(err)
	}
	b.pass(time.Second)
	next := halves("next", byText, byVector)
	next.Start = b.now()
	b.create(next)
}

func TestTooMany(t *testing.T) {
	b := newBench(t)
	for i := range 100 {
		d := halves(fmt.Sprint("x", i), byText, byVector)
		d.Start, d.End = begin.AddDate(0, i, 0), begin.AddDate(0, i+1, 0)
		b.create(d)
	}
	d := halves("more", byText, byVector)
	d.Start, d.End = begin.AddDate(20, 0, 0), begin.AddDate(21, 0, 0)
	_, err := b.store.Create(t.Context(), scope, d)
	wants(t, err, fault.Conflict, "", "100 experiments")
}

func TestLife(t *testing.T) {
	b := newBench(t)
	ctx := t.Context()
	get := func(want live.State) *live.Experiment {
		t.Helper()
		e, err := b.store.Get(ctx, scope, "x")
		if err != nil || e.State != want {
			t.Fatalf("%+v, %v; want %s", e, err, want)
		}
		return e
	}
	b.create(halves("x", byText, byVector))
	if e := get(live.Running); e.By != "anna" || e.Variants[1].Name != "v2" || string(e.Variants[1].Request) != byVector {
		t.Errorf(`%+v; want e.By "anna" and e.Variants[1].Name "v2" and string(e.Variants[1].Request) byVector`, e)
	}
	wants(t, b.store.Delete(ctx, scope, "x"), fault.Conflict, "", "stop it first")
	for _, other := range []access.Scope{{Tenant: "rival"}, {Tenant: "acme", KnowledgeBases: []string{"shop"}}} {
		if _, err := b.store.Get(ctx, other, "x"); !fault.Is(err, fault.NotFound) {
			t.Errorf("%+v sees it: %v; want an error of kind NotFound", other, err)
		}
		if all, err := b.store.List(ctx, other); err != nil || len(all) > 0 {
			t.Errorf("%+v sees %v, %v; want no error and len(all) 0", other, all, err)
		}
	}
	for _, id := range []string{"", "y", "\x00", strings.Repeat("x", 1000)} {
		if _, err := b.store.Get(ctx, scope, id); !fault.Is(err, fault.NotFound) {
			t.Errorf("%q: %v; want an error of kind NotFound", id, err)
		}
	}
	if _, err := b.store.Stop(ctx, scope, "x", "a better idea"); err != nil {
		t.Fatal(err)
	}
	b.pass(time.Hour)
	if e, err := b.store.Stop(ctx, scope, "x", "another"); err != nil || e.Stopped.Reason != "a better idea" {
		t.Errorf(`%+v, %v; want no error and e.Stopped.Reason "a better idea"`, e, err)
	}
	if e := get(live.Stopped); e.Stopped.By != "anna" || !e.Stopped.At.Equal(begin) {
		t.Errorf("%+v", e.Stopped)
	}
	if err := b.store.Delete(ctx, scope, "x"); err != nil {
		t.Fatal(err)
	}
	b.create(halves("x", byText, byVector))
	b.pass(14 * 24 * time.Hour)
	get(live.Ended)
}

// TestOtherGateways: what one gateway makes and stops, another does some seconds later.
//
// Promise: "A gateway learns within some seconds" (docs/guide/en/experiments.md).
// Promise: "Searches never wait for that" (docs/guide/en/experiments.md).
func TestOtherGateways(t *testing.T) {
	b := newBench(t)
	other := b.another()
	searcher := live.NewSearcher(b.below, other, nil)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); other.Run(ctx) }()
	defer func() { cancel(); <-ended }()
	takesPart := func() bool {
		response, err := searcher.Search(t.Context(), scope, refund("anna"))
		if err != nil {
			t.Fatal(err)
		}
		return len(response.Experiments) > 0
	}
	until := func(want bool) {
		t.Helper()
		for deadline := time.Now().Add(10 * time.Second); takesPart() != want; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("it takes part: %v", !want)
			}
		}
	}
	b.create(halves("x", byText, byVector))
	until(true)
	if _, err := b.store.Stop(t.Context(), scope, "x", ""); err != nil {
		t.Fatal(err)
	}
	until(false)
}

// slow is a keeper of a gateway whose clock is behind, and which is overtaken between its first look and its save.
type slow struct {
	engine.RecordKeeper

	once      sync.Once
	meanwhile func()
}

func (s *slow) ListRecords(ctx context.Context, tenant, kind string) ([]engine.Records, error) {
	all, err := s.RecordKeeper.ListRecords(ctx, tenant, kind)
	for i := range all {
		if all[i].ID == "late" {
			all[i].CreatedAt = all[i].CreatedAt.Add(-time.Hour)
		}
	}
	s.once.Do(s.meanwhile)
	return all, err
}

func (s *slow) SaveRecords(ctx context.Context, r engine.Records) (engine.Records, error) {
	saved, err := s.RecordKeeper.SaveRecords(ctx, r)
	saved.CreatedAt = saved.CreatedAt.Add(-time.Hour)
	return saved, err
}

// TestClocksDecideNothing: of two experiments in each other's way the one that was acknowledged stays, whatever the
// gateways' clocks say.
func TestClocksDecideNothing(t *testing.T) {
	b := newBench(t)
	keeper := b.keeper
	b.keeper = &slow{RecordKeeper: keeper, meanwhile: func() { b.create(halves("first", byText, byVector)) }}
	_, err := b.another().Create(t.Context(), scope, halves("late", byText, byVector))
	wants(t, err, fault.Conflict, "", `experiment "first" sets preset`)
	if all, err := b.store.List(t.Context(), scope); err != nil || len(all) != 1 || all[0].ID != "first" {
		t.Errorf("%+v, %v: want the first alone", all, err)
	}
}

// TestWhatAGatewayLeftHalfMadeIsNotInTheWay: a gateway that dies between its claim and its word leaves a name and a
// place that others get after a moment.
func TestWhatAGatewayLeftHalfMadeIsNotInTheWay(t *testing.T) {
	b := newBench(t)
	d := halves("half", byText, byVector)
	head, err := json.Marshal(map[string]any{"definition": d, "proposed": true})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"half", "other"} {
		ref := engine.RecordRef{Tenant: scope.Tenant, Kind: "experiments", ID: "half"}
		if _, err := b.keeper.SaveRecords(t.Context(), engine.Records{RecordRef: ref, Head: head}); err != nil {
			t.Fatal(err)
		}
		if _, err := b.store.Get(t.Context(), scope, "half"); !fault.Is(err, fault.NotFound) {
			t.Errorf("it is there: %v; want an error of kind NotFound", err)
		}
		if all, err := b.store.List(t.Context(), scope); err != nil || len(all) > 0 {
			t.Errorf("%+v, %v are listed; want no error and len(all) 0", all, err)
		}
		d := halves(id, byText, byVector)
		b.create(d)
		b.pass(time.Hour)
		if _, err := b.store.Stop(t.Context(), scope, id, ""); err != nil {
			t.Fatal(err)
		}
		if err := b.store.Delete(t.Context(), scope, id); err != nil {
			t.Fatal(err)
		}
	}
}
