package events_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hybridge-search/hybridge/events"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/filter"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/search"
)

// TestWhatIsKeptOfASearch by each rule about texts.
func TestWhatIsKeptOfASearch(t *testing.T) {
	offset, timings := 10, search.Timings{Embed: 2, Legs: map[string]float64{"text": 1}}
	s := &events.Search{
		Tenant: tenant, ClientID: "c1", SessionID: "s1", Started: noon, Took: 3 * time.Millisecond,
		Request: search.Request{
			Query: "Green  Tea", Queries: []string{"matcha"}, KnowledgeBases: []string{"shop"}, Offset: &offset,
			Filter: filter.Expression{"lang": json.RawMessage(`"en"`)}, Vector: []float32{1, 2},
		},
		Response: &search.Response{
			QueryID: "q1", Preset: "balanced", Engine: "embedded", Timings: timings, Hits: []search.Hit{{ID: "a", KnowledgeBase: "shop"}},
			Degraded: []search.Degraded{{Leg: "vector"}, {Leg: "vector", KnowledgeBase: "shop"}},
		},
	}
	wanted := events.Query{
		Timestamp: noon, Application: "site", QueryID: "q1", ResponseID: "q1", HitIDs: []string{"shop/a"}, ClientID: "c1",
		Attributes: events.QueryAttributes{
			SessionID: "s1", KnowledgeBases: []string{"shop"}, Preset: "balanced", Engine: "embedded", Offset: 10, TookMS: 3,
			Timings: &timings, Degraded: []string{"vector"}, Request: json.RawMessage(`{"offset":10,"filter":{"lang":"en"}}`),
		},
	}
	hashed := ""
	for _, rule := range []events.TextRule{events.Keep, events.Hash, events.Drop} {
		l := open(t, func(o *events.Options) { o.Text, o.Application, o.HashKey = rule, "site", "secret" })
		want := wanted
		switch rule {
		case events.Keep:
			want.UserQuery = "Green  Tea"
			want.Attributes.Request = json.RawMessage(`{"queries":["matcha"],"offset":10,"filter":{"lang":"en"}}`)
		case events.Hash:
			want.Attributes.TextHash = l.Query(s).Attributes.TextHash
			hashed = want.Attributes.TextHash
		case events.Drop:
		}
		if diff := cmp.Diff(&want, l.Query(s)); diff != "" {
			t.Errorf(`%s: %s; want diff ""`, rule, diff)
		}
	}
	kept := *s
	kept.Response = &search.Response{QueryID: "q2", Cached: true, Timings: timings}
	if got := open(t).Query(&kept).Attributes; got.Timings != nil || !got.Cached {
		t.Errorf("an answer that was kept has the timings of another search: %+v; want no got.Timings and got.Cached", got)
	}
	l := open(t, func(o *events.Options) { o.Text, o.HashKey = events.Hash, "secret" })
	other := *s
	other.Request.Query = "green tea "
	if got := l.Query(&other).Attributes.TextHash; got != hashed || len(got) != 32 {
		t.Errorf("the hash of the same question is %q, and was %q", got, hashed)
	}
	other.Tenant = "rival"
	if got := l.Query(&other).Attributes.TextHash; got == hashed {
		t.Error("two tenants have the same hash")
	}
}

func TestASearchThatFailed(t *testing.T) {
	l := open(t)
	q := l.Query(&events.Search{
		Tenant: tenant, Started: noon, Request: search.Request{Query: "tea", KnowledgeBases: []string{"nope"}},
		Err: fault.New(fault.NotFound, "no such knowledge base"),
	})
	if _, ok := events.MadeAt(q.QueryID); !ok || q.Attributes.Error != fault.NotFound || len(q.HitIDs) > 0 {
		t.Errorf("%+v; want ok and q.Attributes.Error NotFound and len(q.HitIDs) 0", q)
	}
	q = l.Query(&events.Search{Tenant: tenant, Started: noon, Err: errors.New("unknown")})
	if q.Attributes.Error != fault.Internal {
		t.Errorf("%+v; want q.Attributes.Error Internal", q)
	}
}

// TestTheKeyOfHashesStays over a restart.
func TestTheKeyOfHashesStays(t *testing.T) {
	folder, store := t.TempDir(), keeper(t, t.TempDir())
	hash := func() string {
		l, err := events.Open(t.Context(), events.Options{Folder: folder, Keeper: store, Text: events.Hash})
		if err != nil {
			t.Fatal(err)
		}
		defer closed(t, l)
		return l.Query(&events.Search{Tenant: tenant, Request: search.Request{Query: "tea"}}).Attributes.TextHash
	}
	if one, again := hash(), hash(); one != again || one == "" {
		t.Errorf("%q and then %q", one, again)
	}
	_, err := events.Open(t.Context(), events.Options{Folder: folder, Keeper: store, Text: "shorten"})
	refused(t, err, fault.InvalidArgument, "events.text")
}

// TestIDsOfSearchesTellTheirTime, and are in its order.
func TestIDsOfSearchesTellTheirTime(t *testing.T) {
	last := ""
	for range 1000 {
		id := search.NewQueryID()
		if made, ok := events.MadeAt(id); !ok || time.Since(made).Abs() > time.Minute {
			t.Fatalf("%s was made at %s; want ok and time.Since(made).Abs() at most Minute", id, made)
		}
		if id[:18] < last[:min(18, len(last))] {
			t.Errorf("%s came after %s", id, last)
		}
		last = id
	}
	for _, id := range []string{"", "q", "018f2b5e-0000-4000-8000-000000000000", "018f2b5e-0000-7000-8000-00000000000g"} {
		if _, ok := events.MadeAt(id); ok {
			t.Errorf("%q has a time; want not ok", id)
		}
	}
}

// TestAttributesThatProgramsAdd are kept as they are, up to a size.
func TestAttributesThatProgramsAdd(t *testing.T) {
	l := open(t)
	e := did(asked("tea", time.Minute), "scroll", "e1")
	text := `{"session_id":"s1","position":{"ordinal":2,"xy":{"x":1,"y":2.5},"trail":"home"},"browser":{"name":"x"}}`
	if err := json.Unmarshal([]byte(text), &e.Attributes); err != nil {
		t.Fatal(err)
	}
	accept(t, l, tenant, e)
	for entry, err := range l.Read(t.Context(), tenant, noon.AddDate(0, 0, -1), noon) {
		if err != nil || len(entry.Events) != 1 {
			t.Fatal(entry, err)
		}
		if got, err := json.Marshal(entry.Events[0].Attributes); err != nil || string(got) != text {
			t.Errorf("%s, %v", brief.Of(got), err)
		}
	}
	e.Attributes.Other["page"] = []byte(`"` + strings.Repeat("x", 16<<10) + `"`)
	_, err := l.Accept(t.Context(), tenant, []events.Event{e})
	refused(t, err, fault.InvalidArgument, "events[0].event_attributes")
	delete(e.Attributes.Other, "page")
	e.Attributes.Position.Trail = strings.Repeat("x", 300)
	_, err = l.Accept(t.Context(), tenant, []events.Event{e})
	refused(t, err, fault.InvalidArgument, "events[0].event_attributes.position.trail")
}
