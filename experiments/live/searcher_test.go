package live_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/experiments/live"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/search"
)

func ids(response *search.Response) (all []string) {
	for i := range response.Hits {
		all = append(all, response.Hits[i].ID)
	}
	return all
}

// TestSplit: each user has a variant, the same at every search, and what the answer and the log say is what was asked.
func TestSplit(t *testing.T) {
	b := newBench(t)
	d := halves("x", byText, byVector)
	d.Variants[0].Share, d.Variants[1].Share, d.Traffic = 0.25, 0.75, 0.8
	b.create(d)
	counts := map[string]int{}
	const users = 2000
	for i := range users {
		client := fmt.Sprint("user-", i)
		response := b.ask(refund(client))
		name := ""
		if variant, in := d.Assign(client); in {
			name = variant.Name
		}
		counts[name]++
		if want := map[string]string{"": "text", "v1": "text", "v2": "vector"}[name]; response.Preset != want {
			t.Fatalf("%s has %s and was answered by %s", client, name, response.Preset)
		}
		if name == "" {
			if len(response.Experiments) > 0 {
				t.Fatalf("%s takes no part: %v; want len(response.Experiments) 0", client, response.Experiments)
			}
			continue
		}
		logged := b.log.last().Attributes.Experiments
		if !slices.Equal(response.Experiments, []search.InExperiment{{ID: "x", Variant: name}}) ||
			len(logged) != 1 || logged[0].Variant != name || logged[0].Unit != client {
			t.Fatalf("%s has %s; the answer says %v, the log %v", client, name, response.Experiments, logged)
		}
	}
	for name, share := range map[string]float64{"": 0.2, "v1": 0.2, "v2": 0.6} {
		if z := (float64(counts[name]) - users*share) / math.Sqrt(users*share*(1-share)); math.Abs(z) > 4 {
			t.Errorf("%d of %d have %q", counts[name], users, name)
		}
	}
}

// TestNoPart: who does not say who asks, does not want to, or asks elsewhere is searched for as ever, and logged.
func TestNoPart(t *testing.T) {
	b := newBench(t)
	b.fill("shop", chunks)
	b.create(halves("x", byVector, byVector))
	no := false
	f := func(what string, change func(*search.Request), preset string) {
		t.Helper()
		req := refund("anna")
		change(&req)
		response := b.ask(req)
		if response.Preset != preset || (len(response.Experiments) > 0) != (preset == "vector") {
			t.Errorf("%s: %s, %v", what, response.Preset, response.Experiments)
		}
		if logged := b.log.last(); logged.QueryID != response.QueryID || len(logged.HitIDs) != len(response.Hits) {
			t.Errorf("%s is not logged: %+v", what, logged)
		}
	}
	f("a user", func(*search.Request) {}, "vector")
	f("a preset of its own", func(r *search.Request) { r.Preset = "rrf" }, "vector")
	f("nobody", func(r *search.Request) { r.ClientID, r.SessionID = "", "a session" }, "text")
	f("no experiments", func(r *search.Request) { r.Experiments = &no }, "text")
	f("another knowledge base", func(r *search.Request) { r.KnowledgeBases = []string{"manuals", "shop"} }, "text")
	f("everything", func(r *search.Request) { r.Everything, r.Query, r.Vector = true, "", nil }, "everything")
	b.pass(14 * 24 * time.Hour)
	f("after the end", func(*search.Request) {}, "text")
	if _, err := b.searcher.Search(t.Context(), scope, search.Request{}); !fault.Is(err, fault.InvalidArgument) {
		t.Error(err)
	}
	if logged := b.log.last(); logged.Attributes.Error != fault.InvalidArgument {
		t.Errorf("a search that failed is not logged: %+v", logged)
	}
}

// TestConcurrentExperiments: a search takes part in all, and what it gets in one says nothing of the other.
func TestConcurrentExperiments(t *testing.T) {
	b := newBench(t)
	b.create(halves("presets", byText, byVector))
	b.create(halves("copies", `{"copies":"keep"}`, `{"copies":"fold"}`))
	bySession := halves("rules", `{"rules":true}`, `{"rules":false}`)
	bySession.Unit = "session"
	b.create(bySession)
	cells := map[string]int{}
	const users = 1600
	for i := range users {
		req := refund(fmt.Sprint("user-", i))
		req.SessionID = "one session"
		response := b.ask(req)
		if len(response.Experiments) != 3 {
			t.Fatal(response.Experiments)
		}
		cells[response.Experiments[0].Variant+response.Experiments[1].Variant]++
	}
	chi := 0.0
	for _, n := range cells {
		chi += math.Pow(float64(n)-users/4, 2) / (users / 4)
	}
	if len(cells) != 4 || chi > 16.3 { // three degrees of freedom, p 0.001
		t.Errorf("%v: chi-squared %.1f; want 4 cells and chi at most 16.3", cells, chi)
	}
}

// TestSharedAnswers: an answer that is kept is kept for all, whoever asks, and each is told of its own experiments.
func TestSharedAnswers(t *testing.T) {
	b := newBench(t)
	d := halves("x", byText, byVector)
	b.create(d)
	b.ask(search.Request{Query: "refund", KnowledgeBases: []string{"manuals"}, Vector: []float32{1, 0}, Preset: "text"})
	b.ask(search.Request{Query: "refund", KnowledgeBases: []string{"manuals"}, Vector: []float32{1, 0}, Preset: "vector"})
	var group sync.WaitGroup
	for i := range 50 {
		group.Go(func() {
			client := fmt.Sprint("user-", i)
			response, err := b.searcher.SearchShared(context.Background(), scope, refund(client))
			if err != nil {
				t.Error(err)
				return
			}
			text, err := response.AppendJSON(nil)
			variant, _ := d.Assign(client)
			says := fmt.Sprintf(`"experiments":[{"id":"x","variant":"%s"}],"preset":`, variant.Name)
			if err != nil || response.Shared == nil || strings.Count(string(text), says) != 1 {
				t.Errorf("%s has %s: %.200s, %v; want no error and a response.Shared and strings.Count(string(text), says) 1", client, variant.Name, text, err)
			}
		})
	}
	group.Wait()
	if logged := b.log.last(); len(logged.HitIDs) != 10 || logged.HitIDs[0][:9] != "manuals/c" {
		t.Errorf(`%+v; want 10 logged.HitIDs and logged.HitIDs[0][:9] "manuals/c"`, logged)
	}
}

// failing is a searcher with a variant that does not answer.
type failing struct {
	*bench
	live.Below
	preset string
	err    error
}

func (f *failing) Search(ctx context.Context, scope access.Scope, req search.Request) (*search.Response, error) {
	if req.Preset == f.preset {
		return nil, f.err
	}
	return f.below.Search(ctx, scope, req)
}

// TestVariantThatCannotRun: a search is answered as it was asked where its variant cannot, and says so.
func TestVariantThatCannotRun(t *testing.T) {
	b := newBench(t)
	b.create(halves("x", byVector, byVector))
	below := &failing{bench: b, Below: b.below, preset: "vector"}
	searcher := live.NewSearcher(below, b.store, b.log.note)
	below.err = fault.Invalid("preset", "vector", "something else")
	response, err := searcher.SearchShared(t.Context(), scope, refund("anna"))
	if err != nil || response.Preset != "text" || len(response.Degraded) != 1 || response.Degraded[0].Leg != "experiment" ||
		response.Degraded[0].Code != fault.InvalidArgument || len(response.Experiments) != 1 {
		t.Errorf("%+v, %v", response, err)
	}
	below.err = fault.New(fault.Unavailable, "away")
	if _, err = searcher.Search(t.Context(), scope, refund("anna")); !fault.Is(err, fault.Unavailable) {
		t.Errorf("%v: what fails of itself is the variant's; want an error of kind Unavailable", err)
	}
	if logged := b.log.last(); logged.Attributes.Error != fault.Unavailable || len(logged.Attributes.Experiments) != 1 {
		t.Errorf("%+v; want logged.Attributes.Error Unavailable and 1 logged.Attributes.Experiments", logged)
	}
	req := refund("anna")
	req.TopK = new(int)
	if _, err = live.NewSearcher(b.below, b.store, nil).Search(t.Context(), scope, req); !fault.Is(err, fault.InvalidArgument) {
		t.Error(err)
	}
}

// BenchmarkItself is what experiments add to a search that the engine answers at once: none, three that split, and one
// that makes one list of two.
func BenchmarkItself(b *testing.B) {
	for name, all := range map[string][]live.Definition{
		"none":       {},
		"three":      {halves("x", byText, byText), halves("y", `{}`, `{}`), halves("z", `{}`, `{}`)},
		"interleave": {interleaved("x", byText, byText)},
	} {
		b.Run(name, func(b *testing.B) {
			bench := newBench(b)
			for _, d := range all {
				bench.create(d)
			}
			at := &atOnce{Below: bench.below, response: bench.ask(refund("anna"))}
			searcher := live.NewSearcher(at, bench.store, nil)
			req := refund("anna")
			b.ReportAllocs()
			for b.Loop() {
				if _, err := searcher.Search(b.Context(), scope, req); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

type atOnce struct {
	live.Below
	response *search.Response
}

func (a *atOnce) Search(context.Context, access.Scope, search.Request) (*search.Response, error) {
	return a.response, nil
}
